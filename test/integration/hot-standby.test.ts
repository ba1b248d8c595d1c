/**
 * Hot standby with real processes: backups refuse clients and send them to the primary, and are there when it dies.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { fetchCluster } from '../../src/cli/api-client.js';
import { LoadConnection } from '../../src/cli/bench/connection.js';
import { ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { describeReconnections, FailoverClients } from '../support/failover-clients.js';
import type { NodeProcess } from '../support/node-process.js';

const clients = 50;
/** Milliseconds of a machine that is busy with other tests; test/long holds many more clients to less. */
const outageMsMax = 5000;
const failedConnectsMax = 2;

const addressOf = (node: NodeProcess): string => `127.0.0.1:${node.ports.amqp}`;
const operator = { clientProperties: { 'understudy.operator': true } };

describe('hot standby', { timeout: 120_000 }, () => {
  let cluster: ClusterProcesses;
  let failed = true;

  before(async () => {
    cluster = await ClusterProcesses.start(3, ['--clients', 'primary']);
  });

  after(async () => await cluster.close(failed));

  /** The one node that leads all groups, as `asked` sees it. */
  async function primary(asked = cluster.awake[0]!): Promise<NodeProcess> {
    for (const until = performance.now() + 5000; ; await sleep(20)) {
      const { groups } = await fetchCluster(asked.httpUrl);
      const names = new Set(groups.map((group) => group.primary));
      const [name] = names;
      if (names.size === 1 && cluster.node(name!).pid !== 0) return cluster.node(name!);
      assert.ok(performance.now() < until, `led by ${[...names].join(', ')}`);
    }
  }

  /** The other nodes, in the order in which they are to take over. */
  async function backups(): Promise<NodeProcess[]> {
    const first = await primary();
    const connection = await amqp.connect(first.amqpUrl);
    const { serverProperties } = connection.connection as unknown as {
      serverProperties: { 'understudy.addresses': string[] };
    };
    await connection.close();
    const nodes = serverProperties['understudy.addresses'].map(
      (address) => cluster.nodes.find((node) => addressOf(node) === address)!,
    );
    assert.deepEqual(nodes.map(({ name }) => name).sort(), ['n1', 'n2', 'n3']);
    assert.equal(nodes[0]!.name, first.name);
    return nodes.slice(1);
  }

  it('has one node lead everything, of which the cluster tells', async () => {
    const { clients: policy, placement } = await fetchCluster(cluster.nodes[0]!.httpUrl);
    assert.deepEqual([policy, placement], ['primary', 'single']);
    await sleep(500);
    await primary();
  });

  it('S36, S37: backups name the primary to clients, and serve operators', async () => {
    const first = await primary();
    const connection = await amqp.connect(first.amqpUrl);
    await (await connection.createChannel()).assertQueue('standby', { durable: true });
    await connection.close();
    for (const backup of await backups()) {
      await assert.rejects(() => amqp.connect(backup.amqpUrl), /ConnectionClose/);
      await assert.rejects(
        () => LoadConnection.open(new URL(backup.amqpUrl)),
        (error: Error) => error.message.includes(`this node is a backup: the primary is ${addressOf(first)}`),
      );
      const boss = await amqp.connect(backup.amqpUrl, operator);
      const channel = await boss.createChannel();
      assert.equal((await channel.checkQueue('standby')).messageCount, 0);
      await boss.close();
    }
  });

  it(`S38: ${clients} clients are served again by the first successor when the primary is killed`, async (t) => {
    const first = await primary();
    const [second] = await backups();
    const crowd = await FailoverClients.start(clients, addressOf(first));
    const reconnections = await crowd.through(() => first.kill());
    t.diagnostic(describeReconnections(reconnections));
    assert.equal((await primary(second)).name, second!.name);
    for (const { failedConnects, outageMs } of reconnections) {
      assert.ok(failedConnects <= failedConnectsMax, `${failedConnects} failed connects`);
      assert.ok(outageMs <= outageMsMax, `served again after ${outageMs} ms`);
    }
    crowd.close();
    await first.start();
    await cluster.untilComplete();
  });

  it('S36: a node that starts lets nobody in, from the first instant', async () => {
    const { node, tries } = { node: (await backups())[0]!, tries: [] as string[] };
    await node.kill();
    let started = false;
    const start = node.start().then(() => {
      started = true;
    });
    const open = (): Promise<string> =>
      LoadConnection.open(new URL(node.amqpUrl)).then(
        () => 'let in',
        (error: Error) => error.message,
      );
    while (!started) tries.push(await open());
    await start;
    tries.push(await open());
    await cluster.untilComplete();
    assert.ok(!tries.includes('let in'));
    assert.match(tries.at(-1)!, /this node is a backup/);
  });

  it('so they are when it is stopped', async (t) => {
    const first = await primary();
    const crowd = await FailoverClients.start(clients, addressOf(first));
    const reconnections = await crowd.through(() => first.stop());
    t.diagnostic(describeReconnections(reconnections));
    for (const { failedConnects } of reconnections) assert.ok(failedConnects <= failedConnectsMax);
    crowd.close();
    await first.start();
    await cluster.untilComplete();
  });

  it('a primary that was frozen and replaced sends its clients on', async () => {
    const first = await primary();
    const [second] = await backups();
    const connection = await amqp.connect(first.amqpUrl);
    const told = new Promise<Error>((resolve) => connection.once('close', resolve));
    first.freeze();
    await sleep(100);
    while ((await primary(second)) === first) await sleep(50);
    const next = await primary(second);
    first.thaw();
    assert.match((await told).message, new RegExp(`the primary is ${addressOf(next)}`));
    await cluster.untilComplete();
    failed = false;
  });
});
