/** Dead letters: why messages go there, as what they arrive, and what x-death tells of their way. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import { type Arguments, type Client, type Message, pause, text } from '../client.js';

const dlx = 'x-dead-letter-exchange';
const xDeath = 'x-death';
const ttl = 60;

interface Death {
  count: number;
  reason: string;
  queue: string;
  exchange: string;
  'routing-keys': string[];
  time: { '!': string; value: number };
  'original-expiration'?: string;
}

function deaths(message: Message): Death[] {
  return message.properties.headers?.['x-death'] as unknown as Death[];
}

function summary(message: Message): string[] {
  return deaths(message).map(({ queue, reason, count }) => `${queue} ${reason} ${count}`);
}

/** A queue whose dead letters go to `dead` by the default exchange. */
function into(client: Client, dead: string, args: Arguments = {}): Promise<string> {
  return client.queue({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead, ...args });
}

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
    const queue = await into(client, end, { 'x-message-ttl': 4 * ttl });
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
    await client.publish('', queue, 'x', { CC: ['copy'] });
    client.reject(await client.get(queue));
    assert.deepEqual(deaths(await client.soon(dead))[0]!['routing-keys'], [queue, 'copy']);
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
  rule('CC, BCC', 'a dead letter whose queue names a key loses CC', async (client) => {
    const [dead, copy] = [await client.queue(), await client.queue()];
    const queue = await into(client, dead);
    await client.publish('', queue, 'x', { CC: [copy] });
    await client.drain(copy);
    client.reject(await client.get(queue));
    const { headers = {} } = (await client.soon(dead)).properties;
    assert.deepEqual([headers['CC'], await client.count(copy)], [undefined, 0]);
  }),
];

export const deadLetters: readonly Case[] = [...byReason, ...arrivals, ...ways];
