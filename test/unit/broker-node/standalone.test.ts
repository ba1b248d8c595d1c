import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrokerNode } from '../../../src/broker-node.js';
import type { BrokerPorts } from '../../../src/broker-options.js';
import { MemoryCoordinator } from '../../../src/cluster/coordinator/memory.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { TcpTransport } from '../../../src/cluster/link/tcp-transport.js';
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

test('a broker that is alone keeps durable exchanges and bindings over a restart, replicated or not, but no exclusive queue', async () => {
  const disk = new MemoryDisk();
  const node = makeNode({ node: 'solo' }, { disk });
  await node.start();
  await declare(node.broker, 'q');
  const { wiring } = node.broker;
  const connection = `solo/${node.self.boot}/1`;
  const common = { vhost: '/', arguments: { 'x-replicate': 'none' } };
  const exchange = { name: 'x', type: 'fanout', passive: false, durable: true, autoDelete: false, internal: false };
  await wiring.declareExchange({ ...common, ...exchange, connection });
  await wiring.bind({ ...common, source: 'x', destination: 'q', destinationKind: 'queue', routingKey: '' }, connection);
  const own = { name: 'own', passive: false, durable: true, exclusive: true, autoDelete: false };
  await wiring.declareQueue({ ...common, ...own, arguments: {}, connection });
  await node.stop();

  const again = makeNode({ node: 'solo' }, { disk });
  await again.start();
  // Nothing of an earlier life is still to go.
  assert.deepEqual([...again.tables.boots.all()], []);
  const routed = again.tables.route('/', 'x', '', () => ({})).queues.map(({ name }) => name);
  assert.deepEqual(routed, ['q']);
  assert.equal(again.tables.queue('/', 'own'), undefined);
  await again.stop();
});

test('a broker that is alone serves what is left when its journal is damaged', async () => {
  const disk = new MemoryDisk();
  const node = makeNode({ node: 'solo' }, { disk });
  await node.start();
  await declare(node.broker, 'q');
  const publisher = new TestPublisher(node.broker);
  for (let i = 10; i < 40; i++) {
    publisher.publish('q', `body-${i}`);
    await publisher.confirmed();
  }
  await node.stop();
  await flipBit(disk, 'body-20');

  const again = makeNode({ node: 'solo' }, { disk });
  await again.start();
  assert.equal(again.store.identity.damaged, true);
  const sink = new TestSink();
  sink.autoAck = true;
  await consume(again.broker, 'q', sink);
  await sink.received(29);
  assert.deepEqual(
    sink.deliveries.map((delivery) => delivery.body),
    Array.from({ length: 30 }, (_, i) => `body-${i + 10}`).filter((body) => body !== 'body-20'),
  );
  await again.stop();
});

async function refuses(node: BrokerNode, name: string, message: RegExp): Promise<void> {
  await assert.rejects(node.start(), { name, message });
  await node.stop();
}

test('what was alone founds no cluster, and a node of a cluster does not start alone', async () => {
  const cluster = (): BrokerPorts['cluster'] => ({
    coordinator: new MemoryCoordinator('test').handle(),
    transport: new TcpTransport(),
    secret: new ClusterSecret('the test'),
  });
  const [disk, other] = [new MemoryDisk(), new MemoryDisk()];
  const alone = makeNode({ node: 'n1' }, { disk });
  await alone.start();
  await alone.stop();
  const founder = makeNode({ node: 'n1', address: '127.0.0.1:0' }, { disk, cluster: cluster() });
  await refuses(founder, 'MembershipError', /the coordinator knows of no cluster/);
  const again = makeNode({ node: 'n1' }, { disk });
  await again.start();
  await again.stop();

  const member = makeNode({ node: 'n1', address: '127.0.0.1:0' }, { disk: other, cluster: cluster() });
  await member.start();
  await member.stop();
  const leaver = makeNode({ node: 'n1' }, { disk: other });
  await refuses(leaver, 'StoreRefusedError', /start it with the cluster's coordinator/);
  const lost = makeNode({ node: 'n1', address: '127.0.0.1:0' }, { disk: other, cluster: cluster() });
  await refuses(lost, 'MembershipError', /the coordinator knows of no cluster/);
});

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
