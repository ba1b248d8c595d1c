import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrokerNode } from '../../../src/broker-node.js';
import type { BrokerOptions } from '../../../src/broker-options.js';
import { MemoryCoordinator } from '../../../src/cluster/coordinator/memory.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { TcpTransport } from '../../../src/cluster/link/tcp-transport.js';
import { declare, makeNode, TestPublisher } from './support.js';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a join takes no more than it may, every node tells how far it is, and clients are not held up', async () => {
  const coordinator = new MemoryCoordinator('test');
  const bytesPerSecond = 250_000;
  const messages = 500;
  const options: Partial<BrokerOptions> = {
    groups: 1,
    address: '127.0.0.1:0',
    limits: { joinBytesPerSecond: bytesPerSecond, backfillBytes: 16 * 1024 },
  };
  const start = async (node: string): Promise<BrokerNode> => {
    const cluster = { coordinator: coordinator.handle(), transport: new TcpTransport(), secret: ClusterSecret.none };
    const made = makeNode({ node, ...options }, { cluster });
    await made.start();
    return made;
  };
  const nodes = [await start('n1'), await start('n2')];
  const [n1, n2] = nodes as [BrokerNode, BrokerNode];
  while (!nodes.every((node) => node.report.isComplete())) await sleep(10);
  await declare(n1.broker, 'q');
  const publisher = new TestPublisher(n1.broker);
  for (let i = 0; i < messages; i++) publisher.publish('q', `${i}`.padEnd(1000));
  await publisher.confirmed();
  const startedAt = performance.now();
  const n3 = await start('n3');
  nodes.push(n3);
  const seen = new Map<string, number[]>(nodes.map(({ options: { node } }) => [node, []]));
  let slowest = 0;
  const done = (): boolean => n3.report.groups()[1]?.inSync.includes('n3') === true;
  while (!done()) {
    for (const node of nodes) {
      const joining = node.report.groups()[1]?.joining.find((join) => join.node === 'n3');
      if (joining?.percent !== undefined) seen.get(node.options.node)!.push(joining.percent);
      if (node === n1 && joining?.bytesPerSecond !== undefined && joining.messages! > 100)
        assert.ok(joining.bytesPerSecond < bytesPerSecond * 1.5, `${joining.bytesPerSecond} bytes/s`);
    }
    const before = performance.now();
    publisher.publish('q', 'live');
    await publisher.confirmed();
    slowest = Math.max(slowest, performance.now() - before);
    await sleep(20);
    assert.ok(performance.now() - startedAt < 20_000, 'it ends');
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(nodes.map((node) => node.stop()));
  assert.ok(seconds > (messages * 1000) / bytesPerSecond / 1.2, `joined in ${seconds} s`);
  assert.ok(slowest < 500, `a publish took ${slowest} ms`);
  for (const [node, percents] of seen) {
    assert.ok(
      percents.some((percent) => percent > 0 && percent < 100),
      `${node} saw ${percents.join(' ')}`,
    );
    assert.deepEqual(
      percents.toSorted((a, b) => a - b),
      percents,
    );
  }
  void n2;
});
