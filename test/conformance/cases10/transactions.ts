/** Local transactions (part 4): the coordinator, and what is published in one. */
import assert from 'node:assert/strict';
import {
  Coordinator,
  Declare,
  Descriptor,
  MapValue,
  Source,
  symbol,
  TransactionalState,
} from '../../../src/amqp10/codec/index.js';
import type { Case } from '../case.js';
import { detaches, sessionRule } from '../case10.js';
import { message } from '../messages10.js';
import {
  commit,
  control,
  coordinator,
  declare,
  discharge,
  order,
  post,
  rejection,
  rollback,
  sendDischarge,
  told,
  within,
} from '../transactions10.js';

const controlling: readonly Case[] = [
  sessionRule('AMQP 1.0 §4.1', 'a coordinator says what it can', async (raw) => {
    raw.attachSender(undefined, { target: new Coordinator() });
    const { target } = await raw.expect(Descriptor.attach);
    assert.deepEqual((target as Coordinator).capabilities, [
      'amqp:local-transactions',
      'amqp:multi-txns-per-ssn',
      'amqp:multi-ssns-per-txn',
    ]);
  }),
  sessionRule('AMQP 1.0 §4.2', 'each declare has an id of its own', async (raw) => {
    await coordinator(raw);
    const first = await declare(raw);
    const second = await declare(raw);
    assert.notDeepEqual(first, second);
    await commit(raw, second);
    await commit(raw, first);
  }),
  sessionRule('AMQP 1.0 §4.2', 'a distributed transaction is not begun', async (raw) => {
    await coordinator(raw);
    raw.transfer(order(Object.assign(new Declare(), { globalId: 'x' })), { handle: control });
    await detaches(raw, 'amqp:not-implemented', /global-id/);
  }),
  sessionRule('AMQP 1.0 §4.2', 'what is neither declare nor discharge is rejected', async (raw) => {
    await coordinator(raw);
    rejection((await told(raw, raw.transfer(message('x'), { handle: control }))).state, 'amqp:invalid-field');
    await declare(raw);
  }),
  sessionRule('AMQP 1.0 §4.2', 'a declare that is settled detaches the link', async (raw) => {
    await coordinator(raw);
    raw.transfer(order(new Declare()), { handle: control, settled: true });
    await detaches(raw, 'amqp:not-allowed');
  }),
  sessionRule('AMQP 1.0 §4.2', 'there is a limit of transactions that are not discharged', async (raw) => {
    await coordinator(raw);
    const first = await declare(raw);
    for (let count = 1; count < 64; count++) await declare(raw);
    const { state } = await told(raw, raw.transfer(order(new Declare()), { handle: control }));
    rejection(state, 'amqp:resource-limit-exceeded', /64 transactions/);
    await rollback(raw, first);
    await declare(raw);
  }),
  sessionRule('AMQP 1.0 §4.3', 'an id that is not known is rejected', async (raw) => {
    await coordinator(raw);
    rejection(await discharge(raw, Buffer.from('none')), 'amqp:transaction:unknown-id');
    const txn = await declare(raw);
    await commit(raw, txn);
    rejection(await discharge(raw, txn), 'amqp:transaction:unknown-id');
  }),
  sessionRule('AMQP 1.0 §4.3', 'a client that has no use for rejected learns it from a detach', async (raw) => {
    await coordinator(raw, Object.assign(new Source(), { outcomes: ['amqp:accepted:list'] }));
    sendDischarge(raw, Buffer.from('none'), false);
    await detaches(raw, 'amqp:transaction:unknown-id');
  }),
  sessionRule('AMQP 1.0 §4.4.3', 'acquiring in a transaction is not implemented', async (raw, client) => {
    await coordinator(raw);
    const txn = await declare(raw);
    await raw.receiver(`/queues/${await client.queue()}`, 0, { handle: 1 });
    const properties = new MapValue([[symbol('txn-id'), txn]]);
    raw.flow({ handle: 1, deliveryCount: 0, linkCredit: 1, properties });
    await detaches(raw, 'amqp:not-implemented', /txn-id/);
  }),
];

const posting: readonly Case[] = [
  sessionRule('AMQP 1.0 §4.4.1', 'what is published comes with the commit, and not before', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`);
    const txn = await declare(raw);
    for (const text of ['a', 'b']) assert.equal((await post(raw, txn, text)).descriptor, Descriptor.accepted);
    assert.equal(await client.count(queue), 0);
    await commit(raw, txn);
    assert.deepEqual(await client.drain(queue), ['a', 'b']);
  }),
  sessionRule('AMQP 1.0 §4.4.1', 'what is published never was after a rollback', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`);
    const txn = await declare(raw);
    await post(raw, txn, 'gone');
    await rollback(raw, txn);
    raw.transfer(message('stays'));
    assert.equal((await raw.expect(Descriptor.disposition)).state?.descriptor, Descriptor.accepted);
    assert.deepEqual(await client.drain(queue), ['stays']);
  }),
  sessionRule('AMQP 1.0 §4.4.1', 'a settled transfer is part of it, too', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`);
    const txn = await declare(raw);
    raw.transfer(message('a'), { settled: true, state: within(txn) });
    await raw.works();
    assert.equal(await client.count(queue), 0);
    await commit(raw, txn);
    assert.deepEqual(await client.drain(queue), ['a']);
  }),
  sessionRule('AMQP 1.0 §4.1', 'two transactions of a link are apart', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`);
    const [one, other] = [await declare(raw), await declare(raw)];
    await post(raw, one, 'one');
    await post(raw, other, 'other');
    await commit(raw, other);
    await rollback(raw, one);
    assert.deepEqual(await client.drain(queue), ['other']);
  }),
  sessionRule('AMQP 1.0 §4.1', 'a transaction is over all sessions of its connection', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    const txn = await declare(raw);
    await raw.begin(1);
    await raw.sender(`/queues/${queue}`, {}, 1);
    raw.transfer(message('a'), { deliveryId: 0, state: within(txn) }, 1);
    await told(raw, 0);
    await commit(raw, txn);
    assert.deepEqual(await client.drain(queue), ['a']);
  }),
  sessionRule('AMQP 1.0 §4.4.1', 'what reaches no queue is to be released', async (raw, client) => {
    const exchange = await client.exchange('direct');
    await coordinator(raw);
    await raw.sender(`/exchanges/${exchange}/nowhere`);
    const txn = await declare(raw);
    assert.equal((await post(raw, txn, 'x')).descriptor, Descriptor.released);
    await commit(raw, txn);
  }),
  sessionRule('AMQP 1.0 §4.4.1', 'what was accepted and has no queue any more rolls all back', async (raw, client) => {
    const [queue, other] = [await client.queue(), await client.queue()];
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`, { handle: 0 });
    await raw.sender(`/queues/${other}`, { handle: 1 });
    const txn = await declare(raw);
    await post(raw, txn, 'a', 0);
    await post(raw, txn, 'b', 1);
    await client.channel.deleteQueue(queue);
    rejection(await discharge(raw, txn), 'amqp:transaction:rollback', /reaches no queue/);
    assert.equal(await client.count(other), 0);
  }),
  sessionRule('AMQP 1.0 §4.4.1', 'what is no message is to be rejected', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`);
    const txn = await declare(raw);
    const { state } = await told(raw, raw.transfer(Buffer.from('no message'), { state: within(txn) }));
    rejection((state as TransactionalState).outcome, 'amqp:decode-error');
    await post(raw, txn, 'good');
    await commit(raw, txn);
    assert.deepEqual(await client.drain(queue), ['good']);
  }),
  sessionRule('AMQP 1.0 §4.4.1', 'a transfer with an id that is not known detaches the link', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    raw.transfer(message('x'), { state: within(Buffer.from('none')) });
    await detaches(raw, 'amqp:transaction:unknown-id');
    assert.equal(await client.count(queue), 0);
  }),
  sessionRule('AMQP 1.0 §4.4.1', 'a discharge within a delivery detaches the coordinator', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`);
    const txn = await declare(raw);
    raw.transfer(message('half').slice(0, 5), { more: true, state: within(txn) });
    sendDischarge(raw, txn, false);
    await detaches(raw, 'amqp:transaction:rollback', /in part/);
    assert.equal(await client.count(queue), 0);
  }),
  sessionRule('limits', 'a transaction that is too large can only be rolled back', async (raw, client) => {
    const queue = await client.queue();
    await coordinator(raw);
    await raw.sender(`/queues/${queue}`);
    const txn = await declare(raw);
    const large = 'x'.repeat(128_000);
    let count = 0;
    let outcome = await post(raw, txn, large);
    for (; outcome.descriptor === Descriptor.accepted && count < 200; count++) outcome = await post(raw, txn, large);
    assert.ok(count > 100, `${count} messages`);
    rejection(outcome, 'amqp:transaction:rollback', /bytes/);
    rejection(await discharge(raw, txn), 'amqp:transaction:rollback', /bytes/);
    assert.equal(await client.count(queue), 0);
    const next = await declare(raw);
    await post(raw, next, 'small');
    await commit(raw, next);
    assert.deepEqual(await client.drain(queue), ['small']);
  }),
];

export const transactions10: readonly Case[] = [...controlling, ...posting];
