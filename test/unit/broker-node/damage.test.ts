/** Damage of a node's journal in a cluster: what was lost comes back from the others, and then the node is as good as any. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrokerNode } from '../../../src/broker-node.js';
import { MemoryCoordinator } from '../../../src/cluster/coordinator/memory.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { TcpTransport } from '../../../src/cluster/link/tcp-transport.js';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { consume, declare, makeNode, TestPublisher, TestSink } from './support.js';

/** Damages the first segment at the place of a text. */
async function flipBit(disk: MemoryDisk, text: string): Promise<void> {
  const file = await disk.open('journal-0000000001.seg', { create: false });
  const bytes = new Uint8Array(await file.size());
  await file.read(bytes, 0);
  const at = Buffer.from(bytes.buffer).indexOf(text);
  assert.ok(at > 0);
  await file.write([Uint8Array.of(bytes[at]! ^ 1)], at);
  await file.close();
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited too long: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const bodies: string[] = Array.from({ length: 30 }, (_, i) => `body-${i + 10}`);

/** Two nodes that have all bodies in a queue. The second one stops, and its journal is damaged. */
async function damagedCluster(): Promise<{ n1: BrokerNode; group: number; startSecond(): BrokerNode }> {
  const coordinator = new MemoryCoordinator('test');
  const disks = [new MemoryDisk(), new MemoryDisk()];
  const make = (index: number): BrokerNode =>
    makeNode(
      { node: `n${index + 1}`, address: '127.0.0.1:0', groups: 3, replicas: 2 },
      {
        disk: disks[index]!,
        cluster: { coordinator: coordinator.handle(), transport: new TcpTransport(), secret: ClusterSecret.none },
      },
    );
  const nodes = [make(0), make(1)];
  await Promise.all(nodes.map((node) => node.start()));
  await until('both complete', () => nodes.every((node) => node.report.isComplete()));
  const [n1, n2] = nodes as [BrokerNode, BrokerNode];
  await declare(n1.broker, 'q');
  const publisher = new TestPublisher(n1.broker);
  for (const body of bodies) {
    publisher.publish('q', body);
    await publisher.confirmed();
  }
  const { group } = await n1.broker.queueStatus('/', 'q');
  await n2.stop();
  await flipBit(disks[1]!, 'body-20');
  await until('n1 leads', () => n1.replication.replica(group).primary !== undefined);
  return { n1, group, startSecond: () => make(1) };
}

test('a node whose journal was damaged may be elected after its next restart, alone, once it has joined all groups', async () => {
  const { n1, startSecond } = await damagedCluster();
  const joined = startSecond();
  await joined.start();
  assert.equal(joined.store.identity.damaged, true);
  await until('n2 is without damage', () => !joined.store.identity.damaged);
  await until('both complete', () => [n1, joined].every((node) => node.report.isComplete()));
  await n1.stop();
  await joined.stop();

  const alone = startSecond();
  await alone.start();
  assert.equal(alone.store.identity.damaged, false);
  const sink = new TestSink();
  sink.autoAck = true;
  await consume(alone.broker, 'q', sink);
  await sink.received(bodies.length);
  assert.deepEqual(
    sink.deliveries.map((delivery) => delivery.body),
    bodies,
  );
  await alone.stop();
});

test('it stays marked while there is a group that it has not joined', async () => {
  const { n1, group, startSecond } = await damagedCluster();
  const primary = n1.replication.replica(group).primary!;
  Object.assign(primary, { follow: () => {} });
  const joined = startSecond();
  await joined.start();
  const others = [...joined.replication.replicas.values()].filter((each) => each.journaled && each.group !== group);
  assert.equal(others.length, 3);
  await until('it has joined all others', () => others.every((each) => each.rejoined));
  await new Promise((resolve) => setTimeout(resolve, 800));
  assert.equal(joined.store.identity.damaged, true);
  Reflect.deleteProperty(primary, 'follow');
  await until('n2 is without damage', () => !joined.store.identity.damaged);
  assert.equal(joined.replication.replica(group).rejoined, true);
  await Promise.all([n1, joined].map((node) => node.stop()));
});
