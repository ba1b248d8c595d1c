/** AMQP 1.0 with real processes: over a failover, in hot standby, over TLS, without a name. The rules one by one: test/conformance. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import rhea, { type EventContext } from 'rhea';
import { ClusterProcesses } from '../support/cluster-processes.js';
import { LoneBroker } from '../support/lone-broker.js';
import type { NodeProcess } from '../support/node-process.js';
import { bytes, RheaClient, type RheaSender, textOf } from '../support/rhea-client.js';
import { withCluster } from '../support/with-cluster.js';
import { within } from '../support/within.js';

const patienceMs = 30_000;

async function declare(node: NodeProcess, queue: string): Promise<void> {
  const connection = await amqp.connect(node.amqpUrl);
  await (await connection.createChannel()).assertQueue(queue, { durable: true });
  await connection.close();
}

const clientOf = (node: NodeProcess): Promise<RheaClient> => RheaClient.open({ port: node.ports.amqp, patienceMs });

/** Sends numbers, one after the other, until told to stop; those that were accepted. */
async function sendNumbers(sender: RheaSender, stop: () => boolean): Promise<number[]> {
  const accepted: number[] = [];
  const open = new Set<Promise<void>>();
  for (let n = 0; !stop() || open.size > 0; n++) {
    if (stop()) {
      await Promise.all(open);
      break;
    }
    const sent = sender.send({ durable: true, body: bytes(String(n)) }).then((outcome) => {
      if (outcome === 'accepted') accepted.push(n);
      open.delete(sent);
    });
    open.add(sent);
    if (open.size >= 50) await Promise.race(open);
  }
  return accepted;
}

describe('AMQP 1.0', { timeout: 120_000 }, () => {
  it('clients of other nodes lose nothing when the primary of their queue is killed, and see twice only what is flagged', async () => {
    await withCluster([], async (cluster) => {
      await declare(cluster.nodes[0]!, 'ten');
      const leader = (await cluster.leaderOf('ten'))!;
      const [to, from] = cluster.nodes.filter((node) => node !== leader);
      const publisher = await clientOf(to!);
      const consumer = await clientOf(from!);
      const receiver = await consumer.receiver('/queues/ten', 0, { credit_window: 100 });
      const sender = await publisher.sender('/queues/ten');
      let stopped = false;
      const sending = sendNumbers(sender, () => stopped);
      const first = new Map<number, boolean>();
      const flagged: number[] = [];
      const take = async (): Promise<number> => {
        const { message, accept } = await receiver.next();
        const n = Number(textOf(message));
        if (!first.has(n)) first.set(n, message.first_acquirer === true);
        else {
          assert.equal(message.first_acquirer, false, `${n} came twice, unflagged`);
          flagged.push(n);
        }
        accept();
        return n;
      };
      for (let i = 0; i < 500; i++) await take();
      await leader.kill();
      for (let i = 0; i < 500; i++) await take();
      stopped = true;
      const accepted = await sending;
      for (const last = Math.max(...accepted); !first.has(last); ) await take();
      assert.deepEqual(
        accepted.filter((n) => !first.has(n)),
        [],
      );
      assert.ok(accepted.length >= 1000);
      assert.deepEqual([...publisher.errors, ...consumer.errors], []);
      await Promise.all([publisher.close(), consumer.close()]);
    });
  });

  it('a large message comes whole when the primary of its queue is killed while it is delivered', async () => {
    await withCluster([], async (cluster) => {
      await declare(cluster.nodes[0]!, 'large');
      const leader = (await cluster.leaderOf('large'))!;
      const [to, from] = cluster.nodes.filter((node) => node !== leader);
      const body = Buffer.alloc(24 * 1024 * 1024, 'large ');
      const connection = await amqp.connect(to!.amqpUrl);
      const channel = await connection.createConfirmChannel();
      channel.sendToQueue('large', body, { persistent: true });
      await channel.waitForConfirms();
      await connection.close();
      const consumer = await clientOf(from!);
      const receiver = await consumer.receiver('/queues/large', 0, { credit_window: 1 });
      const came = receiver.next();
      await leader.kill();
      const { message, accept } = await came;
      assert.ok(Buffer.from(textOf(message)).equals(body));
      accept();
      assert.deepEqual(consumer.errors, []);
      await consumer.close();
    });
  });

  it('a backup in hot standby says where the primary is', async () => {
    const cluster = await ClusterProcesses.start(3, ['--clients', 'primary']);
    let failed = true;
    try {
      const primary = await cluster.primary();
      await declare(primary, 'standby');
      const backup = cluster.nodes.find((node) => node !== primary)!;
      const options = {
        port: backup.ports.amqp,
        host: '127.0.0.1',
        username: 'guest',
        password: 'guest',
        reconnect: false,
      };
      const connection = rhea.create_container().connect(options);
      connection.on('disconnected', () => {});
      const [context] = (await within(patienceMs, 'it is told', once(connection, 'connection_error'))) as [
        EventContext,
      ];
      const { condition, info } = context.connection.error as unknown as {
        condition: string;
        info: Record<string, unknown>;
      };
      assert.equal(condition, 'amqp:connection:redirect');
      assert.deepEqual([info['network-host'], info['port']], ['127.0.0.1', primary.ports.amqp]);
      const client = await RheaClient.open({
        host: String(info['network-host']),
        port: Number(info['port']),
        patienceMs,
      });
      assert.equal(await (await client.sender('/queues/standby')).send({ body: 'served' }), 'accepted');
      await client.close();
      failed = false;
    } finally {
      await cluster.close(failed);
    }
  });

  it('a client that names nobody is served where somebody is named for it, with SASL and without', async () => {
    await using broker = await LoneBroker.start({ options: ['--anonymous-user', 'guest'] });
    for (const more of [
      { username: undefined, password: undefined },
      { username: undefined, password: undefined, disable_sasl: true },
    ]) {
      const client = await RheaClient.open({ port: broker.port, patienceMs, more });
      const connection = await amqp.connect(`amqp://127.0.0.1:${broker.port}`);
      await (await connection.createChannel()).assertQueue('any');
      assert.equal(await (await client.sender('any')).send({ body: 'x' }), 'accepted');
      await client.close();
      await connection.close();
    }
  });

  it('what was accepted is there after a kill -9, in its own encoding', async () => {
    await using broker = await LoneBroker.start();
    const connection = await amqp.connect(`amqp://127.0.0.1:${broker.port}`);
    await (await connection.createChannel()).assertQueue('kept', { durable: true });
    const before = await RheaClient.open({ port: broker.port, patienceMs });
    const sender = await before.sender('kept');
    const body = { list: [1, 'two'], deep: { er: true } };
    assert.equal(await sender.send({ subject: 's', body }), 'accepted');
    connection.on('error', () => {});
    await broker.kill();
    await broker.start();
    const after = await RheaClient.open({ port: broker.port, patienceMs });
    const [message] = await (await after.receiver('kept', 1)).take(1);
    assert.deepEqual([message!.subject, message!.body, message!.durable], ['s', body, true]);
    await after.close();
  });

  it('clients are told when the broker stops', async () => {
    await withCluster([], async (cluster) => {
      const [node] = cluster.nodes;
      const client = await clientOf(node!);
      const told = once(client.connection, 'connection_error');
      await node!.stop();
      await within(patienceMs, 'it is told', told);
      assert.match(client.errors[0]!, /amqp:connection:forced broker forced connection closure with reason 'shutdown'/);
    });
  });
});
