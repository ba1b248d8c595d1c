/** The exchange amq.failover: clients hear of the cluster, and nobody else speaks there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as amqp from 'amqplib';
import { fetchCluster } from '../../src/cli/api-client.js';
import type { FailoverList } from '../../src/cluster/failover-news.js';
import { sleep } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { withCluster } from '../support/with-cluster.js';

const exchange = 'amq.failover';
const timeoutMs = 20_000;

/** What one queue has got. */
class Ear {
  readonly lists: FailoverList[] = [];
  readonly messages: amqp.ConsumeMessage[] = [];
  private readonly connection: amqp.ChannelModel;

  private constructor(connection: amqp.ChannelModel) {
    this.connection = connection;
    connection.on('error', () => {});
  }

  /** @param through an exchange that is bound to amq.failover, and to which the queue is */
  static async at(node: NodeProcess, through?: string): Promise<Ear> {
    const connection = await amqp.connect(node.amqpUrl);
    const ear = new Ear(connection);
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.consume(queue, (message) => message !== null && ear.hear(message), { noAck: true });
    if (through !== undefined) {
      await channel.assertExchange(through, 'fanout', { durable: false });
      await channel.bindQueue(queue, through, '');
      await channel.bindExchange(through, exchange, '');
    } else await channel.bindQueue(queue, exchange, '');
    return ear;
  }

  private hear(message: amqp.ConsumeMessage): void {
    this.messages.push(message);
    this.lists.push(JSON.parse(message.content.toString()) as FailoverList);
  }

  /** States by name, as last heard: `n1 ready, n2 down`. */
  get states(): string {
    const members = [...(this.lists.at(-1)?.members ?? [])];
    members.sort((a, b) => (a.name < b.name ? -1 : 1));
    return members.map(({ name, state }) => `${name} ${state}`).join(', ');
  }

  async until(what: string, found: (ear: Ear) => boolean): Promise<void> {
    for (const deadline = performance.now() + timeoutMs; !found(this); await sleep(20))
      if (performance.now() > deadline) throw new Error(`never heard: ${what}; ${JSON.stringify(this.lists)}`);
  }

  async close(): Promise<void> {
    await this.connection.close().catch(() => {});
  }
}

async function systemPrimary(node: NodeProcess): Promise<string> {
  return (await fetchCluster(node.httpUrl)).groups[0]!.primary;
}

test('every queue that is bound hears of the members, once when it is bound and of each change', {
  timeout: 120_000,
}, async () => {
  await withCluster([], async (cluster) => {
    const leader = cluster.node(await systemPrimary(cluster.nodes[0]!));
    const [listener, other] = cluster.nodes.filter((node) => node !== leader) as [NodeProcess, NodeProcess];
    const ears = [await Ear.at(listener), await Ear.at(listener, 'of-my-own')];
    const well = 'n1 ready, n2 ready, n3 ready';
    for (const ear of ears) await ear.until(well, ({ states }) => states === well);
    const [ear] = ears as [Ear];
    const { fields, properties } = ear.messages[0]!;
    assert.deepEqual([fields.exchange, fields.routingKey], [exchange, '']);
    assert.deepEqual([properties.contentType, properties.deliveryMode], ['application/json', 1]);
    assert.deepEqual(
      ear.lists[0]!.members.map(({ amqp: address }) => address).sort(),
      cluster.amqpUrls.map((url) => url.slice('amqp://'.length)).sort(),
    );
    assert.equal(ear.lists[0]!.primary, undefined);

    const late = await Ear.at(listener);
    await late.until(well, ({ states }) => states === well);
    await sleep(1000);
    assert.deepEqual(
      ears.map(({ lists }) => lists.length),
      [1, 1],
      'nothing has changed for them',
    );

    await other.kill();
    const without = well.replace(`${other.name} ready`, `${other.name} down`);
    for (const each of [...ears, late]) await each.until(without, ({ states }) => states === without);
    await other.start();
    for (const each of ears) await each.until(well, ({ states }) => states === well);

    // Who sends is gone: another one goes on.
    await leader.kill();
    const headless = well.replace(`${leader.name} ready`, `${leader.name} down`);
    for (const each of ears) await each.until(headless, ({ states }) => states === headless);
    for (const each of [...ears, late]) await each.close();
  });
});

test('in hot standby it tells who is primary; nobody publishes there, or leads others there', {
  timeout: 120_000,
}, async () => {
  await withCluster(['--clients', 'primary'], async (cluster) => {
    const first = cluster.node(await systemPrimary(cluster.nodes[0]!));
    const ear = await Ear.at(first);
    await ear.until('the primary', ({ lists }) => lists.at(-1)?.primary === first.name);
    assert.equal(ear.lists[0]!.members[0]!.name, first.name);
    const connection = await amqp.connect(first.amqpUrl);
    const refused = async (what: (channel: amqp.Channel) => Promise<unknown> | boolean): Promise<string> => {
      const channel = await connection.createChannel();
      const closed = new Promise<string>(
        (resolve) => void channel.once('error', (error: Error) => resolve(error.message)),
      );
      await Promise.resolve(what(channel)).catch(() => {});
      return closed;
    };
    assert.match(
      await refused((channel) => channel.publish(exchange, '', Buffer.from('lies'))),
      /403.*ACCESS_REFUSED.*amq\.failover/,
    );
    assert.match(
      await refused((channel) => channel.bindExchange(exchange, 'amq.fanout', '')),
      /403.*ACCESS_REFUSED.*amq\.failover.*only the broker/,
    );
    assert.match(await refused((channel) => channel.deleteExchange(exchange)), /403/);
    await connection.close();
    await ear.close();

    await first.kill();
    const rest = cluster.awake;
    for (
      const deadline = performance.now() + timeoutMs;
      (await systemPrimary(rest[0]!)) === first.name;
      await sleep(50)
    )
      assert.ok(performance.now() < deadline);
    const second = cluster.node(await systemPrimary(rest[0]!));
    const later = await Ear.at(second);
    await later.until('the new primary', ({ lists }) => lists.at(-1)?.primary === second.name);
    await later.close();
  });
});
