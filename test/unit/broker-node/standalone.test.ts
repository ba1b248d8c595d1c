import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { consume, declare, makeNode, TestPublisher, TestSink } from './support.js';

test('a broker that is alone: declare, publish, consume, ack; what is not acked survives a restart, flagged', async () => {
  const disk = new MemoryDisk();
  const node = makeNode({ node: 'solo' }, { disk });
  await node.start();
  await declare(node.broker, 'q');
  const publisher = new TestPublisher(node.broker);
  for (let i = 0; i < 100; i++) publisher.publish('q', `m${i}`);
  await publisher.confirmed();
  const sink = new TestSink();
  await consume(node.broker, 'q', sink);
  await sink.received(100);
  assert.deepEqual(
    sink.deliveries.map((delivery) => delivery.body),
    Array.from({ length: 100 }, (_, i) => `m${i}`),
  );
  assert.ok(sink.deliveries.every((delivery) => !delivery.redelivered));
  for (const { position } of sink.deliveries.slice(0, 50)) sink.ack(position);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await node.stop();

  const again = makeNode({ node: 'solo' }, { disk });
  await again.start();
  const rest = new TestSink();
  rest.autoAck = true;
  await consume(again.broker, 'q', rest);
  await rest.received(50);
  assert.deepEqual(
    rest.deliveries.map((delivery) => delivery.body),
    Array.from({ length: 50 }, (_, i) => `m${i + 50}`),
  );
  assert.ok(rest.deliveries.every((delivery) => delivery.redelivered));
  await again.stop();
});
