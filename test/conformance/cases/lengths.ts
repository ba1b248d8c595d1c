/** Queues with a length, in messages and in bytes, and what is done with what is too much. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';

const max = 'x-max-length';
const maxBytes = 'x-max-length-bytes';
const overflow = 'x-overflow';

export const lengths: readonly Case[] = [
  rule(max, 'the oldest go first', async (client) => {
    const queue = await client.queue({ 'x-max-length': 2 });
    await client.send(queue, 'a', 'b', 'c', 'd');
    assert.deepEqual(await client.drain(queue), ['c', 'd']);
  }),
  rule(max, 'a length of 0 keeps nothing, but who waits gets it', async (client) => {
    const queue = await client.queue({ 'x-max-length': 0 });
    await client.send(queue, 'a');
    assert.equal(await client.count(queue), 0);
    const inbox = await client.consume(queue);
    await client.send(queue, 'b');
    assert.deepEqual(await inbox.texts(1), ['b']);
  }),
  rule(max, 'only what is ready counts', async (client) => {
    const queue = await client.queue({ 'x-max-length': 2 });
    await client.send(queue, 'a', 'b');
    const message = await client.get(queue);
    await client.send(queue, 'c');
    assert.equal(await client.count(queue), 2);
    client.channel.ack(message);
    assert.deepEqual(await client.drain(queue), ['b', 'c']);
  }),
  rule(max, 'what is requeued over the length goes first, being the oldest', async (client) => {
    const queue = await client.queue({ 'x-max-length': 2 });
    await client.send(queue, 'a', 'b');
    const message = await client.get(queue);
    await client.send(queue, 'c');
    client.requeue(message);
    await client.send(queue, 'd');
    await client.becomes(queue, 2);
    assert.deepEqual(await client.drain(queue), ['c', 'd']);
  }),
  rule(max, 'what is dropped was confirmed all the same', async (client) => {
    const queue = await client.queue({ 'x-max-length': 1 });
    await client.send(queue, 'a', 'b', 'c');
    assert.deepEqual(await client.drain(queue), ['c']);
  }),
  rule(maxBytes, 'the oldest go first, bytes of bodies count', async (client) => {
    const queue = await client.queue({ 'x-max-length-bytes': 10 });
    await client.send(queue, 'aaaa', 'bbbb', 'cccc');
    assert.deepEqual(await client.drain(queue), ['bbbb', 'cccc']);
  }),
  rule(maxBytes, 'a message that is larger than all is not kept', async (client) => {
    const queue = await client.queue({ 'x-max-length-bytes': 10 });
    await client.send(queue, 'aaaa', 'b'.repeat(11));
    assert.deepEqual(await client.drain(queue), []);
  }),
  rule(maxBytes, 'as many go as are needed', async (client) => {
    const queue = await client.queue({ 'x-max-length-bytes': 10 });
    await client.send(queue, 'aa', 'bb', 'cc', 'd'.repeat(8));
    assert.deepEqual(await client.drain(queue), ['cc', 'd'.repeat(8)]);
  }),
  rule(maxBytes, 'exactly so many bytes fit', async (client) => {
    const queue = await client.queue({ 'x-max-length-bytes': 10 });
    await client.send(queue, 'aaaaa', 'bbbbb');
    assert.deepEqual(await client.drain(queue), ['aaaaa', 'bbbbb']);
  }),
  rule(maxBytes, 'of two lengths each counts', async (client) => {
    const queue = await client.queue({ 'x-max-length-bytes': 10, 'x-max-length': 2 });
    await client.send(queue, 'a', 'b', 'c');
    assert.equal(await client.count(queue), 2);
    await client.send(queue, 'd'.repeat(10));
    assert.deepEqual(await client.drain(queue), ['d'.repeat(10)]);
  }),
  rule(overflow, 'reject-publish: what is too much is refused by basic.nack, what was there stays', async (client) => {
    const queue = await client.queue({ 'x-max-length': 2, 'x-overflow': 'reject-publish' });
    await client.send(queue, 'a', 'b');
    assert.equal(await client.publish('', queue, 'c'), 'nack');
    assert.deepEqual(await client.drain(queue), ['a', 'b']);
  }),
  rule(overflow, 'reject-publish: when there is room again, messages are taken again', async (client) => {
    const queue = await client.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    await client.send(queue, 'a');
    assert.equal(await client.publish('', queue, 'b'), 'nack');
    await client.drain(queue);
    await client.until('a message is taken', async () => (await client.publish('', queue, 'c')) === 'ack');
    assert.deepEqual(await client.drain(queue), ['c']);
  }),
  rule(
    overflow,
    'reject-publish: one full queue of several is enough for basic.nack, the others get it',
    async (client) => {
      const exchange = await client.exchange('fanout');
      const open = await client.bound(exchange);
      const full = await client.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
      await client.bind(full, exchange);
      await client.publish(exchange, '', 'a');
      assert.equal(await client.publish(exchange, '', 'b'), 'nack');
      assert.deepEqual([await client.drain(open), await client.drain(full)], [['a', 'b'], ['a']]);
    },
  ),
  rule(overflow, 'reject-publish: without confirms what is too much is dropped', async (client) => {
    const queue = await client.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    await client.send(queue, 'a');
    const plain = await client.connection.createChannel();
    plain.sendToQueue(queue, Buffer.from('b'));
    await plain.close();
    assert.deepEqual(await client.drain(queue), ['a']);
  }),
  rule(overflow, 'reject-publish: bytes count too', async (client) => {
    const queue = await client.queue({ 'x-max-length-bytes': 10, 'x-overflow': 'reject-publish' });
    await client.send(queue, 'aaaaa', 'bbbbb');
    assert.equal(await client.publish('', queue, 'c'), 'nack');
    assert.deepEqual(await client.drain(queue), ['aaaaa', 'bbbbb']);
  }),
  rule(overflow, 'reject-publish: nothing refused is dead-lettered', async (client) => {
    const dead = await client.queue();
    const queue = await client.queue({
      'x-max-length': 1,
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
    });
    await client.send(queue, 'a');
    assert.equal(await client.publish('', queue, 'b'), 'nack');
    assert.equal(await client.count(dead), 0);
  }),
  rule(overflow, 'reject-publish-dlx: what is refused is dead-lettered', async (client) => {
    const dead = await client.queue();
    const queue = await client.queue({
      'x-max-length': 1,
      'x-overflow': 'reject-publish-dlx',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
    });
    await client.send(queue, 'a');
    assert.equal(await client.publish('', queue, 'b'), 'nack');
    assert.deepEqual(await client.arrived(dead, 1), ['b']);
    assert.deepEqual(await client.drain(queue), ['a']);
  }),
];
