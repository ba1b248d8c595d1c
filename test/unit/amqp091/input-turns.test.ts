import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicProperties,
  BasicPublish,
  FrameWriter,
  MethodId,
  QueueDeclare,
} from '../../../src/amqp091/codec/index.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

describe('input of many connections', () => {
  const count = 4000;
  const bodyBytes = 20;
  const clients = 12;

  function messages(sender: number): Buffer {
    const frames = new FrameWriter();
    for (let i = 0; i < count; i++) {
      const body = Buffer.alloc(bodyBytes);
      body.writeUInt32BE(sender);
      body.writeUInt32BE(i, 4);
      frames.methodWithContent(1, new BasicPublish('', 'q', false, false), new BasicProperties(), body);
    }
    return Buffer.from(frames.output.take());
  }

  for (const turnInputBytesMax of [1, 100_000]) {
    it(`is handled in turns of ${turnInputBytesMax} bytes and what one read brings, in order, and nobody else waits for its end`, async () => {
      await using host = await AmqpHost.start({ turnInputBytesMax });
      const other = await RawClient.open(host.port);
      await other.openChannel(1);
      other.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
      await other.expect(MethodId.queueDeclareOk, 1);
      const senders = await Promise.all(Array.from({ length: clients }, () => RawClient.open(host.port)));
      await Promise.all(senders.map((sender) => sender.openChannel(1)));
      const bytes = senders.map((_, i) => messages(i));
      const next = new Array<number>(clients).fill(0);
      const seen = { inTurn: 0, most: 0, all: 0 };
      const publish = host.broker.publish.bind(host.broker);
      host.broker.publish = (...args) => {
        const { bodyBytes: body, bodyStart: at } = args[1];
        const message = new DataView(body.buffer, body.byteOffset + at);
        assert.equal(message.getUint32(4), next[message.getUint32(0)]!++, 'in order');
        if (seen.inTurn++ === 0) {
          setImmediate(() => {
            seen.most = Math.max(seen.most, seen.inTurn);
            seen.inTurn = 0;
          });
        }
        seen.all++;
        return publish(...args);
      };
      for (const [i, sender] of senders.entries()) sender.socket.write(bytes[i]!);
      await eventually(() => seen.all > 0);
      other.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
      await other.expect(MethodId.queueDeclareOk, 1);
      assert.ok(seen.all < clients * count, 'the other one waited for all of them');
      await eventually(() => seen.all === clients * count);
      // A turn's room, what is kept for short reads, and one read; twice, since a turn's end is not seen from outside.
      const most = (2 * (2 * turnInputBytesMax + 65_536) * count) / bytes[0]!.length;
      assert.ok(seen.most <= most, `${seen.most} messages in a turn, at most ${Math.floor(most)} are allowed`);
      assert.equal(host.broker.queues.get('q')!.readyCount, clients * count);
      for (const client of [other, ...senders]) client.end();
    });
  }

  it('counts to its end, though the client closes its socket without a word', async () => {
    await using host = await AmqpHost.start({ turnInputBytesMax: 1 });
    const other = await RawClient.open(host.port);
    await other.openChannel(1);
    other.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
    await other.expect(MethodId.queueDeclareOk, 1);
    const senders = await Promise.all(Array.from({ length: clients }, () => RawClient.open(host.port)));
    await Promise.all(senders.map((sender) => sender.openChannel(1)));
    for (const [i, sender] of senders.entries()) sender.socket.end(messages(i));
    await eventually(() => host.server.connectionCount === 1);
    assert.equal(host.broker.queues.get('q')!.readyCount, clients * count);
    other.end();
  });
});
