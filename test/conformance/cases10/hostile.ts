/** Clients that ask for too much, or for nonsense: each is told so, at the level that it concerns, and nobody else notices. */
import assert from 'node:assert/strict';
import {
  Accepted,
  Coordinator,
  Declare,
  Descriptor,
  MapValue,
  symbol,
  type Value,
} from '../../../src/amqp10/codec/index.js';
import type { Case } from '../case.js';
import { closes, openRule, sessionRule } from '../case10.js';
import { delivery, message, section } from '../messages10.js';
import { order } from '../transactions10.js';

function nested(levels: number): Value {
  let value: Value = true;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

export const hostile10: readonly Case[] = [
  openRule('AMQP 1.0 §1.6.24', 'a list with more values than it has bytes is no list', async (raw) => {
    // begin, whose offered-capabilities are an array of 2^32 - 1 of nothing.
    raw.sendBody(0, '00 53 11 d0 00000013 00000006 40 43 43 43 40 f0 00000005 ffffffff 45 40 40');
    await closes(raw, 'amqp:decode-error');
  }),
  ...(
    [
      ['more values than anybody needs', new Array<Value>(70_000).fill(null), /65536 are in one/],
      ['values nested too deep', nested(60), /deep/],
    ] as const
  ).map(([what, value, text]) =>
    sessionRule('AMQP 1.0 §1.6', `${what} end the connection`, async (raw) => {
      raw.attachSender('/queues/q', { properties: new MapValue([[symbol('x'), value]]) });
      await closes(raw, 'amqp:decode-error', text);
    }),
  ),
  sessionRule('AMQP 1.0 §3.2.3', 'annotations that nobody can read go through, unread', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`, { handle: 0 });
    const annotations = section(Descriptor.messageAnnotations, new MapValue([[symbol('x-cc'), nested(60)]]));
    const whole = Buffer.concat([annotations, message('x')]);
    for (let i = 0; i < 2; i++) {
      raw.transfer(whole);
      assert.equal((await raw.expect(Descriptor.disposition)).state?.descriptor, Descriptor.accepted);
    }
    await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
    const { id, view } = await delivery(raw);
    assert.deepEqual(Buffer.from(view.bytes.subarray(view.keptStart, view.end)), whole);
    raw.settle(id, new Accepted());
    await raw.works();
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  sessionRule('AMQP 1.0 §2.6.7', 'as much credit as can be said is credit', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b');
    await raw.receiver(`/queues/${queue}`, 0);
    for (const [seen, text] of [
      [0, 'a'],
      [1, 'b'],
    ] as const) {
      raw.flow({ handle: 0, deliveryCount: seen, linkCredit: 0xffff_ffff });
      if (text === 'a') assert.equal((await delivery(raw)).text, 'a');
    }
    assert.equal((await delivery(raw)).text, 'b');
    raw.flow({ handle: 0, deliveryCount: 0x8000_0000, linkCredit: 0xffff_ffff, echo: true });
    assert.ok((await raw.expect(Descriptor.flow)).linkCredit! <= 0xffff_ffff);
    raw.flow({ handle: 0, deliveryCount: 2, linkCredit: 0xffff_ffff, drain: true });
    const { deliveryCount, linkCredit } = await raw.expect(Descriptor.flow);
    assert.deepEqual([deliveryCount, linkCredit], [1, 0]);
  }),
  sessionRule(
    'AMQP 1.0 §2.5.6',
    'dispositions of all numbers that there are settle what is there',
    async (raw, client) => {
      const queue = await client.queue();
      await client.send(queue, 'a', 'b');
      await raw.receiver(`/queues/${queue}`, 2);
      for (let i = 0; i < 2; i++) await delivery(raw);
      raw.settle(0, undefined, { last: 0x7fff_ffff, settled: false });
      raw.settle(0x8000_0000, undefined, { last: 0xffff_ffff });
      await raw.works();
      assert.equal(await client.count(queue), 0);
      raw.settle(0, undefined, { last: 0x7fff_ffff });
      await client.becomes(queue, 2);
    },
  ),
  sessionRule('limits', 'a session has as many links as it may, and goes on with fewer', async (raw, client) => {
    const queue = await client.queue();
    for (let handle = 0; handle < 1024; handle++) raw.attachSender(`/queues/${queue}`, { handle });
    for (let left = 1024; left > 0; ) if ((await raw.next()).body?.descriptor === Descriptor.attach) left--;
    raw.attachSender(`/queues/${queue}`, { handle: 1024 });
    for (;;) {
      const { body } = await raw.next();
      if (body?.descriptor === Descriptor.flow) continue;
      assert.equal(body?.descriptor, Descriptor.close, JSON.stringify(body));
      assert.equal(body.error?.condition, 'amqp:connection:framing-error');
      break;
    }
  }),
  sessionRule('limits', 'who declares without end is told so, and loses nothing but that', async (raw) => {
    raw.attachSender(undefined, { target: new Coordinator() });
    await raw.expect(Descriptor.attach);
    let refused = 0;
    for (let credit = 0, sent = 0, told = 0; told < 300; ) {
      for (; credit > 0 && sent < 300; credit--, sent++) raw.transfer(order(new Declare()));
      const { body } = await raw.next();
      if (body?.descriptor === Descriptor.flow) credit = body.deliveryCount! + body.linkCredit! - sent;
      if (body?.descriptor !== Descriptor.disposition) continue;
      told++;
      if (body.state?.descriptor === Descriptor.rejected) refused++;
    }
    assert.equal(refused, 300 - 64);
    await raw.works();
  }),
];
