/** Dead letters: why messages go there, and as what they arrive. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import { type Arguments, type Client, pause, text } from '../client.js';
import { deaths, into } from '../deaths.js';

const dlx = 'x-dead-letter-exchange';
const ttl = 60;

/** Each way to die: how the queue is declared, how a message is published, and what is done. */
const reasons: readonly {
  reason: string;
  what: string;
  args?: Arguments;
  expiration?: string;
  die?: (client: Client, queue: string) => Promise<void>;
}[] = [
  {
    reason: 'rejected',
    what: 'basic.reject without requeue',
    die: async (client, queue) => client.reject(await client.get(queue)),
  },
  {
    reason: 'rejected',
    what: 'basic.nack without requeue',
    die: async (client, queue) => client.channel.nack(await client.get(queue), false, false),
  },
  { reason: 'expired', what: "the queue's TTL", args: { 'x-message-ttl': ttl } },
  { reason: 'expired', what: 'the TTL of the message', expiration: String(ttl) },
  { reason: 'expired', what: 'a TTL of 0', args: { 'x-message-ttl': 0 } },
  {
    reason: 'maxlen',
    what: 'x-max-length with drop-head',
    args: { 'x-max-length': 1 },
    die: (client, queue) => client.send(queue, 'another'),
  },
  {
    reason: 'maxlen',
    what: 'x-max-length-bytes with drop-head',
    args: { 'x-max-length-bytes': 10 },
    die: (client, queue) => client.send(queue, 'another, 20 bytes long'.slice(0, 10)),
  },
  {
    reason: 'delivery_limit',
    what: 'the delivery limit of a quorum queue',
    args: { 'x-queue-type': 'quorum', 'x-delivery-limit': 1 },
    die: async (client, queue) => {
      for (let i = 0; i < 2; i++) client.requeue(await client.soon(queue));
    },
  },
  {
    reason: 'rejected',
    what: 'basic.reject in a quorum queue',
    args: { 'x-queue-type': 'quorum' },
    die: async (client, queue) => client.reject(await client.soon(queue)),
  },
  {
    reason: 'expired',
    what: 'the TTL of a message in a quorum queue',
    args: { 'x-queue-type': 'quorum' },
    expiration: String(ttl),
  },
];

const byReason = reasons.map(({ reason, what, args = {}, expiration, die }) =>
  rule(dlx, `${what} makes a dead letter, for the reason '${reason}'`, async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead, args);
    const options = expiration === undefined ? {} : { expiration };
    assert.equal(await client.publish('', queue, 'x', { messageId: 'm', ...options }), 'ack');
    await die?.(client, queue);
    const message = await client.soon(dead);
    assert.equal(text(message), 'x');
    const { headers = {}, messageId } = message.properties;
    assert.equal(messageId, 'm');
    const [death, ...others] = deaths(message);
    const { count, queue: from, exchange, 'routing-keys': keys, time } = death!;
    assert.deepEqual(
      { reason: death!.reason, count, from, exchange, keys },
      { reason, count: 1, from: queue, exchange: '', keys: [queue] },
    );
    assert.equal(others.length, 0);
    assert.equal(time['!'], 'timestamp');
    assert.ok(Math.abs(time.value - Date.now() / 1000) < 60, String(time.value));
    assert.equal(death!['original-expiration'], expiration);
    assert.deepEqual(
      [headers['x-first-death-reason'], headers['x-first-death-queue'], headers['x-first-death-exchange']],
      [reason, queue, ''],
    );
  }),
);

const arrivals: readonly Case[] = [
  rule(dlx, 'a dead letter keeps its routing key where the queue names none', async (client) => {
    const exchange = await client.exchange('topic');
    const dead = await client.bound(exchange, '#');
    const source = await client.exchange('direct');
    const queue = await client.queue({ 'x-dead-letter-exchange': exchange });
    await client.bind(queue, source, 'some.key');
    await client.publish(source, 'some.key', 'x');
    client.reject(await client.get(queue));
    const message = await client.soon(dead);
    assert.deepEqual([message.fields.exchange, message.fields.routingKey], [exchange, 'some.key']);
    assert.equal(deaths(message)[0]!.exchange, source);
    assert.deepEqual(deaths(message)[0]!['routing-keys'], ['some.key']);
  }),
  rule('x-dead-letter-routing-key', 'a dead letter gets the routing key that the queue names', async (client) => {
    const exchange = await client.exchange('topic');
    const dead = await client.bound(exchange, 'dead.#');
    const queue = await client.queue({ 'x-dead-letter-exchange': exchange, 'x-dead-letter-routing-key': 'dead.x' });
    await client.send(queue, 'x');
    client.reject(await client.get(queue));
    const message = await client.soon(dead);
    assert.deepEqual([message.fields.exchange, message.fields.routingKey], [exchange, 'dead.x']);
    assert.deepEqual(deaths(message)[0]!['routing-keys'], [queue]);
  }),
  rule(dlx, 'a dead letter keeps its headers and properties', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    const options = { headers: { a: 1 }, correlationId: 'c', contentType: 'text/x', priority: 3, persistent: true };
    await client.publish('', queue, 'x', options);
    client.reject(await client.get(queue));
    const { properties } = await client.soon(dead);
    assert.deepEqual(
      [properties.headers?.['a'], properties.correlationId, properties.contentType, properties.priority],
      [1, 'c', 'text/x', 3],
    );
    assert.equal(properties.deliveryMode, 2);
  }),
  rule(dlx, 'an expired dead letter has no expiration any more', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.publish('', queue, 'x', { expiration: ttl });
    const { properties } = await client.soon(dead);
    assert.equal(properties.expiration, undefined);
    await pause(2 * ttl);
  }),
  rule(dlx, 'a rejected dead letter keeps no expiration either', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.publish('', queue, 'x', { expiration: '60000' });
    client.reject(await client.get(queue));
    const message = await client.soon(dead);
    assert.deepEqual([message.properties.expiration, deaths(message)[0]!['original-expiration']], [undefined, '60000']);
  }),
  rule(dlx, 'a dead letter is not flagged redelivered', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.send(queue, 'x');
    client.reject(await client.get(queue));
    assert.equal((await client.soon(dead)).fields.redelivered, false);
  }),
  rule(dlx, 'a dead letter goes to all queues that the exchange names', async (client) => {
    const exchange = await client.exchange('fanout');
    const dead = [await client.bound(exchange), await client.bound(exchange)];
    const queue = await client.queue({ 'x-dead-letter-exchange': exchange });
    await client.send(queue, 'x');
    client.reject(await client.get(queue));
    for (const one of dead) assert.deepEqual(await client.arrived(one, 1), ['x']);
  }),
  rule(dlx, 'a dead-letter exchange that is not there drops the message', async (client) => {
    const queue = await client.queue({ 'x-dead-letter-exchange': client.session.name() });
    await client.send(queue, 'x', 'y');
    client.reject(await client.get(queue));
    assert.equal(text(await client.get(queue)), 'y');
  }),
  rule(dlx, 'a dead-letter exchange may be declared later', async (client) => {
    const exchange = client.session.name();
    const queue = await client.queue({ 'x-dead-letter-exchange': exchange });
    await client.send(queue, 'x');
    await client.channel.assertExchange(exchange, 'fanout');
    const dead = await client.bound(exchange);
    client.reject(await client.get(queue));
    assert.deepEqual(await client.arrived(dead, 1), ['x']);
  }),
  rule(dlx, 'dead letters of one queue come in the order in which they died', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    const bodies = Array.from({ length: 20 }, (_, i) => String(i));
    await client.send(queue, ...bodies);
    for (const _ of bodies) client.reject(await client.get(queue));
    assert.deepEqual(await client.arrived(dead, 20), bodies);
  }),
  rule(dlx, 'a dead letter that its exchange routes nowhere goes to the alternate exchange', async (client) => {
    const other = await client.exchange('fanout');
    const exchange = await client.exchange('direct', { 'alternate-exchange': other });
    const dead = await client.bound(other);
    const queue = await client.queue({ 'x-dead-letter-exchange': exchange });
    await client.send(queue, 'x');
    client.reject(await client.get(queue));
    assert.deepEqual(await client.arrived(dead, 1), ['x']);
  }),
  rule('x-dead-letter-strategy', 'at-least-once: dead letters of a quorum queue arrive, once', async (client) => {
    const dead = await client.queue();
    const queue = await client.queue({
      'x-queue-type': 'quorum',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    });
    await client.send(queue, 'a', 'b');
    for (let i = 0; i < 2; i++) client.reject(await client.soon(queue));
    assert.deepEqual(await client.arrived(dead, 2), ['a', 'b']);
    assert.equal(await client.count(queue), 0);
  }),
  rule(dlx, 'purged messages are no dead letters', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.send(queue, 'x');
    await client.channel.purgeQueue(queue);
    assert.equal(await client.count(dead), 0);
  }),
  rule(dlx, 'messages of a deleted queue are no dead letters', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.send(queue, 'x');
    await client.channel.deleteQueue(queue);
    assert.equal(await client.count(dead), 0);
  }),
  rule(dlx, 'acknowledged and requeued messages are no dead letters', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.send(queue, 'x', 'y');
    client.channel.ack(await client.get(queue));
    client.requeue(await client.get(queue));
    await client.becomes(queue, 1);
    assert.equal(await client.count(dead), 0);
  }),
  rule(dlx, 'nack with multiple makes a dead letter of each', async (client) => {
    const dead = await client.queue();
    const queue = await into(client, dead);
    await client.send(queue, 'a', 'b', 'c');
    await client.get(queue);
    const second = await client.get(queue);
    client.channel.nack(second, true, false);
    assert.deepEqual(await client.arrived(dead, 2), ['a', 'b']);
  }),
];

export const deadLetters: readonly Case[] = [...byReason, ...arrivals];
