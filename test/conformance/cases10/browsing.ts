/** Browsing: sources whose distribution-mode is copy (§3.5.7 of the types, §3.5.3). */
import assert from 'node:assert/strict';
import { Descriptor, MapValue, Released, Source } from '../../../src/amqp10/codec/index.js';
import type { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { sessionRule } from '../case10.js';
import { accepted, delivery } from '../messages10.js';
import { filter } from './filters.js';

function copyOf(queue: string, fields: Partial<Source> = {}): Source {
  return Object.assign(new Source(), { address: `/queues/${queue}`, distributionMode: 'copy', ...fields });
}

async function shown(raw: RawClient10, count: number): Promise<string[]> {
  const seen: string[] = [];
  while (seen.length < count) seen.push((await delivery(raw)).text);
  return seen;
}

/** @param channel another one each time */
async function isQuiet(raw: RawClient10, channel: number = 77): Promise<void> {
  await raw.works(channel);
  assert.ok(raw.isQuiet);
}

const abc = ['a', 'b', 'c'];
const copy = 'AMQP 1.0 §3.5.3, distribution-mode copy';

export const browsing10: readonly Case[] = [
  sessionRule(copy, 'a browser sees all there is, in order, and takes nothing', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, ...abc);
    const attach = await raw.receiver('', 10, { source: copyOf(queue) });
    assert.equal(attach.source!.distributionMode, 'copy');
    assert.deepEqual(await shown(raw, 3), abc);
    await isQuiet(raw);
    assert.equal(await client.count(queue), 3);
    assert.deepEqual(await client.drain(queue), abc);
  }),
  sessionRule(copy, 'whatever it says of deliveries has no effect', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, ...abc);
    await raw.receiver('', 10, { source: copyOf(queue) });
    const [a, b, c] = [await delivery(raw), await delivery(raw), await delivery(raw)];
    // Somebody holds one of them meanwhile.
    const held = await client.get(queue);
    raw.settle(a.id, accepted);
    raw.settle(b.id, new Released());
    raw.settle(c.id, accepted);
    await isQuiet(raw);
    client.requeue(held);
    await client.becomes(queue, 3);
    assert.equal((await client.get(queue)).fields.redelivered, true);
  }),
  sessionRule(copy, 'it goes on with new messages', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await raw.receiver('', 10, { source: copyOf(queue) });
    assert.deepEqual(await shown(raw, 1), ['a']);
    await client.send(queue, 'b');
    assert.deepEqual(await shown(raw, 1), ['b']);
    await client.becomes(queue, 2);
  }),
  sessionRule(copy, 'it gets as many as it has credit, and goes on where it was', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, ...abc);
    await raw.receiver('', 2, { source: copyOf(queue) });
    assert.deepEqual(await shown(raw, 2), ['a', 'b']);
    await isQuiet(raw);
    raw.flow({ handle: 0, deliveryCount: 2, linkCredit: 5 });
    assert.deepEqual(await shown(raw, 1), ['c']);
  }),
  sessionRule(copy, 'when it drains it is told that there is no more', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, ...abc);
    await raw.receiver('', 0, { source: copyOf(queue) });
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 10, drain: true });
    assert.deepEqual(await shown(raw, 3), abc);
    const flow = await raw.expect(Descriptor.flow);
    assert.deepEqual([flow.deliveryCount, flow.linkCredit, flow.drain], [10, 0, true]);
  }),
  sessionRule(copy, 'what somebody holds it does not see', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, ...abc);
    await client.get(queue);
    await raw.receiver('', 10, { source: copyOf(queue) });
    assert.deepEqual(await shown(raw, 2), ['b', 'c']);
    await isQuiet(raw);
  }),
  sessionRule(copy, 'with a selector it sees what matches', async (raw, client) => {
    const queue = await client.queue();
    for (const n of [1, 2, 3]) await client.publish('', queue, `n${n}`, { headers: { n } });
    const by = new MapValue([filter(0x468c_0000_0004n, 'n <> 2')]);
    await raw.receiver('', 10, { source: copyOf(queue, { filter: by }) });
    assert.deepEqual(await shown(raw, 2), ['n1', 'n3']);
    await isQuiet(raw);
    assert.equal(await client.count(queue), 3);
  }),
  sessionRule(copy, 'credit that it takes back is not lost for messages', async (raw, client) => {
    const queue = await client.queue();
    await raw.receiver('', 10, { source: copyOf(queue) });
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 0, echo: true });
    await raw.expect(Descriptor.flow);
    await client.send(queue, ...abc);
    await isQuiet(raw);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 10 });
    assert.deepEqual(await shown(raw, 3), abc);
    await isQuiet(raw, 78);
  }),
  sessionRule(copy, 'a large message is shown whole, and stays', async (raw, client) => {
    const queue = await client.queue();
    const large = 'z'.repeat(3_000_000);
    await client.send(queue, large);
    await raw.receiver('', 10, { source: copyOf(queue) });
    const parts: Buffer[] = [];
    for (let more = true; more; ) {
      const { body, payload } = await raw.expectFrame(Descriptor.transfer);
      parts.push(payload);
      more = body.more;
      raw.flow({ nextIncomingId: parts.length, incomingWindow: 1_000 });
    }
    assert.ok(Buffer.concat(parts).length > large.length);
    assert.deepEqual(await client.drain(queue), [large]);
  }),
];
