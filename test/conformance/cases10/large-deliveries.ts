/** Messages whose body is kept in parts, and goes out as they come. */
import assert from 'node:assert/strict';
import { type Begin, Descriptor, Detach, End } from '../../../src/amqp10/codec/index.js';
import type { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { sessionRule } from '../case10.js';
import { delivery, message } from '../messages10.js';

const largeBytes = 2_000_000;
const open = { maxFrameSize: 8192 };

function detach(handle: number): Detach {
  return Object.assign(new Detach(), { handle, closed: true });
}

/** The session once more, with a window of so many transfers. */
async function beginAgain(raw: RawClient10, incomingWindow: number): Promise<Begin> {
  raw.send(0, new End());
  await raw.expect(Descriptor.end);
  return raw.begin(0, { incomingWindow });
}

export const largeDeliveries10: readonly Case[] = [
  sessionRule(
    'AMQP 1.0 §2.6.14',
    'large messages come whole on each link of a session',
    async (raw, client) => {
      const queues = [await client.queue(), await client.queue(), await client.queue()];
      for (const [i, queue] of queues.entries())
        await client.send(queue, String(i).repeat(largeBytes + i), `after ${i}`);
      for (const [handle, queue] of queues.entries()) await raw.receiver(`/queues/${queue}`, 0, { handle });
      for (const handle of queues.keys()) raw.flow({ handle, deliveryCount: 0, linkCredit: 5 });
      const seen: string[] = [];
      for (let i = 0; i < 6; i++) {
        const { text } = await delivery(raw);
        seen.push(text.length < 20 ? text : `${text.length} ${[...new Set(text)].join('')}`);
        raw.flow({ nextIncomingId: undefined, incomingWindow: 0xffff_ffff });
      }
      assert.deepEqual(seen.sort(), [0, 1, 2].flatMap((i) => [`${largeBytes + i} ${i}`, `after ${i}`]).sort());
    },
    open,
  ),
  sessionRule(
    'AMQP 1.0 §2.6.7',
    'a client that drains has all of a large message before it is told',
    async (raw, client) => {
      const queue = await client.queue();
      await client.send(queue, 'x'.repeat(largeBytes));
      for (const credit of [1, 2]) {
        await raw.receiver(`/queues/${queue}`, 0, { handle: credit });
        raw.flow({ handle: credit, deliveryCount: 0, linkCredit: credit, drain: true, incomingWindow: 0xffff_ffff });
        assert.equal((await delivery(raw)).text.length, largeBytes);
        const flow = await raw.expect(Descriptor.flow);
        assert.deepEqual([flow.deliveryCount, flow.linkCredit, flow.drain], [credit, 0, true]);
        raw.send(0, detach(credit));
        await raw.expect(Descriptor.detach);
        await client.becomes(queue, 1);
      }
    },
  ),
  ...(
    [
      ['that is large', largeBytes, 1_000_000],
      ['of one frame', 600, 512],
    ] as const
  ).map(([what, size, maxMessageSize]) =>
    sessionRule(
      'AMQP 1.0 §2.7.3',
      `a message ${what}, larger than the link takes, ends it, and stays in its queue`,
      async (raw, client) => {
        const queue = await client.queue();
        await client.send(queue, 'small', 'x'.repeat(size));
        await raw.receiver(`/queues/${queue}`, 5, { maxMessageSize });
        const { text } = await delivery(raw);
        assert.equal(text, 'small');
        const { error } = await raw.expect(Descriptor.detach);
        assert.equal(error?.condition, 'amqp:link:message-size-exceeded');
        assert.match(error.description!, new RegExp(String(maxMessageSize)));
        raw.send(0, detach(0));
        await raw.works();
        await client.becomes(queue, 2);
        await raw.receiver(`/queues/${queue}`, 5, { maxMessageSize: size + 500 });
        assert.equal((await delivery(raw)).text, 'small');
        assert.equal((await delivery(raw)).text.length, size);
      },
    ),
  ),
  ...([0, 1] as const).map((sndSettleMode) =>
    sessionRule(
      'AMQP 1.0 §2.6.6',
      `a large message that is half out${sndSettleMode === 1 ? ', settled,' : ''} goes back when its link ends, and others go on`,
      async (raw, client) => {
        const [large, small] = [await client.queue(), await client.queue()];
        await client.send(large, 'l'.repeat(largeBytes));
        await client.send(small, 's');
        const { nextOutgoingId } = await beginAgain(raw, 10);
        await raw.receiver(`/queues/${large}`, 0, { handle: 0, sndSettleMode });
        await raw.receiver(`/queues/${small}`, 0, { handle: 1 });
        const flow = { deliveryCount: 0, linkCredit: 1, incomingWindow: 10 };
        raw.flow({ handle: 0, ...flow, nextIncomingId: nextOutgoingId });
        for (let i = 0; i < 10; i++) assert.equal((await raw.expect(Descriptor.transfer)).more, true);
        raw.flow({ handle: 1, ...flow, incomingWindow: 0, nextIncomingId: (nextOutgoingId + 10) >>> 0 });
        raw.send(0, detach(0));
        await raw.expect(Descriptor.detach);
        raw.flow({ incomingWindow: 10, nextIncomingId: (nextOutgoingId + 10) >>> 0 });
        const next = await delivery(raw);
        assert.deepEqual([next.text, next.frames], ['s', 1]);
        const again = await client.soon(large);
        assert.deepEqual([again.content.length, again.fields.redelivered], [largeBytes, true]);
      },
      open,
    ),
  ),
  sessionRule(
    'AMQP 1.0 §2.6.12',
    'a large message that is settled is gone when all of it is out',
    async (raw, client) => {
      const queue = await client.queue();
      await client.send(queue, 'x'.repeat(largeBytes));
      await raw.receiver(`/queues/${queue}`, 1, { sndSettleMode: 1 });
      const { text, settled } = await delivery(raw);
      assert.deepEqual([text.length, settled], [largeBytes, true]);
      await raw.works();
      raw.end();
      await client.becomes(queue, 0);
    },
    open,
  ),
  sessionRule(
    'AMQP 1.0 §2.6.12',
    'a queue that is deleted while a large message of it goes out detaches its receiver, and the session goes on',
    async (raw, client) => {
      const [large, small] = [await client.queue(), await client.queue()];
      await client.send(large, 'l'.repeat(largeBytes));
      await client.send(small, 's');
      const { nextOutgoingId } = await beginAgain(raw, 3);
      await raw.receiver(`/queues/${large}`, 0);
      raw.flow({
        handle: 0,
        deliveryCount: 0,
        linkCredit: 1,
        incomingWindow: 3,
        nextIncomingId: nextOutgoingId,
      });
      for (let i = 0; i < 3; i++) assert.equal((await raw.expect(Descriptor.transfer)).more, true);
      await client.channel.deleteQueue(large);
      assert.equal((await raw.expect(Descriptor.detach)).error?.condition, 'amqp:resource-deleted');
      raw.flow({ incomingWindow: 10, nextIncomingId: (nextOutgoingId + 3) >>> 0 });
      await raw.receiver(`/queues/${small}`, 0, { handle: 1 });
      raw.flow({ handle: 1, deliveryCount: 0, linkCredit: 1, nextIncomingId: (nextOutgoingId + 3) >>> 0 });
      assert.equal((await delivery(raw)).text, 's');
    },
    open,
  ),
  sessionRule('AMQP 1.0 §2.6.14', 'a large message of a client of 1.0 comes out as it went in', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`, { handle: 0 });
    const whole = message('z'.repeat(largeBytes));
    for (let at = 0; at < whole.length; at += 100_000)
      raw.transfer(whole.slice(at, at + 100_000), { deliveryId: 0, more: at + 100_000 < whole.length });
    await raw.expect(Descriptor.disposition);
    await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
    const { text } = await delivery(raw);
    assert.equal(text, 'z'.repeat(largeBytes));
  }),
];
