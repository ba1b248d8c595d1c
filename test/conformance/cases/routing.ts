/** Direct, fanout and default exchanges, bindings between exchanges, alternate exchanges, CC and BCC. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import { type Client, text } from '../client.js';

const e2e = 'exchange to exchange bindings';
const alternate = 'alternate-exchange';
const copies = 'CC, BCC';

async function contents(client: Client, ...queues: string[]): Promise<string[][]> {
  const all = [];
  for (const queue of queues) all.push(await client.drain(queue));
  return all;
}

const basics: readonly Case[] = [
  rule('§3.1.3.1', 'a direct exchange routes by the equal key, byte for byte', async (client) => {
    const exchange = await client.exchange('direct');
    const queue = await client.bound(exchange, 'Key');
    for (const key of ['Key', 'key', 'Key.', 'Ke', '', 'Key.*']) await client.publish(exchange, key, key);
    assert.deepEqual(await client.drain(queue), ['Key']);
  }),
  rule('§3.1.3.1', 'a direct exchange gives a message to all queues bound with its key', async (client) => {
    const exchange = await client.exchange('direct');
    const queues = [
      await client.bound(exchange, 'k'),
      await client.bound(exchange, 'k'),
      await client.bound(exchange, 'l'),
    ];
    await client.publish(exchange, 'k', 'x');
    assert.deepEqual(await contents(client, ...queues), [['x'], ['x'], []]);
  }),
  rule('§3.1.3.1', 'a queue bound with several keys gets what has any of them', async (client) => {
    const exchange = await client.exchange('direct');
    const queue = await client.bound(exchange, 'k');
    await client.bind(queue, exchange, 'l');
    for (const key of ['k', 'l', 'm']) await client.publish(exchange, key, key);
    assert.deepEqual(await client.drain(queue), ['k', 'l']);
  }),
  rule(
    '§3.1.3.2',
    'a fanout exchange gives a message to all its queues, once each, whatever the keys',
    async (client) => {
      const exchange = await client.exchange('fanout');
      const queues = [await client.bound(exchange, 'a'), await client.bound(exchange, 'b')];
      await client.bind(queues[0]!, exchange, 'c');
      await client.publish(exchange, 'z', 'x');
      assert.deepEqual(await contents(client, ...queues), [['x'], ['x']]);
    },
  ),
  rule('§3.1.3.1', 'every queue is bound to the default exchange by its name', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'x');
    assert.equal(text(await client.get(queue)), 'x');
  }),
  rule('§1.7.2.3', 'a binding made twice is one', async (client) => {
    const exchange = await client.exchange('direct');
    const queue = await client.bound(exchange, 'k');
    await client.bind(queue, exchange, 'k');
    await client.publish(exchange, 'k', 'x');
    await client.channel.unbindQueue(queue, exchange, 'k');
    await client.publish(exchange, 'k', 'y');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule('§1.7.2.7', 'a binding goes when exchange, key and arguments are its own', async (client) => {
    const exchange = await client.exchange('direct');
    const queue = await client.queue();
    await client.bind(queue, exchange, 'k', { a: 1 });
    await client.channel.unbindQueue(queue, exchange, 'k', { a: 2 });
    await client.channel.unbindQueue(queue, exchange, 'other', { a: 1 });
    await client.publish(exchange, 'k', 'x');
    await client.channel.unbindQueue(queue, exchange, 'k', { a: 1 });
    await client.publish(exchange, 'k', 'y');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule('§1.7.2.9', 'a mandatory message for a queue that was deleted comes back', async (client) => {
    const queue = await client.queue();
    await client.channel.deleteQueue(queue);
    assert.equal(await client.publish('', queue, 'x', { mandatory: true }), 'ack');
    assert.deepEqual(client.returned.map(text), ['x']);
  }),
  rule('§1.7.2.7', 'unbinding what was not bound succeeds', async (client) => {
    const exchange = await client.exchange('direct');
    const queue = await client.bound(exchange, 'k');
    await client.channel.unbindQueue(queue, exchange, 'other');
    await client.publish(exchange, 'k', 'x');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule('§3.1.2', 'the predeclared exchanges are there, with their types', async (client) => {
    for (const [name, type] of [
      ['amq.direct', 'direct'],
      ['amq.fanout', 'fanout'],
      ['amq.topic', 'topic'],
      ['amq.headers', 'headers'],
      ['amq.match', 'headers'],
    ] as const)
      assert.equal(await client.outcome((channel) => channel.checkExchange(name)), 'done', `${name}, ${type}`);
  }),
  rule('§1.8.3.7', 'a message that no queue gets is dropped, and confirmed', async (client) => {
    const exchange = await client.exchange('direct');
    assert.equal(await client.publish(exchange, 'nowhere', 'x'), 'ack');
  }),
  rule('§1.7.2.9', 'what was routed to a queue that is deleted and made again is gone', async (client) => {
    const exchange = await client.exchange('fanout');
    const queue = await client.bound(exchange);
    await client.publish(exchange, '', 'x');
    await client.channel.deleteQueue(queue);
    await client.channel.assertQueue(queue, { durable: true });
    await client.publish(exchange, '', 'y');
    assert.deepEqual(await client.drain(queue), []);
  }),
];

const between: readonly Case[] = [
  rule(e2e, 'a message goes through an exchange bound to another, by the type of each', async (client) => {
    const first = await client.exchange('topic');
    const second = await client.exchange('direct');
    await client.channel.bindExchange(second, first, 'a.#');
    const queue = await client.bound(second, 'a.b');
    for (const key of ['a.b', 'a.c', 'b']) await client.publish(first, key, key);
    assert.deepEqual(await client.drain(queue), ['a.b']);
  }),
  rule(e2e, 'a queue that is reached in several ways gets a message once', async (client) => {
    const source = await client.exchange('fanout');
    const ways = [await client.exchange('fanout'), await client.exchange('fanout')];
    const queue = await client.bound(source);
    for (const way of ways) {
      await client.channel.bindExchange(way, source, '');
      await client.bind(queue, way);
    }
    await client.publish(source, '', 'once');
    assert.deepEqual(await client.drain(queue), ['once']);
  }),
  rule(e2e, 'a cycle of exchanges ends', async (client) => {
    const names = [await client.exchange('fanout'), await client.exchange('fanout'), await client.exchange('fanout')];
    for (const [i, name] of names.entries()) await client.channel.bindExchange(names[(i + 1) % 3]!, name, '');
    const queue = await client.bound(names[2]!);
    await client.publish(names[0]!, '', 'x');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule(e2e, 'an exchange may be bound to itself', async (client) => {
    const exchange = await client.exchange('fanout');
    await client.channel.bindExchange(exchange, exchange, '');
    const queue = await client.bound(exchange);
    await client.publish(exchange, '', 'x');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule(e2e, 'an unbound exchange gets nothing any more', async (client) => {
    const source = await client.exchange('fanout');
    const target = await client.exchange('fanout');
    await client.channel.bindExchange(target, source, 'k');
    const queue = await client.bound(target);
    await client.publish(source, '', 'x');
    await client.channel.unbindExchange(target, source, 'k');
    await client.publish(source, '', 'y');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule(e2e, 'an internal exchange gets messages from other exchanges', async (client) => {
    const source = await client.exchange('fanout');
    const inner = await client.exchange('direct', {}, { internal: true });
    await client.channel.bindExchange(inner, source, '');
    const queue = await client.bound(inner, 'k');
    await client.publish(source, 'k', 'x');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule(e2e, 'a deleted exchange takes its bindings on both sides with it', async (client) => {
    const [a, b, c] = [
      await client.exchange('fanout'),
      await client.exchange('fanout'),
      await client.exchange('fanout'),
    ];
    await client.channel.bindExchange(b, a, '');
    await client.channel.bindExchange(c, b, '');
    const queue = await client.bound(c);
    await client.channel.deleteExchange(b);
    await client.channel.assertExchange(b, 'fanout');
    await client.publish(a, '', 'x');
    await client.publish(b, '', 'y');
    assert.deepEqual(await client.drain(queue), []);
  }),
  rule(e2e, 'a binding from a headers exchange to another exchange asks for headers', async (client) => {
    const source = await client.exchange('headers');
    const target = await client.exchange('fanout');
    await client.channel.bindExchange(target, source, '', { a: 1 });
    const queue = await client.bound(target);
    for (const a of [1, 2]) await client.publish(source, '', `${a}`, { headers: { a } });
    assert.deepEqual(await client.drain(queue), ['1']);
  }),
];

const alternates: readonly Case[] = [
  rule(alternate, 'what no binding matches goes to the alternate exchange', async (client) => {
    const other = await client.exchange('fanout');
    const exchange = await client.exchange('direct', { 'alternate-exchange': other });
    const queues = [await client.bound(exchange, 'k'), await client.bound(other)];
    for (const key of ['k', 'l']) await client.publish(exchange, key, key);
    assert.deepEqual(await contents(client, ...queues), [['k'], ['l']]);
  }),
  rule(alternate, 'alternates follow one another until one routes', async (client) => {
    const last = await client.exchange('fanout');
    const middle = await client.exchange('direct', { 'alternate-exchange': last });
    const first = await client.exchange('direct', { 'alternate-exchange': middle });
    const queues = [await client.bound(middle, 'k'), await client.bound(last)];
    for (const key of ['k', 'l']) await client.publish(first, key, key);
    assert.deepEqual(await contents(client, ...queues), [['k'], ['l']]);
  }),
  rule(alternate, 'a cycle of alternates ends, and the message counts as not routed', async (client) => {
    const name = client.session.name();
    const first = await client.exchange('direct', { 'alternate-exchange': name });
    await client.channel.assertExchange(name, 'direct', { durable: true, alternateExchange: first });
    await client.publish(first, 'k', 'x', { mandatory: true });
    assert.deepEqual(client.returned.map(text), ['x']);
  }),
  rule(alternate, 'an alternate that is not there drops the message', async (client) => {
    const exchange = await client.exchange('direct', { 'alternate-exchange': client.session.name() });
    assert.equal(await client.publish(exchange, 'k', 'x', { mandatory: true }), 'ack');
    assert.deepEqual(client.returned.map(text), ['x']);
  }),
  rule(alternate, 'a mandatory message that the alternate routes does not come back', async (client) => {
    const other = await client.exchange('fanout');
    const exchange = await client.exchange('direct', { 'alternate-exchange': other });
    const queue = await client.bound(other);
    await client.publish(exchange, 'k', 'x', { mandatory: true });
    assert.deepEqual([client.returned.map(text), await client.drain(queue)], [[], ['x']]);
  }),
  rule(alternate, 'an alternate behind a bound exchange gets what that one does not route', async (client) => {
    const other = await client.exchange('fanout');
    const inner = await client.exchange('direct', { 'alternate-exchange': other });
    const source = await client.exchange('fanout');
    await client.channel.bindExchange(inner, source, '');
    const queue = await client.bound(other);
    await client.publish(source, 'k', 'x');
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule(alternate, 'the exchange and routing key of the message stay those of the publish', async (client) => {
    const other = await client.exchange('fanout');
    const exchange = await client.exchange('direct', { 'alternate-exchange': other });
    const queue = await client.bound(other);
    await client.publish(exchange, 'k', 'x');
    const { fields } = await client.get(queue);
    assert.deepEqual([fields.exchange, fields.routingKey], [exchange, 'k']);
  }),
];

const carbonCopies: readonly Case[] = [
  rule(copies, 'the keys of CC and BCC are routed like the routing key', async (client) => {
    const exchange = await client.exchange('direct');
    const queues = [];
    for (const key of ['k', 'c1', 'c2', 'b1', 'other']) queues.push(await client.bound(exchange, key));
    await client.publish(exchange, 'k', 'x', { CC: ['c1', 'c2'], BCC: ['b1'] });
    assert.deepEqual(await contents(client, ...queues), [['x'], ['x'], ['x'], ['x'], []]);
  }),
  rule(copies, 'CC stays in the headers, BCC is taken out', async (client) => {
    const [to, hidden] = [await client.queue(), await client.queue()];
    await client.publish('', to, 'x', { CC: ['nowhere'], BCC: [hidden] });
    for (const queue of [to, hidden]) {
      const { properties } = await client.get(queue);
      assert.deepEqual(properties.headers, { CC: ['nowhere'] });
    }
  }),
  rule(copies, 'the routing key of copies is that of the publish', async (client) => {
    const [to, copy] = [await client.queue(), await client.queue()];
    await client.publish('', to, 'x', { CC: [copy] });
    assert.equal((await client.get(copy)).fields.routingKey, to);
  }),
  rule(copies, 'a queue that several of the keys reach gets a message once', async (client) => {
    const queue = await client.queue();
    await client.publish('', queue, 'x', { CC: [queue, queue], BCC: [queue] });
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule(copies, 'a mandatory message of which only a copy is routed does not come back', async (client) => {
    const copy = await client.queue();
    await client.publish('', client.session.name(), 'x', { BCC: [copy], mandatory: true });
    assert.deepEqual([client.returned, await client.drain(copy)], [[], ['x']]);
  }),
  rule(copies, 'topic bindings match the keys of CC', async (client) => {
    const exchange = await client.exchange('topic');
    const queue = await client.bound(exchange, 'copy.*');
    await client.publish(exchange, 'to.a', 'x', { CC: ['copy.b'] });
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  ...(['CC', 'BCC'] as const).map((header) =>
    rule(copies, `${header} that is no array is refused with 406`, async (client) => {
      const outcome = await client.outcome(async (channel) => {
        channel.publish('', 'nowhere', Buffer.from('x'), { headers: { [header]: 'text' } });
        await channel.waitForConfirms();
      });
      assert.match(outcome, /^406 PRECONDITION_FAILED - /);
    }),
  ),
  rule(copies, 'entries of CC that are no texts are passed over', async (client) => {
    const [to, copy] = [await client.queue(), await client.queue()];
    await client.publish('', to, 'x', { headers: { CC: [1, copy, true] } });
    assert.deepEqual(await contents(client, to, copy), [['x'], ['x']]);
  }),
];

export const routing: readonly Case[] = [...basics, ...between, ...alternates, ...carbonCopies];
