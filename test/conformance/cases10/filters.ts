/** Filters of sources (§3.5.8), of the kinds that Qpid has registered. */
import assert from 'node:assert/strict';
import {
  Descriptor,
  Described,
  MapValue,
  Released,
  Scalar,
  Source,
  symbol,
  type Value,
} from '../../../src/amqp10/codec/index.js';
import type { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { detaches, sessionRule } from '../case10.js';
import { accepted, delivery, message } from '../messages10.js';

const selectorCode = 0x468c_0000_0004n;

export function filter(code: bigint, value: Value): [Value, Value] {
  return [symbol(`filter-${code}`), new Described(new Scalar('ulong', code), value)];
}

export function filtered(address: string, ...filters: [Value, Value][]): Source {
  return Object.assign(new Source(), { address, filter: new MapValue(filters) });
}

export function selecting(address: string, selector: string): Source {
  return filtered(address, filter(selectorCode, selector));
}

async function texts(raw: RawClient10, count: number): Promise<string[]> {
  const seen: string[] = [];
  while (seen.length < count) {
    const { id, text } = await delivery(raw);
    raw.settle(id, accepted);
    seen.push(text);
  }
  return seen;
}

/** @param channel another one each time */
async function isQuiet(raw: RawClient10, channel: number = 77): Promise<void> {
  await raw.works(channel);
  assert.ok(raw.isQuiet);
}

async function drains(raw: RawClient10, credit: number, deliveryCount = 0): Promise<void> {
  raw.flow({ handle: 0, deliveryCount, linkCredit: credit, drain: true });
}

export const filters10: readonly Case[] = [
  sessionRule(
    'AMQP 1.0 §3.5.8',
    'a filter that is known is in the answer, others are left out',
    async (raw, client) => {
      const queue = await client.queue();
      const known = filter(selectorCode, 'a = 1');
      const source = filtered(`/queues/${queue}`, known, filter(0x1234n, 'x'), [symbol('bare'), 'a = 1']);
      const attach = await raw.receiver('', 0, { source });
      assert.deepEqual(attach.source!.filter, new MapValue([known]));
    },
  ),
  sessionRule('AMQP 1.0 §3.5.8', 'without one that is known the answer has no filters', async (raw, client) => {
    const source = filtered(`/queues/${await client.queue()}`, filter(0x1234n, 'x'));
    assert.equal((await raw.receiver('', 0, { source })).source!.filter, undefined);
  }),
  sessionRule('apache.org:selector-filter:string', 'its descriptor may be a symbol', async (raw, client) => {
    const queue = await client.queue();
    const value = new Described(symbol('apache.org:selector-filter:string'), "kind = 'a'");
    await client.publish('', queue, 'b', { headers: { kind: 'b' } });
    await client.publish('', queue, 'a', { headers: { kind: 'a' } });
    await raw.receiver('', 5, { source: filtered(`/queues/${queue}`, [symbol('s'), value]) });
    assert.deepEqual(await texts(raw, 1), ['a']);
  }),
  sessionRule(
    'apache.org:selector-filter:string',
    'a selector that makes no sense detaches the link',
    async (raw, client) => {
      raw.attachReceiver('', { source: selecting(`/queues/${await client.queue()}`, "a = 'x") });
      assert.equal((await raw.expect(Descriptor.attach)).source, undefined);
      await detaches(raw, 'amqp:invalid-field', /not closed/);
    },
  ),
  sessionRule(
    'apache.org:selector-filter:string',
    'a receiver gets what matches, in order; the rest stays for others, in order',
    async (raw, client) => {
      const queue = await client.queue();
      await raw.sender(`/queues/${queue}`, { handle: 1 });
      for (let i = 0; i < 20; i++) {
        raw.transfer(message(String(i), { application: { n: new Scalar('int', i) } }), { handle: 1, settled: true });
      }
      await client.becomes(queue, 20);
      await raw.receiver('', 100, { source: selecting(`/queues/${queue}`, 'n BETWEEN 5 AND 7 OR n = 15') });
      assert.deepEqual(await texts(raw, 4), ['5', '6', '7', '15']);
      await isQuiet(raw);
      await client.becomes(queue, 16);
      const left = Array.from({ length: 20 }, (_, i) => String(i)).filter((n) => !['5', '6', '7', '15'].includes(n));
      assert.deepEqual(await client.drain(queue), left);
    },
  ),
  sessionRule('apache.org:selector-filter:string', 'messages that come later are chosen too', async (raw, client) => {
    const queue = await client.queue();
    await raw.receiver('', 100, { source: selecting(`/queues/${queue}`, 'n = 2') });
    for (const n of [1, 2, 3, 2]) await client.publish('', queue, `n${n}`, { headers: { n } });
    assert.deepEqual(await texts(raw, 2), ['n2', 'n2']);
    await isQuiet(raw);
    await client.becomes(queue, 2);
  }),
  sessionRule(
    'apache.org:selector-filter:string',
    "of a message of 0-9-1 it sees the headers, and JMS's names",
    async (raw, client) => {
      const queue = await client.queue();
      const matching = { messageId: 'm', priority: 7, headers: { kind: 'a', size: 5 }, persistent: true };
      await client.publish('', queue, 'no', { ...matching, priority: 3 });
      await client.publish('', queue, 'yes', matching);
      const selector = "JMSMessageID = 'm' AND JMSPriority > 5 AND kind LIKE 'a%' AND size + 1 = 6";
      const source = selecting(`/queues/${queue}`, `${selector} AND JMSDeliveryMode = 'PERSISTENT'`);
      await raw.receiver('', 5, { source });
      assert.deepEqual(await texts(raw, 1), ['yes']);
      await isQuiet(raw);
    },
  ),
  sessionRule(
    'apache.org:selector-filter:string',
    'of a message of 1.0 it sees the properties',
    async (raw, client) => {
      const queue = await client.queue();
      await raw.sender(`/queues/${queue}`, { handle: 1 });
      const properties = { subject: 'kind', messageId: 'm', correlationId: new Scalar('ulong', 5n) };
      raw.transfer(message('no', { properties: { subject: 'other' } }), { handle: 1, settled: true });
      raw.transfer(message('yes', { properties, header: { priority: 6, durable: false } }), {
        handle: 1,
        settled: true,
      });
      await client.becomes(queue, 2);
      const selector = "JMSType = 'kind' AND JMSMessageID = 'm' AND JMSCorrelationID = 5 AND JMSPriority = 6";
      const source = selecting(`/queues/${queue}`, `${selector} AND JMSDeliveryMode = 'NON_PERSISTENT'`);
      await raw.receiver('', 5, { source });
      assert.deepEqual(await texts(raw, 1), ['yes']);
      await isQuiet(raw);
    },
  ),
  sessionRule(
    'apache.org:selector-filter:string',
    'what is released is offered again, to whoever it matches, and before what follows',
    async (raw, client) => {
      const queue = await client.queue();
      for (const n of [1, 2, 3]) await client.publish('', queue, `n${n}`, { headers: { n } });
      await raw.receiver('', 1, { source: selecting(`/queues/${queue}`, 'n > 1') });
      const first = await delivery(raw);
      assert.deepEqual([first.text, first.redelivered], ['n2', false]);
      raw.settle(first.id, new Released());
      raw.flow({ handle: 0, deliveryCount: 1, linkCredit: 2 });
      const again = await delivery(raw);
      assert.deepEqual([again.text, again.redelivered], ['n2', true]);
      assert.equal((await delivery(raw)).text, 'n3');
    },
  ),
  sessionRule(
    'apache.org:selector-filter:string',
    'what another consumer gives back is looked at again',
    async (raw, client) => {
      const queue = await client.queue();
      await client.publish('', queue, 'a', { headers: { n: 2 } });
      await client.publish('', queue, 'b', { headers: { n: 2 } });
      const held = await client.get(queue);
      await raw.receiver('', 5, { source: selecting(`/queues/${queue}`, 'n = 2') });
      assert.deepEqual(await texts(raw, 1), ['b']);
      await isQuiet(raw);
      client.requeue(held);
      assert.deepEqual(await texts(raw, 1), ['a']);
    },
  ),
  sessionRule(
    'AMQP 1.0 §2.6.7',
    'a receiver with a selector that drains gets all that matches',
    async (raw, client) => {
      const queue = await client.queue();
      for (let n = 0; n < 50; n++) await client.publish('', queue, `n${n}`, { headers: { n } });
      await raw.receiver('', 0, { source: selecting(`/queues/${queue}`, 'n >= 48') });
      await drains(raw, 5);
      assert.deepEqual(await texts(raw, 2), ['n48', 'n49']);
      const flow = await raw.expect(Descriptor.flow);
      assert.deepEqual([flow.deliveryCount, flow.linkCredit], [5, 0]);
    },
  ),
  sessionRule(
    'apache.org:selector-filter:string',
    'priorities count for who chooses, too; others get the rest',
    async (raw, client) => {
      const queue = await client.queue({ 'x-max-priority': 9 });
      for (const priority of [1, 9, 5]) {
        await client.publish('', queue, `yes${priority}`, { priority, headers: { n: 1 } });
        await client.publish('', queue, `no${priority}`, { priority, headers: { n: 2 } });
      }
      await raw.receiver('', 5, { source: selecting(`/queues/${queue}`, 'n = 1') });
      assert.deepEqual(await texts(raw, 3), ['yes9', 'yes5', 'yes1']);
      await client.becomes(queue, 3);
      assert.deepEqual(await client.drain(queue), ['no9', 'no5', 'no1']);
    },
  ),
  sessionRule(
    'apache.org:selector-filter:string',
    'from an exchange, what does not match is kept for nobody',
    async (raw, client) => {
      const exchange = await client.exchange('topic');
      await raw.receiver('', 5, { source: selecting(`/exchanges/${exchange}/a.%23`.replace('%23', '#'), 'n = 2') });
      for (const n of [1, 2, 3]) await client.publish(exchange, 'a.b', `n${n}`, { headers: { n } });
      assert.deepEqual(await texts(raw, 1), ['n2']);
      await drains(raw, 4, 1);
      const flow = await raw.expect(Descriptor.flow);
      assert.equal(flow.linkCredit, 0);
    },
  ),
  sessionRule('x-group-key', 'a filter on a queue with message groups is refused', async (raw, client) => {
    const queue = await client.queue({ 'x-group-key': 'g' });
    raw.attachReceiver('', { source: selecting(`/queues/${queue}`, 'n = 1') });
    await raw.expect(Descriptor.attach);
    await detaches(raw, 'amqp:not-implemented', /x-group-key/);
  }),
  sessionRule(
    'apache.org:legacy-amqp-topic-binding:string',
    'a pattern that is longer than any routing key is refused',
    async (raw, client) => {
      const pattern = filter(0x468c_0000_0001n, '#.a.'.repeat(100));
      raw.attachReceiver('', { source: filtered(`/queues/${await client.queue()}`, pattern) });
      await raw.expect(Descriptor.attach);
      await detaches(raw, 'amqp:invalid-field', /255 bytes/);
    },
  ),
  sessionRule(
    'apache.org:legacy-amqp-topic-binding:string',
    'a subject that is longer than any routing key matches no pattern',
    async (raw, client) => {
      const queue = await client.queue();
      await raw.sender(`/queues/${queue}`, { handle: 1 });
      for (const subject of ['a.'.repeat(50_000), 'a.b'])
        raw.transfer(message(subject.slice(0, 3), { properties: { subject } }), { handle: 1, settled: true });
      const source = filtered(`/queues/${queue}`, filter(0x468c_0000_0001n, '#'));
      await raw.receiver('', 5, { source });
      raw.transfer(message('last', { properties: { subject: '' } }), { handle: 1, settled: true });
      assert.deepEqual(await texts(raw, 2), ['a.b', 'last']);
    },
  ),
  sessionRule(
    'apache.org:legacy-amqp-topic-binding:string',
    'it is the key of the binding to a topic exchange, and chooses by subject in a queue',
    async (raw, client) => {
      const exchange = await client.exchange('topic');
      await raw.receiver('', 5, { source: filtered(exchange, filter(0x468c_0000_0001n, 'a.*')) });
      await client.publish(exchange, 'b.x', 'no');
      await client.publish(exchange, 'a.x', 'yes');
      assert.deepEqual(await texts(raw, 1), ['yes']);
      await isQuiet(raw);
      const queue = await client.bound(exchange, '#');
      await client.publish(exchange, 'b.x', 'not here');
      await client.publish(exchange, 'a.y', 'both');
      assert.deepEqual(await texts(raw, 1), ['both']);
      await raw.receiver('', 5, { handle: 1, source: filtered(queue, filter(0x468c_0000_0001n, '#.y')) });
      assert.deepEqual(await texts(raw, 1), ['both']);
      await isQuiet(raw, 78);
      assert.deepEqual(await client.drain(queue), ['not here']);
    },
  ),
  sessionRule(
    'apache.org:legacy-amqp-direct-binding:string',
    'it is the key of the binding to a direct exchange, and chooses by subject in a queue',
    async (raw, client) => {
      const exchange = await client.exchange('direct');
      await raw.receiver('', 5, { source: filtered(exchange, filter(0x468c_0000_0000n, 'a')) });
      await client.publish(exchange, 'b', 'no');
      await client.publish(exchange, 'a', 'yes');
      assert.deepEqual(await texts(raw, 1), ['yes']);
      const queue = await client.queue();
      await raw.sender(`/queues/${queue}`, { handle: 1 });
      for (const subject of ['b', 'a'])
        raw.transfer(message(subject, { properties: { subject } }), { handle: 1, settled: true });
      await raw.receiver('', 5, { handle: 2, source: filtered(queue, filter(0x468c_0000_0000n, 'a')) });
      assert.deepEqual(await texts(raw, 1), ['a']);
      await isQuiet(raw);
    },
  ),
  sessionRule(
    'apache.org:legacy-amqp-headers-binding:map',
    'it is the binding to a headers exchange, and chooses by headers in a queue',
    async (raw, client) => {
      const exchange = await client.exchange('headers');
      const wanted = new MapValue([
        [symbol('x-match'), 'all'],
        ['kind', 'blue'],
        ['size', new Scalar('int', 3)],
      ]);
      const by = filter(0x468c_0000_0002n, wanted);
      const queue = await client.queue();
      await raw.receiver('', 5, { source: filtered(exchange, by) });
      for (const to of [exchange, ''] as const) {
        await client.publish(to, queue, 'no', { headers: { kind: 'red', size: 3 } });
        await client.publish(to, queue, 'yes', { headers: { kind: 'blue', size: 3 } });
      }
      assert.deepEqual(await texts(raw, 1), ['yes']);
      await isQuiet(raw);
      await raw.receiver('', 5, { handle: 1, source: filtered(queue, by) });
      assert.deepEqual(await texts(raw, 1), ['yes']);
      await isQuiet(raw, 78);
    },
  ),
];
