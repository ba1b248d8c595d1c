/** Exchanges that delay messages. RabbitMQ has them as a plugin that its own packages lack: these cases are for ours only. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import { type Client, text } from '../client.js';

const source = 'x-delayed-message';
/** Long enough for what must be done meanwhile, on a busy machine. */
const longMs = 2000;

function delayedExchange(client: Client, type = 'direct'): Promise<string> {
  return client.exchange('x-delayed-message', { 'x-delayed-type': type });
}

/** Publishes with that header. */
async function send(client: Client, exchange: string, key: string, body: string, delay: unknown): Promise<void> {
  assert.equal(await client.publish(exchange, key, body, { headers: { 'x-delay': delay } }), 'ack');
}

const all: readonly Case[] = [
  rule(source, 'a message waits for its x-delay, and goes where the type says then', async (client) => {
    const exchange = await delayedExchange(client, 'topic');
    const queue = await client.bound(exchange, 'a.*');
    const began = performance.now();
    await send(client, exchange, 'a.b', 'late', longMs);
    await send(client, exchange, 'b.b', 'nowhere', 1);
    assert.equal(await client.count(queue), 0);
    await client.becomes(queue, 1);
    assert.ok(performance.now() - began >= longMs - 5);
    assert.equal(text(await client.get(queue)), 'late');
  }),
  rule(source, 'messages go on by time, those of one time as they came', async (client) => {
    const exchange = await delayedExchange(client);
    const queue = await client.bound(exchange, 'k');
    const all = [
      ['c', 600],
      ['a', 200],
      ['d', 600],
      ['b', 400],
    ] as const;
    // Together: what counts is how far apart they come.
    await Promise.all(all.map(([body, delay]) => send(client, exchange, 'k', body, delay)));
    const order = await client.arrived(queue, 4);
    assert.deepEqual(order, ['a', 'b', 'c', 'd']);
  }),
  rule(source, 'without a delay that makes sense a message goes on at once', async (client) => {
    const exchange = await delayedExchange(client);
    const queue = await client.bound(exchange, 'k');
    assert.equal(await client.publish(exchange, 'k', 'none'), 'ack');
    for (const delay of [0, -5, 'soon', true, 2 ** 33]) await send(client, exchange, 'k', String(delay), delay);
    assert.deepEqual(await client.drain(queue), ['none', '0', '-5', 'soon', 'true', '8589934592']);
  }),
  rule(source, 'a delay may be a text of digits, or a float', async (client) => {
    const exchange = await delayedExchange(client);
    const queue = await client.bound(exchange, 'k');
    await send(client, exchange, 'k', 'text', String(longMs));
    await send(client, exchange, 'k', 'float', longMs + 0.75);
    assert.equal(await client.count(queue), 0);
    await client.becomes(queue, 2);
  }),
  rule(source, 'what has waited has its delay negative', async (client) => {
    const exchange = await delayedExchange(client);
    const queue = await client.bound(exchange, 'k');
    await send(client, exchange, 'k', 'x', 50);
    const { headers } = (await client.soon(queue)).properties;
    assert.equal(headers?.['x-delay'], -50);
  }),
  rule(source, 'bindings count as they are when the time has come', async (client) => {
    const exchange = await delayedExchange(client);
    const before = await client.bound(exchange, 'k');
    await send(client, exchange, 'k', 'x', longMs);
    await client.channel.unbindQueue(before, exchange, 'k');
    const after = await client.bound(exchange, 'k');
    await client.becomes(after, 1);
    assert.equal(await client.count(before), 0);
  }),
  rule(source, 'the type that it delays for must be there', async (client) => {
    for (const args of [{}, { 'x-delayed-type': 'nonsense' }]) {
      const outcome = await client.outcome((channel) =>
        channel.assertExchange(client.session.name(), 'x-delayed-message', { arguments: args }),
      );
      assert.match(outcome, /^406 /);
    }
  }),
];

export const delayed: readonly Case[] = all.map((one) => ({ ...one, onlyOurs: true }));
