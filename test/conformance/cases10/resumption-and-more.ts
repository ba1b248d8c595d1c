/** What links that can be resumed have to do with transactions, filters, what is given back, and draining. */
import assert from 'node:assert/strict';
import {
  type DeliveryState,
  Descriptor,
  MapValue,
  Modified,
  Released,
  symbol,
  textOf,
  type Source,
} from '../../../src/amqp10/codec/index.js';
import type { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { endsSession } from '../case10.js';
import { accepted, delivery, read } from '../messages10.js';
import { commit, coordinator, declare, discharge, post, rejection, within } from '../transactions10.js';
import { selecting } from './filters.js';
import { drop, mapOf, receiver, resumeRule, sender, tagged, tagsOf } from './resumption.js';

const failed = Object.assign(new Modified(), { deliveryFailed: true });

/** What becomes of a delivery, and the broker's word that this is safe. */
async function settleTold(raw: RawClient10, id: number, state: DeliveryState): Promise<void> {
  raw.settle(id, state, { settled: false });
  const told = await raw.expect(Descriptor.disposition);
  assert.deepEqual([told.role, told.first, told.settled], [false, id, true]);
}

function inForce({ source }: { readonly source?: Source | undefined }): [number, string] {
  return [source!.timeout, source!.expiryPolicy];
}

export const resumptionAndMore10: readonly Case[] = [
  resumeRule('§4.4.1', 'what a resumable link sends in a transaction comes with its commit', async (world) => {
    const { queue, connect, client } = world;
    const first = await connect();
    await coordinator(first);
    await sender(first, queue);
    await first.expect(Descriptor.flow);
    const txn = await declare(first);
    assert.equal((await post(first, txn, 'a')).descriptor, Descriptor.accepted);
    assert.equal((await client.channel.checkQueue(queue)).messageCount, 0);
    await commit(first, txn);
    assert.equal((await client.channel.checkQueue(queue)).messageCount, 1);
    const other = await declare(first);
    await post(first, other, 'b');
    await drop(first);
    const second = await connect();
    const known = ['0', '1', '2', '3', '4'].map((tag) => [Buffer.from(tag), null] as const);
    assert.deepEqual(tagsOf(await sender(second, queue, { unsettled: mapOf(known) })), []);
    assert.equal((await client.channel.checkQueue(queue)).messageCount, 1);
  }),
  resumeRule(
    '§4.4.2',
    'a transaction does not settle what a resumable link has, and can only be rolled back',
    async (world) => {
      const { queue, connect, client } = world;
      client.channel.sendToQueue(queue, Buffer.from('a'));
      const raw = await connect();
      await coordinator(raw);
      const txn = await declare(raw);
      await receiver(raw, queue);
      raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 1 });
      const { id } = await delivery(raw);
      raw.settle(id, within(txn, accepted), { settled: false });
      rejection(await discharge(raw, txn), 'amqp:transaction:rollback', /can be resumed/);
      await settleTold(raw, id, accepted);
      await client.becomes(queue, 0);
    },
  ),
  resumeRule('§4.4.2', 'what the client has settled in such a transaction comes again', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const raw = await connect();
    await coordinator(raw);
    const txn = await declare(raw);
    await receiver(raw, queue);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 2 });
    raw.settle((await delivery(raw)).id, within(txn, accepted));
    assert.equal((await delivery(raw)).redelivered, true);
    rejection(await discharge(raw, txn), 'amqp:transaction:rollback');
  }),
  resumeRule('§4.4.2', 'a transaction that is not known ends the session of a resumable link', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const raw = await connect();
    await receiver(raw, queue);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 1 });
    raw.settle((await delivery(raw)).id, within(Buffer.from('none'), accepted));
    await endsSession(raw, 'amqp:transaction:unknown-id');
  }),
  resumeRule('§3.4.4', 'what a resumable link releases does not count for x-delivery-limit', async (world) => {
    const { connect, client } = world;
    const queue = await client.quorumQueue({ 'x-delivery-limit': 1 });
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const raw = await connect();
    await receiver(raw, queue);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 10 });
    for (const state of [new Released(), new Modified(), new Released(), failed, failed])
      await settleTold(raw, (await delivery(raw)).id, state);
    await client.becomes(queue, 0);
    await raw.works();
    assert.ok(raw.isQuiet);
  }),
  resumeRule('§3.4.5', 'what others have noted of a message is there when it is resumed', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const first = await connect();
    await first.receiver(`/queues/${queue}`, 1, { handle: 1 });
    const messageAnnotations = new MapValue([[symbol('x-note'), '1']]);
    first.settle((await delivery(first)).id, Object.assign(new Modified(), { messageAnnotations }));
    await receiver(first, queue);
    first.flow({ handle: 0, deliveryCount: 0, linkCredit: 1 });
    const before = await tagged(first);
    await drop(first);
    const second = await connect();
    await receiver(second, queue, { unsettled: mapOf([[before.tag, null]]) });
    second.flow({ handle: 0, deliveryCount: 0, linkCredit: 1 });
    const after = await tagged(second);
    assert.equal(after.resume, true);
    for (const { payload } of [before, after])
      assert.equal(textOf(read(payload).view.keptAnnotations().get('x-note')), '1');
  }),
  resumeRule('§3.5.3', 'links that browse or have filters are answered with no timeout', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const raw = await connect();
    const chosen = Object.assign(selecting(`/queues/${queue}`, 'missing IS NULL'), { timeout: 60 });
    assert.deepEqual(inForce(await raw.receiver('', 0, { handle: 1, source: chosen })), [0, 'link-detach']);
    const shown = Object.assign(selecting(`/queues/${queue}`, 'TRUE'), {
      timeout: 60,
      filter: undefined,
      distributionMode: 'copy',
    });
    assert.deepEqual(inForce(await raw.receiver('', 1, { source: shown })), [0, 'link-detach']);
    assert.equal((await delivery(raw)).text, 'a');
  }),
  resumeRule('§3.5.3', 'a subscription with a timeout is answered with its own', async (world) => {
    const raw = await world.connect();
    const source = Object.assign(selecting('/exchanges/amq.fanout', 'a = 1'), { timeout: 60 });
    assert.deepEqual(inForce(await raw.receiver('', 0, { source })), [60, 'link-detach']);
  }),
  resumeRule('§2.6.7', 'a resumed link that drains gets what it has and what there is', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const first = await connect();
    await receiver(first, queue);
    first.flow({ handle: 0, deliveryCount: 0, linkCredit: 1 });
    const { tag } = await tagged(first);
    await drop(first);
    client.channel.sendToQueue(queue, Buffer.from('b'));
    await client.becomes(queue, 1);
    const second = await connect();
    await receiver(second, queue, { unsettled: mapOf([[tag, null]]) });
    second.flow({ handle: 0, deliveryCount: 0, linkCredit: 10, drain: true });
    const texts = [(await delivery(second)).text, (await delivery(second)).text];
    assert.deepEqual(texts.sort(), ['a', 'b']);
    const flow = await second.expect(Descriptor.flow);
    assert.deepEqual([flow.deliveryCount, flow.linkCredit, flow.drain], [10, 0, true]);
  }),
];
