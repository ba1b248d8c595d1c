/** Sizes of messages: of bodies and of their frames, of headers; and what is too large. */
import assert from 'node:assert/strict';
import { BasicGet, BasicPublish, MethodId } from '../../../src/amqp091/codec/index.js';
import { type Case, rule, wireRule } from '../case.js';
import * as differences from '../differences.js';
import type { Wire } from '../wire.js';

const frames = '§4.2.6';
/** Of a frame of 131,072 bytes. */
const payloadMax = 131_064;
/** As the broker is set up, and RabbitMQ. */
const messageMax = 128 * 1024 * 1024;

function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(7);
  head[0] = type;
  head.writeUInt16BE(1, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.from([0xce])]);
}

/** A publish to the queue, without confirms; its body comes in frames of these sizes. */
function publishIn(wire: Wire, queue: string, announced: number, parts: readonly Buffer[]): void {
  const header = Buffer.alloc(14);
  header.writeUInt16BE(60, 0);
  header.writeBigUInt64BE(BigInt(announced), 4);
  wire.send(new BasicPublish('', queue, false, false));
  wire.raw.sendBytes(Buffer.concat([frame(2, header), ...parts.map((part) => frame(3, part))]));
}

export const sizes: readonly Case[] = [
  rule(frames, 'bodies of all sizes arrive as they were sent', async (client) => {
    const queue = await client.queue();
    for (const size of [0, 1, 255, 4096, payloadMax - 1, payloadMax, payloadMax + 1, 2 * payloadMax, 1_000_000]) {
      const body = Array.from({ length: size }, (_, i) => String.fromCharCode(97 + (i % 26))).join('');
      await client.send(queue, body);
      assert.equal((await client.get(queue)).content.toString(), body, `${size} bytes`);
    }
  }),
  wireRule(frames, 'a body may come in frames of any size, smaller than they may be too', async (wire) => {
    const queue = await wire.queue();
    const parts = [1, 10, 3, 2000, 1].map((size, i) => Buffer.alloc(size, 97 + i));
    publishIn(wire, queue, 2015, parts);
    const { body } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
    assert.deepEqual(body, Buffer.concat(parts));
  }),
  wireRule(frames, 'a message without a body has no frame for it', async (wire) => {
    const queue = await wire.queue();
    publishIn(wire, queue, 0, []);
    publishIn(wire, queue, 1, [Buffer.from('x')]);
    for (const text of ['', 'x']) {
      const { body } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
      assert.equal(body.toString(), text);
    }
  }),
  rule('§4.2.5.5', 'headers of many kilobytes arrive', async (client) => {
    const queue = await client.queue();
    const headers = { long: 'x'.repeat(40_000), table: { more: 'y'.repeat(20_000) } };
    assert.equal(await client.publish('', queue, 'body', { headers }), 'ack');
    assert.deepEqual((await client.get(queue)).properties.headers, headers);
  }),
  {
    ...wireRule(
      'max-message-size',
      'a message that is too large ends its channel as soon as it says so',
      async (wire) => {
        const queue = await wire.queue();
        publishIn(wire, queue, messageMax + 1, [Buffer.from('the beginning')]);
        const { of, code, text } = await wire.closing();
        assert.deepEqual([of, code], ['channel', 406]);
        assert.match(text, /message size 134217729 is larger than configured max size 134217728/);
        await wire.raw.openChannel(2);
      },
    ),
    difference: differences.tooLarge,
    onlyOurs: true,
  },
];
