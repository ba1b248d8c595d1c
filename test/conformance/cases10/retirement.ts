/** Deliveries that are settled in a transaction (§4.4.2), and how transactions end. */
import assert from 'node:assert/strict';
import { Descriptor, Modified, Rejected, Released } from '../../../src/amqp10/codec/index.js';
import type { Case } from '../case.js';
import { endsSession, sessionRule } from '../case10.js';
import { accepted, delivery } from '../messages10.js';
import {
  commit,
  coordinator,
  declare,
  discharge,
  holding,
  post,
  rejection,
  rollback,
  sendDischarge,
  within,
} from '../transactions10.js';

const retiring: readonly Case[] = [
  sessionRule('AMQP 1.0 §4.4.2', 'a delivery leaves its queue with the commit', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const [a, b] = await holding(raw, client, queue, 'a', 'b');
    const txn = await declare(raw);
    raw.settle(a!, within(txn, accepted));
    await commit(raw, txn);
    const other = await declare(raw);
    raw.settle(b!, within(other, accepted));
    await raw.works();
    raw.end();
    await client.becomes(queue, 1);
    assert.deepEqual(await client.drain(queue), ['b']);
  }),
  sessionRule('AMQP 1.0 §4.4.2', 'a delivery that is not settled is settled by the commit', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const [a, b] = await holding(raw, client, queue, 'a', 'b');
    const txn = await declare(raw);
    raw.settle(a!, within(txn, accepted), { last: b, settled: false });
    const id = sendDischarge(raw, txn, false);
    const both = [await raw.expect(Descriptor.disposition), await raw.expect(Descriptor.disposition)];
    const [ours, outcome] = both[0]!.role ? [both[1]!, both[0]!] : [both[0]!, both[1]!];
    assert.deepEqual([ours.role, ours.first, ours.last, ours.settled, ours.state], [false, a, b, true, accepted]);
    assert.deepEqual([outcome.first, outcome.state], [id, accepted]);
    raw.end();
    await client.becomes(queue, 0);
  }),
  sessionRule('AMQP 1.0 §4.4.2', 'after a rollback a delivery is still with its client', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const [a] = await holding(raw, client, queue, 'a');
    const txn = await declare(raw);
    raw.settle(a!, within(txn, accepted), { settled: false });
    await rollback(raw, txn);
    raw.flow({ handle: 1, deliveryCount: 1, linkCredit: 1 });
    await raw.works();
    assert.ok(raw.isQuiet);
    const again = await declare(raw);
    raw.settle(a!, within(again, accepted));
    await commit(raw, again);
    raw.end();
    await client.becomes(queue, 0);
  }),
  sessionRule(
    'AMQP 1.0 §4.4.2',
    'one that its client has settled comes again after a rollback',
    async (raw, client) => {
      const queue = await client.queue();
      await coordinator(raw);
      const [a] = await holding(raw, client, queue, 'a');
      const txn = await declare(raw);
      raw.settle(a!, within(txn, accepted));
      await rollback(raw, txn);
      raw.flow({ handle: 1, deliveryCount: 1, linkCredit: 1 });
      const again = await delivery(raw);
      assert.deepEqual([again.text, again.redelivered], ['a', true]);
    },
  ),
  sessionRule('AMQP 1.0 §4.4.2', 'settling without a state keeps it in its transaction', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const [a] = await holding(raw, client, queue, 'a');
    const txn = await declare(raw);
    raw.settle(a!, within(txn, accepted), { settled: false });
    raw.settle(a!, undefined);
    await commit(raw, txn);
    raw.end();
    await client.becomes(queue, 0);
  }),
  ...(
    [
      ['rejected', new Rejected(), []],
      ['released', new Released(), ['a']],
      ['modified', Object.assign(new Modified(), { deliveryFailed: true }), ['a']],
    ] as const
  ).map(([what, state, left]) =>
    sessionRule('AMQP 1.0 §4.4.2', `${what} in a transaction is done by its commit`, async (raw, client) => {
      const queue = await client.queue();
      await coordinator(raw);
      const [a] = await holding(raw, client, queue, 'a');
      const txn = await declare(raw);
      raw.settle(a!, within(txn, state));
      await raw.works();
      assert.equal(await client.count(queue), 0);
      await commit(raw, txn);
      await client.becomes(queue, left.length);
      assert.deepEqual(await client.drain(queue), left);
    }),
  ),
  sessionRule('AMQP 1.0 §4.4', 'what is taken and what is sent on are one', async (raw, client) => {
    const [from, to] = [await client.queue(), await client.queue()];
    await coordinator(raw);
    const ids = await holding(raw, client, from, 'a', 'b');
    await raw.sender(`/queues/${to}`);
    for (const [i, fails] of [true, false].entries()) {
      const txn = await declare(raw);
      raw.settle(ids[i]!, within(txn, accepted), { settled: false });
      await post(raw, txn, `on ${i}`);
      if (fails) await rollback(raw, txn);
      else {
        sendDischarge(raw, txn, false);
        const roles = [await raw.expect(Descriptor.disposition), await raw.expect(Descriptor.disposition)];
        assert.notEqual(roles[0]!.role, roles[1]!.role);
      }
    }
    raw.end();
    assert.deepEqual(await client.drain(to), ['on 1']);
    await client.becomes(from, 1);
    assert.deepEqual(await client.drain(from), ['a']);
  }),
  sessionRule('AMQP 1.0 §4.4.2', 'two transactions cannot settle one delivery', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const [a] = await holding(raw, client, queue, 'a');
    const [one, other] = [await declare(raw), await declare(raw)];
    raw.settle(a!, within(one, accepted), { settled: false });
    raw.settle(a!, within(other, accepted), { settled: false });
    rejection(await discharge(raw, other), 'amqp:transaction:rollback', /two transactions/);
    sendDischarge(raw, one, false);
    assert.equal((await raw.expect(Descriptor.disposition)).settled, true);
  }),
  sessionRule('AMQP 1.0 §4.4.2', 'a disposition with an id that is not known ends the session', async (raw, client) => {
    const queue = await client.queue();
    const [a] = await holding(raw, client, queue, 'a');
    raw.settle(a!, within(Buffer.from('none'), accepted));
    await endsSession(raw, 'amqp:transaction:unknown-id');
    await client.becomes(queue, 1);
  }),
  sessionRule('AMQP 1.0 §4.4.2', 'a receiver may go before the commit', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const [a, b] = await holding(raw, client, queue, 'a', 'b');
    const txn = await declare(raw);
    raw.settle(a!, within(txn, accepted), { settled: false });
    raw.sendBody(0, '00 53 16 c0 04 02 52 01 41');
    await raw.expect(Descriptor.detach);
    await client.becomes(queue, 1);
    assert.equal(b, a! + 1);
    await commit(raw, txn);
    raw.end();
    assert.deepEqual(await client.drain(queue), ['b']);
  }),
];

const ending: readonly Case[] = [
  ...(
    [
      ['coordinator is detached', '00 53 16 c0 04 02 52 09 41', Descriptor.detach],
      ['session ends', '00 53 17 45', Descriptor.end],
    ] as const
  ).map(([what, frame, answer]) =>
    sessionRule('AMQP 1.0 §4.3', `what is not discharged is rolled back when its ${what}`, async (raw, client) => {
      const [queue, other] = [await client.queue(), await client.queue()];
      await raw.begin(1);
      await coordinator(raw);
      const txn = await declare(raw);
      await client.send(queue, 'a');
      await raw.receiver(`/queues/${queue}`, 1, { handle: 1 }, 1);
      const { id } = await delivery(raw);
      raw.settle(id, within(txn, accepted), {}, 1);
      await raw.sender(`/queues/${other}`);
      await post(raw, txn, 'b');
      raw.sendBody(0, frame);
      await raw.expect(answer);
      raw.flow({ handle: 1, deliveryCount: 1, linkCredit: 1 }, 1);
      assert.equal((await delivery(raw)).text, 'a');
      assert.equal(await client.count(other), 0);
    }),
  ),
  sessionRule('AMQP 1.0 §4.3', 'what is not discharged is rolled back with its connection', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const [a] = await holding(raw, client, queue, 'a');
    const txn = await declare(raw);
    raw.settle(a!, within(txn, accepted));
    await raw.works();
    raw.end();
    await client.becomes(queue, 1);
  }),
  sessionRule('AMQP 1.0 §4.3', 'a session that goes takes what it has settled with it', async (raw, client) => {
    const queue = await client.queue();
    await raw.begin(1);
    await coordinator(raw);
    const txn = await declare(raw);
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 1, { handle: 1 }, 1);
    raw.settle((await delivery(raw)).id, within(txn, accepted), {}, 1);
    raw.sendBody(1, '00 53 17 45');
    await raw.expect(Descriptor.end);
    rejection(await discharge(raw, txn), 'amqp:transaction:rollback', /session ended/);
    await client.becomes(queue, 1);
  }),
];

export const retirement10: readonly Case[] = [...retiring, ...ending];
