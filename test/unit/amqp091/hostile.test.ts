import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  BasicAck,
  BasicConsume,
  BasicGet,
  BasicProperties,
  BasicPublish,
  BasicQos,
  ChannelOpen,
  ConfirmSelect,
  ConnectionOpen,
  ConnectionTuneOk,
  FrameWriter,
  MethodId,
  protocolHeader,
  QueueBind,
  QueueDeclare,
} from '../../../src/amqp091/codec/index.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { RawClient, startOk } from '../../support/raw-client.js';

/** Everything a well-behaved client might send in a short life, handshake included. */
function session(): Buffer {
  const frames = new FrameWriter();
  frames.output.raw(protocolHeader);
  frames.method(0, startOk('guest', 'guest', { 'connection.blocked': true }));
  frames.method(0, new ConnectionTuneOk(0, 8192, 0));
  frames.method(0, new ConnectionOpen('/'));
  frames.frameMax = 8192;
  for (const channel of [1, 2]) {
    frames.method(channel, new ChannelOpen());
    frames.method(channel, new ConfirmSelect(false));
    frames.method(channel, new QueueDeclare('q', false, false, false, false, false, { 'x-a': [1, 'b', { c: true }] }));
    frames.method(channel, new QueueBind('q', 'amq.topic', '#', false, {}));
    frames.method(channel, new BasicQos(0, 3, false));
    frames.method(channel, new BasicConsume('q', '', false, false, false, false, {}));
    const properties = Object.assign(new BasicProperties(), { headers: { a: 'b' }, deliveryMode: 2, expiration: '1' });
    for (const size of [0, 10, 20_000]) {
      frames.methodWithContent(channel, new BasicPublish('', 'q', true, false), properties, Buffer.alloc(size, 7));
    }
    frames.method(channel, new BasicGet('q', false));
    frames.method(channel, new BasicAck(0, true));
  }
  return Buffer.from(frames.output.take());
}

describe('hostile input', () => {
  it('mutated, truncated, split sessions end in an error or a closed socket, and harm nobody else', async () => {
    await using host = await AmqpHost.start({ closeTimeoutMs: 200 });
    const witness = await RawClient.open(host.port);
    await witness.openChannel(1);
    witness.send(1, new QueueDeclare('witness', false, false, false, false, false, {}));
    await witness.expect(MethodId.queueDeclareOk, 1);
    const whole = session();
    const mutation = fc.record({ at: fc.nat({ max: whole.length - 1 }), to: fc.integer({ min: 0, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(mutation, { maxLength: 6 }),
        fc.nat({ max: whole.length }),
        fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 8 }),
        async (mutations, cut, sizes) => {
          const bytes = Buffer.from(whole);
          for (const { at, to } of mutations) bytes[at] = to;
          const socket = connect(host.port, '127.0.0.1');
          socket.on('error', () => {});
          socket.resume();
          const stream = bytes.subarray(0, whole.length - (cut % 3 === 0 ? cut : 0));
          for (let at = 0, i = 0; at < stream.length; i++) {
            const size = sizes[i % sizes.length]!;
            socket.write(stream.subarray(at, at + size));
            if (i % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
            at += size;
          }
          witness.publish(1, '', 'witness', 'alive');
          witness.send(1, new BasicGet('witness', true));
          assert.equal((await witness.expect(MethodId.basicGetOk, 1)).body.toString(), 'alive');
          socket.destroy();
        },
      ),
      { numRuns: 150 },
    );
    await eventually(() => host.server.connectionCount === 1, 'the end of all other connections');
    assert.equal(host.broker.queues.get('q')?.held.size ?? 0, 0, 'nothing is held by anybody');
    assert.equal(host.server.counters.channelsOpened - host.server.counters.channelsClosed, 1);
    witness.end();
  });

  it('an announced body of any size costs nothing until it comes', async () => {
    await using host = await AmqpHost.start();
    const client = await RawClient.open(host.port);
    const before = process.memoryUsage().arrayBuffers;
    for (let channel = 1; channel <= 500; channel++) {
      await client.openChannel(channel);
      client.frames.method(channel, new BasicPublish('', 'q', false, false));
      const header = Buffer.alloc(22);
      header.writeUInt8(2, 0);
      header.writeUInt16BE(channel, 1);
      header.writeUInt32BE(14, 3);
      header.writeUInt16BE(60, 7);
      header.writeUInt32BE(100_000_000, 15);
      header.writeUInt8(0xce, 21);
      client.sendBytes(header);
    }
    await client.silent();
    assert.ok(process.memoryUsage().arrayBuffers - before < 20_000_000);
    assert.equal(host.server.list()[0]!.state, 'running');
    client.end();
  });
});
