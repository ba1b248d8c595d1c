/** Messages that a client gives back: what counts, and what it notes of them (§3.4.4, §3.4.5). */
import assert from 'node:assert/strict';
import {
  Accepted,
  type DeliveryState,
  Descriptor,
  MapValue,
  Modified,
  Released,
  Scalar,
  symbol,
  textOf,
  type Value,
} from '../../../src/amqp10/codec/index.js';
import type { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { endsSession, sessionRule } from '../case10.js';
import { delivery, message, type Read, section } from '../messages10.js';
import { commit, coordinator, declare, within } from '../transactions10.js';

const released = new Released();
const notFailed = new Modified();
const failed = Object.assign(new Modified(), { deliveryFailed: true });

function noted(annotations: Record<string, Value>, deliveryFailed = false): Modified {
  const entries = Object.entries(annotations).map(([key, value]): [Value, Value] => [symbol(key), value]);
  return Object.assign(new Modified(), { deliveryFailed, messageAnnotations: new MapValue(entries) });
}

/** Gives the next delivery back so, and asks for another one. */
async function giveBack(raw: RawClient10, state: DeliveryState, seen: number): Promise<Read> {
  const one = await delivery(raw);
  raw.settle(one.id, state);
  raw.flow({ handle: 1, deliveryCount: seen, linkCredit: 1 });
  return one;
}

function deliveryCount({ view }: Read): number {
  return view.bytes[view.headerEnd - 1]!;
}

function annotation({ view }: Read, name: string): string | undefined {
  const value = view.keptAnnotations().get(name);
  return value instanceof Scalar ? String(value.value) : textOf(value);
}

const counting: readonly Case[] = [
  ...(
    [
      ['released', '§3.4.4', released],
      ['modified without delivery-failed', '§3.4.5', notFailed],
    ] as const
  ).map(([what, source, state]) =>
    sessionRule(`AMQP 1.0 ${source}`, `${what} does not count for x-delivery-limit`, async (raw, client) => {
      const queue = await client.quorumQueue({ 'x-delivery-limit': 1 });
      await client.send(queue, 'a');
      await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
      for (let seen = 1; seen < 5; seen++) {
        const one = await giveBack(raw, state, seen);
        assert.deepEqual([one.redelivered, deliveryCount(one)], [seen > 1, 0]);
      }
      assert.equal((await giveBack(raw, failed, 5)).text, 'a');
      assert.equal(deliveryCount(await giveBack(raw, failed, 6)), 1);
      await client.becomes(queue, 0);
      await raw.works();
      assert.ok(raw.isQuiet);
    }),
  ),
];

const noting: readonly Case[] = [
  sessionRule('AMQP 1.0 §3.4.5', 'what modified notes comes with the next delivery', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    const own = section(
      Descriptor.messageAnnotations,
      new MapValue([
        [symbol('x-a'), '1'],
        [symbol('x-b'), '2'],
      ]),
    );
    raw.transfer(Buffer.concat([own, message('a', { properties: { subject: 's' } })]));
    await raw.expect(Descriptor.disposition);
    await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
    await giveBack(raw, noted({ 'x-b': 'new', 'x-c': 'first' }), 1);
    await giveBack(raw, noted({ 'x-c': 'other' }), 2);
    const last = await delivery(raw);
    assert.deepEqual(
      ['x-a', 'x-b', 'x-c'].map((name) => annotation(last, name)),
      ['1', 'new', 'other'],
    );
    assert.deepEqual([last.text, last.redelivered, last.view.properties()?.subject], ['a', true, 's']);
  }),
  sessionRule('AMQP 1.0 §3.4.5', 'what modified notes is a header for clients of 0-9-1', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    raw.transfer(message('of 1.0'));
    await raw.expect(Descriptor.disposition);
    await client.send(queue, 'of 0-9-1');
    await raw.receiver(`/queues/${queue}`, 2, { handle: 1 });
    for (const text of ['of 1.0', 'of 0-9-1']) {
      const one = await delivery(raw);
      assert.equal(one.text, text);
      raw.settle(one.id, noted({ 'x-note': text }));
    }
    await raw.works();
    for (const text of ['of 1.0', 'of 0-9-1']) {
      const { content, properties } = await client.soon(queue);
      assert.deepEqual([content.toString(), properties.headers?.['x-note']], [text, text]);
    }
  }),
  sessionRule('AMQP 1.0 §3.4.5', 'what modified notes counts, too, if the delivery failed', async (raw, client) => {
    const queue = await client.quorumQueue();
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
    await giveBack(raw, noted({ 'x-note': '1' }, true), 1);
    const again = await delivery(raw);
    assert.deepEqual([annotation(again, 'x-note'), deliveryCount(again)], ['1', 1]);
  }),
  sessionRule('AMQP 1.0 §4.4.2', 'what modified notes in a transaction comes with its commit', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await coordinator(raw);
    const txn = await declare(raw);
    await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
    raw.settle((await delivery(raw)).id, within(txn, noted({ 'x-note': '1' })));
    await commit(raw, txn);
    raw.flow({ handle: 1, deliveryCount: 1, linkCredit: 1 });
    assert.equal(annotation(await delivery(raw), 'x-note'), '1');
  }),
  ...[false, true].map((isTransactional) =>
    sessionRule(
      'limits',
      `more annotations than there may be in modified end the session${isTransactional ? ', in a transaction too' : ''}`,
      async (raw, client) => {
        const queue = await client.queue();
        await client.send(queue, 'a');
        await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
        const { id } = await delivery(raw);
        const state = noted({ 'x-note': 'x'.repeat(20_000) });
        if (isTransactional) {
          await coordinator(raw);
          raw.settle(id, within(await declare(raw), state));
        } else raw.settle(id, state);
        await endsSession(raw, 'amqp:resource-limit-exceeded', /16384/);
        await client.becomes(queue, 1);
      },
    ),
  ),
];

const draining: readonly Case[] = [
  sessionRule('AMQP 1.0 §2.6.7', 'draining gets all there is, however much that is', async (raw, client) => {
    const queue = await client.queue();
    const texts = Array.from({ length: 2500 }, (_, i) => String(i));
    await client.send(queue, ...texts);
    await raw.receiver(`/queues/${queue}`, 0);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 4000, drain: true, incomingWindow: 10_000 });
    for (const text of texts) assert.equal((await delivery(raw)).text, text);
    const flow = await raw.expect(Descriptor.flow);
    assert.deepEqual([flow.deliveryCount, flow.linkCredit, flow.drain], [4000, 0, true]);
  }),
  sessionRule('AMQP 1.0 §2.6.7', 'who is given nothing of what is there is told so, too', async (raw, client) => {
    const queue = await client.queue({ 'x-single-active-consumer': true });
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 0, { handle: 0 });
    await raw.receiver(`/queues/${queue}`, 0, { handle: 1 });
    raw.flow({ handle: 1, deliveryCount: 0, linkCredit: 5, drain: true });
    const flow = await raw.expect(Descriptor.flow);
    assert.deepEqual([flow.handle, flow.deliveryCount, flow.linkCredit], [1, 5, 0]);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 5, drain: true });
    assert.equal((await delivery(raw)).text, 'a');
    assert.equal((await raw.expect(Descriptor.flow)).handle, 0);
  }),
  sessionRule('AMQP 1.0 §2.6.7', 'what was accepted before is there for who drains', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`, { handle: 0 });
    await raw.receiver(`/queues/${queue}`, 0, { handle: 1 });
    for (let round = 0; round < 20; round++) {
      raw.transfer(message(String(round)), { handle: 0 });
      await raw.expect(Descriptor.disposition);
      raw.flow({ handle: 1, deliveryCount: round * 2, linkCredit: 2, drain: true });
      const one = await delivery(raw);
      assert.equal(one.text, String(round));
      raw.settle(one.id, new Accepted());
      assert.equal((await raw.expect(Descriptor.flow)).deliveryCount, round * 2 + 2);
      raw.flow({ handle: 1, deliveryCount: round * 2 + 2, linkCredit: 0 });
    }
  }),
];

export const givingBack10: readonly Case[] = [...counting, ...noting, ...draining];
