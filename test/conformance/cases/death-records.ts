/** x-death: what it tells of the way of a dead letter; and ways that lead to where they began. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import { type Arguments, pause } from '../client.js';
import { deaths, into, summary } from '../deaths.js';

const xDeath = 'x-death';
const ttl = 60;

const ways: readonly Case[] = [
  rule(xDeath, 'the newest death comes first, older ones behind it', async (client) => {
    const end = await client.queue();
    const second = await into(client, end);
    const first = await into(client, second, { 'x-message-ttl': ttl });
    await client.send(first, 'x');
    client.reject(await client.soon(second));
    const message = await client.soon(end);
    assert.deepEqual(summary(message), [`${second} rejected 1`, `${first} expired 1`]);
    const { headers = {} } = message.properties;
    assert.deepEqual([headers['x-first-death-queue'], headers['x-first-death-reason']], [first, 'expired']);
  }),
  rule(xDeath, 'deaths in one queue for one reason are counted', async (client) => {
    const retry = client.session.name();
    const work = await into(client, retry);
    await client.channel.assertQueue(retry, {
      durable: true,
      messageTtl: ttl,
      deadLetterExchange: '',
      deadLetterRoutingKey: work,
    });
    await client.send(work, 'x');
    for (let round = 1; round <= 3; round++) {
      const message = await client.soon(work);
      const before = round - 1;
      assert.deepEqual(
        before === 0 ? [] : summary(message),
        before === 0 ? [] : [`${retry} expired ${before}`, `${work} rejected ${before}`],
      );
      client.reject(message);
    }
  }),
  rule(xDeath, 'deaths in one queue for two reasons are two', async (client) => {
    const end = await client.queue();
    const queue = await into(client, end, { 'x-message-ttl': 15 * ttl });
    await client.send(queue, 'x');
    client.reject(await client.get(queue));
    const { content, properties } = await client.soon(end);
    client.channel.publish('', queue, content, { headers: properties.headers as Arguments });
    const again = await client.soon(end);
    assert.deepEqual(summary(again), [`${queue} expired 1`, `${queue} rejected 1`]);
  }),
  rule(xDeath, 'routing keys of a death are those of the publish with its CC', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.publish('', queue, 'x', { CC: ['copy', 'more'], BCC: ['hidden'] });
    client.reject(await client.get(queue));
    assert.deepEqual(deaths(await client.soon(dead))[0]!['routing-keys'], [queue, 'copy', 'more']);
  }),
  rule(xDeath, 'x-death that a client sends is gone on from', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    const death = {
      count: 4,
      reason: 'rejected',
      queue,
      exchange: '',
      'routing-keys': [queue],
      time: { '!': 'timestamp', value: 1 },
    };
    await client.publish('', queue, 'x', { headers: { 'x-death': [death] } });
    client.reject(await client.get(queue));
    assert.deepEqual(summary(await client.soon(dead)), [`${queue} rejected 5`]);
  }),
  rule(
    'cycles of dead letters',
    'a message that comes to a queue again by dying there, nothing rejected between, is dropped',
    async (client) => {
      const [a, b] = [client.session.name(), client.session.name()];
      const args = (other: string) => ({
        durable: true,
        messageTtl: ttl,
        deadLetterExchange: '',
        deadLetterRoutingKey: other,
      });
      await client.channel.assertQueue(a, args(b));
      await client.channel.assertQueue(b, args(a));
      await client.send(a, 'x');
      const counts = async (): Promise<number> => (await client.count(a)) + (await client.count(b));
      await client.until('the message is gone', async () => (await counts()) === 0);
      await pause(3 * ttl);
      assert.equal(await counts(), 0);
    },
  ),
  rule('cycles of dead letters', 'a queue that is its own dead-letter target drops what expires', async (client) => {
    const name = client.session.name();
    await client.channel.assertQueue(name, { messageTtl: ttl, deadLetterExchange: '', deadLetterRoutingKey: name });
    await client.send(name, 'x');
    await client.becomes(name, 0);
    await pause(2 * ttl);
    assert.equal(await client.count(name), 0);
  }),
  rule(
    'cycles of dead letters',
    'a queue that is its own dead-letter target gets back what is rejected',
    async (client) => {
      const name = client.session.name();
      await client.channel.assertQueue(name, { deadLetterExchange: '', deadLetterRoutingKey: name });
      await client.send(name, 'x');
      for (let count = 1; count <= 3; count++) {
        client.reject(await client.soon(name));
        const message = await client.soon(name);
        assert.deepEqual(summary(message), [`${name} rejected ${2 * count - 1}`]);
        client.reject(message);
      }
    },
  ),
  rule('CC, BCC', 'a dead letter whose queue names no key is routed by the keys of CC too', async (client) => {
    const exchange = await client.exchange('direct');
    const queue = await client.queue({ 'x-dead-letter-exchange': exchange });
    const dead = [];
    for (const key of [queue, 'copy', 'other']) dead.push(await client.bound(exchange, key));
    await client.publish('', queue, 'x', { CC: ['copy'] });
    client.reject(await client.get(queue));
    await client.becomes(dead[0]!, 1);
    const counts = [];
    for (const one of dead) counts.push(await client.count(one));
    assert.deepEqual(counts, [1, 1, 0]);
    const { headers = {} } = (await client.get(dead[1]!)).properties;
    assert.deepEqual(headers['CC'], ['copy']);
  }),
  rule('CC, BCC', 'a dead letter whose queue names a key loses CC', async (client) => {
    const [dead, copy] = [await client.queue(), await client.queue()];
    const queue = await into(client, dead);
    await client.publish('', queue, 'x', { CC: [copy] });
    await client.drain(copy);
    client.reject(await client.get(queue));
    const { headers = {} } = (await client.soon(dead)).properties;
    assert.deepEqual([headers['CC'], await client.count(copy)], [undefined, 0]);
  }),
  rule('CC, BCC', 'CC and BCC lead on from one death to the next, up to a queue that names a key', async (client) => {
    const [first, second] = [await client.exchange('direct'), await client.exchange('direct')];
    const queue = await client.queue({ 'x-dead-letter-exchange': first });
    const next = await client.queue({ 'x-dead-letter-exchange': second });
    const named = await client.queue({ 'x-dead-letter-exchange': second, 'x-dead-letter-routing-key': 'named' });
    await client.channel.bindQueue(next, first, queue);
    await client.channel.bindQueue(named, second, 'hidden');
    const ends = [];
    for (const key of ['copy', 'hidden', 'named']) ends.push(await client.bound(second, key));
    await client.publish('', queue, 'x', { CC: ['copy'], BCC: ['hidden'] });
    client.reject(await client.get(queue));
    client.reject(await client.soon(next));
    for (const end of ends.slice(0, 2)) await client.becomes(end, 1);
    client.reject(await client.soon(named));
    const { headers = {} } = (await client.soon(ends[2]!)).properties;
    assert.deepEqual([headers['CC'], headers['BCC']], [undefined, undefined]);
    assert.deepEqual([await client.count(ends[0]!), await client.count(ends[1]!)], [1, 1]);
  }),
];

export const deathRecords: readonly Case[] = ways;
