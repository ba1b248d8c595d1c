/** Time to live of messages: of the queue, of the message, the shorter one of both. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import { pause, text } from '../client.js';

const source = 'message TTL';
const ttl = 100;
const long = '600000';

export const expiry: readonly Case[] = [
  rule(source, "messages go when the queue's time is over", async (client) => {
    const queue = await client.queue({ 'x-message-ttl': ttl });
    await client.send(queue, 'a', 'b');
    await client.becomes(queue, 0);
  }),
  rule(source, 'a message goes when its own time is over', async (client) => {
    const queue = await client.queue();
    await client.publish('', queue, 'a', { expiration: ttl });
    await client.publish('', queue, 'b');
    await client.becomes(queue, 1);
    assert.deepEqual(await client.drain(queue), ['b']);
  }),
  rule(source, 'of two times the shorter one counts (the queue’s)', async (client) => {
    const queue = await client.queue({ 'x-message-ttl': ttl });
    await client.publish('', queue, 'a', { expiration: long });
    await client.becomes(queue, 0);
  }),
  rule(source, 'of two times the shorter one counts (the message’s)', async (client) => {
    const queue = await client.queue({ 'x-message-ttl': 600_000 });
    await client.publish('', queue, 'a', { expiration: ttl });
    await client.becomes(queue, 0);
  }),
  rule(source, 'a time of 0 in the queue: only who waits gets it', async (client) => {
    const queue = await client.queue({ 'x-message-ttl': 0 });
    await client.send(queue, 'a');
    assert.equal(await client.count(queue), 0);
    const inbox = await client.consume(queue);
    await client.send(queue, 'b');
    assert.deepEqual(await inbox.texts(1), ['b']);
  }),
  rule(source, 'a time of 0 in the message: only who waits gets it', async (client) => {
    const queue = await client.queue();
    await client.publish('', queue, 'a', { expiration: '0' });
    assert.equal(await client.count(queue), 0);
    const inbox = await client.consume(queue);
    await client.publish('', queue, 'b', { expiration: '0' });
    assert.deepEqual(await inbox.texts(1), ['b']);
  }),
  rule(source, 'a consumer gets nothing whose time was over', async (client) => {
    const queue = await client.queue();
    await client.publish('', queue, 'old', { expiration: ttl });
    await client.publish('', queue, 'new');
    await pause(2 * ttl);
    assert.deepEqual(await (await client.consume(queue)).texts(1), ['new']);
  }),
  rule(source, 'what was delivered does not expire, and does so when it is requeued later', async (client) => {
    const queue = await client.queue({ 'x-message-ttl': 5 * ttl });
    await client.send(queue, 'a');
    const message = await client.get(queue);
    await pause(6 * ttl);
    client.requeue(message);
    await client.becomes(queue, 0);
  }),
  rule(source, 'a requeued message keeps the time that it came', async (client) => {
    const queue = await client.queue({ 'x-message-ttl': 20 * ttl });
    await client.send(queue, 'a');
    const from = performance.now();
    await pause(12 * ttl);
    client.requeue(await client.get(queue));
    await client.becomes(queue, 0);
    assert.ok(performance.now() - from < 32 * ttl);
  }),
  rule(source, 'the property expiration stays with a message that has not expired', async (client) => {
    const queue = await client.queue({ 'x-message-ttl': 500_000 });
    await client.publish('', queue, 'a', { expiration: long });
    assert.equal((await client.get(queue)).properties.expiration, long);
  }),
  rule(source, 'messages without a time stay', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await pause(2 * ttl);
    assert.equal(text(await client.get(queue)), 'a');
  }),
];
