import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrokerNode } from '../../../src/broker-node.js';
import type { BrokerOptions } from '../../../src/broker-options.js';
import { MemoryCoordinator } from '../../../src/cluster/coordinator/memory.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { TcpTransport } from '../../../src/cluster/link/tcp-transport.js';
import { heartbeatTimesFor } from '../../../src/cluster/liveness/heartbeats.js';
import type { GroupRecord } from '../../../src/cluster/map.js';
import type { DiskFile } from '../../../src/store/disk.js';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { consume, declare, makeNode, TestPublisher, TestSink } from './support.js';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what: string, condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`timed out: ${what}`);
    await sleep(10);
  }
}

async function cluster(
  count: number,
  options: Partial<BrokerOptions> = {},
): Promise<{ nodes: BrokerNode[]; coordinator: MemoryCoordinator; disks: MemoryDisk[] }> {
  const coordinator = new MemoryCoordinator('test');
  const disks = Array.from({ length: count }, () => new MemoryDisk());
  const nodes = disks.map((disk, i) => member(coordinator, disk, i, options));
  await Promise.all(nodes.map((node) => node.start()));
  await until('complete', () => nodes.every((node) => node.report.isComplete()));
  return { nodes, coordinator, disks };
}

function member(
  coordinator: MemoryCoordinator,
  disk: MemoryDisk,
  index: number,
  options: Partial<BrokerOptions> = {},
): BrokerNode {
  return makeNode(
    { node: `n${index + 1}`, address: '127.0.0.1:0', ...options },
    { disk, cluster: { coordinator: coordinator.handle(), transport: new TcpTransport(), secret: ClusterSecret.none } },
  );
}

test('three nodes: any node serves any queue; the primary dies and nothing confirmed is lost; it comes back', async () => {
  const { nodes, coordinator, disks } = await cluster(3);
  const [n1, n2, n3] = nodes as [BrokerNode, BrokerNode, BrokerNode];
  await declare(n2.broker, 'q');
  const status = await n1.broker.queueStatus('/', 'q');
  const leader = nodes.findIndex((node) => node.options.node === status.leader);
  const survivors = nodes.filter((_, i) => i !== leader);
  const publisher = new TestPublisher(survivors[0]!.broker);
  for (let i = 0; i < 200; i++) publisher.publish('q', `m${i}`);
  await publisher.confirmed();
  const sink = new TestSink();
  await consume(survivors[1]!.broker, 'q', sink, 50);
  await sink.received(50);
  for (let i = 200; i < 300; i++) publisher.publish('q', `m${i}`);
  await nodes[leader]!.stop();
  await publisher.confirmed();
  sink.autoAck = true;
  for (const { position } of [...sink.deliveries]) sink.ack(position);
  sink.subscription!.grant(1000);
  await sink.received(300);
  assert.deepEqual(
    sink.deliveries.map((delivery) => delivery.body),
    Array.from({ length: 300 }, (_, i) => `m${i}`),
  );
  const back = member(coordinator, disks[leader]!, leader);
  await back.start();
  await until('complete again', () => survivors[0]!.report.isComplete());
  await until('empty', () =>
    [...survivors, back].every(
      (node) =>
        node.replication.replica(status.group).state.queue(n1.tables.queue('/', 'q')!.position)?.index.size === 0,
    ),
  );
  await Promise.all([...survivors, back].map((node) => node.stop()));
  void n3;
});

test('a backup that had nothing to do for long is not slow when something comes', async () => {
  const slowMs = 200;
  const { nodes } = await cluster(2, { limits: { slowMs } });
  await declare(nodes[0]!.broker, 'q');
  const { group } = await nodes[0]!.broker.queueStatus('/', 'q');
  const { primary } = nodes
    .map((node) => node.replication.replica(group))
    .find((replica) => replica.primary !== undefined)!;
  await sleep(3 * slowMs);
  const before = nodes[0]!.map.groups.get(group)!.version;
  const publisher = new TestPublisher(nodes[0]!.broker);
  for (let i = 0; i < 3; i++) {
    publisher.publish('q', `m${i}`);
    primary!.flush();
    primary!.tick();
    await publisher.confirmed();
    await sleep(2 * slowMs);
  }
  const after = nodes[0]!.map.groups.get(group)!.version;
  await Promise.all(nodes.map((node) => node.stop()));
  assert.equal(after, before);
});

test('a lost replica gives its place to a spare node after a time, and keeps nothing when it comes back', async () => {
  const coordinator = new MemoryCoordinator('test');
  const disks = Array.from({ length: 4 }, () => new MemoryDisk());
  const make = (index: number): BrokerNode =>
    makeNode(
      { node: `n${index + 1}`, address: '127.0.0.1:0', groups: 2, replicas: 2, limits: { reReplicateAfterMs: 300 } },
      {
        disk: disks[index]!,
        cluster: { coordinator: coordinator.handle(), transport: new TcpTransport(), secret: ClusterSecret.none },
      },
    );
  const nodes = [make(0), make(1)];
  await Promise.all(nodes.map((node) => node.start()));
  await until('two complete', () => nodes.every((node) => node.report.isComplete()));
  const [n1, n2] = nodes as [BrokerNode, BrokerNode];
  await declare(n1.broker, 'q');
  const publisher = new TestPublisher(n1.broker);
  for (let i = 0; i < 50; i++) publisher.publish('q', `m${i}`);
  await publisher.confirmed();
  const n3 = make(2);
  await n3.start();
  const { group } = await n1.broker.queueStatus('/', 'q');
  await n2.stop();
  await until('n3 has the place of n2', () => {
    const record = n1.map.groups.get(group)!.value;
    return record.inSync.some((member) => member.node === 'n3') && !record.replicas.includes('n2');
  });
  const incarnation = n1.tables.queue('/', 'q')!.position;
  assert.equal(n3.replication.replica(group).state.queue(incarnation)?.index.size, 50);
  const back = make(1);
  await back.start();
  await until('n2 has let go', () => !back.replication.replicas.has(group));
  await Promise.all([n1, n3, back].map((node) => node.stop()));
});

test('a short lease: while all is well nobody is taken out of a set', async () => {
  const { nodes } = await cluster(2, { times: heartbeatTimesFor(1000) });
  const shrunk: GroupRecord[] = [];
  nodes[0]!.map.listen({
    groupChanged: ({ value }) => {
      if (value.inSync.length < 2) shrunk.push(value);
    },
    memberChanged() {},
  });
  await sleep(1500);
  await Promise.all(nodes.map((node) => node.stop()));
  assert.deepEqual(shrunk, []);
});

test('nobody is taken for dead while nodes start at once', async () => {
  const { nodes } = await cluster(4);
  for (const node of nodes)
    for (const other of nodes) assert.equal(node.replication.isDead(other.self.boot), false, other.options.node);
  await Promise.all(nodes.map((node) => node.stop()));
});

test('a new epoch begins before the numbers of one run out, and nothing is lost or doubled', async () => {
  const { nodes } = await cluster(2, { groups: 1, limits: { epochNumbersMin: 2 ** 32 - 200 } });
  const [n1, n2] = nodes as [BrokerNode, BrokerNode];
  await declare(n1.broker, 'q');
  const sink = new TestSink();
  sink.autoAck = true;
  await consume(n2.broker, 'q', sink, 10_000);
  const publishers = nodes.map((node) => new TestPublisher(node.broker));
  const expected: string[] = [];
  for (let i = 0; i < 40; i++) {
    for (const [p, publisher] of publishers.entries())
      for (let j = 0; j < 10; j++) {
        publisher.publish('q', `${p}-${i}-${j}`);
        expected.push(`${p}-${i}-${j}`);
      }
    await sleep(10);
  }
  await Promise.all(publishers.map((publisher) => publisher.confirmed()));
  await sink.received(expected.length);
  assert.ok(n1.map.groups.get(1)!.value.epoch > 2, String(n1.map.groups.get(1)!.value.epoch));
  assert.deepEqual([...new Set(sink.deliveries.map(({ body }) => body))].sort(), expected.sort());
  assert.deepEqual(
    sink.deliveries.filter(
      ({ body, redelivered }, i) => !redelivered && sink.deliveries.slice(0, i).some((one) => one.body === body),
    ),
    [],
  );
  await Promise.all(nodes.map((node) => node.stop()));
});

/** A disk whose syncs end only when it is told so. */
class HangingDisk extends MemoryDisk {
  hangs: Promise<void> | undefined;

  override async open(name: string, options: { create: boolean }): Promise<DiskFile> {
    const file = await super.open(name, options);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await this.hangs;
      await sync();
    };
    return file;
  }
}

test('a primary whose disk hangs is replaced', async () => {
  const coordinator = new MemoryCoordinator('test');
  const disks = [new HangingDisk(), new HangingDisk(), new HangingDisk()];
  const options = { groups: 1, times: heartbeatTimesFor(1000), limits: { slowMs: 1000 } };
  const nodes = disks.map((disk, i) => member(coordinator, disk, i, options));
  await Promise.all(nodes.map((node) => node.start()));
  await until('complete', () => nodes.every((node) => node.report.isComplete()));
  await declare(nodes[0]!.broker, 'q');
  const leaderName = nodes[0]!.map.groups.get(1)!.value.primary.node;
  const leader = nodes.findIndex((node) => node.options.node === leaderName);
  const other = nodes[(leader + 1) % 3]!;
  const publisher = new TestPublisher(other.broker);
  publisher.publish('q', 'before');
  await publisher.confirmed();
  let goOn = (): void => {};
  disks[leader]!.hangs = new Promise((resolve) => {
    goOn = resolve;
  });
  publisher.publish('q', 'meanwhile');
  await publisher.confirmed();
  assert.notEqual(other.map.groups.get(1)!.value.primary.node, leaderName);
  goOn();
  await Promise.all(nodes.map((node) => node.stop()));
});
