/** Queues with priorities, and the delivery limit of quorum queues. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import { type Client, text } from '../client.js';

const source = 'x-max-priority';
const limit = 'x-delivery-limit';

async function sendWith(client: Client, queue: string, ...priorities: (number | undefined)[]): Promise<void> {
  for (const [i, priority] of priorities.entries())
    await client.publish('', queue, `${priority ?? '-'}:${i}`, priority === undefined ? {} : { priority });
}

const priorities: readonly Case[] = [
  rule(source, 'higher priorities come first, the same in their order', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 5 });
    await sendWith(client, queue, 1, 3, 2, 3, 1, 5);
    assert.deepEqual(await client.drain(queue), ['5:5', '3:1', '3:3', '2:2', '1:0', '1:4']);
  }),
  rule(source, 'no priority is 0', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 5 });
    await sendWith(client, queue, undefined, 0, 1, undefined);
    assert.deepEqual(await client.drain(queue), ['1:2', '-:0', '0:1', '-:3']);
  }),
  rule(source, 'what is above the highest counts as the highest, and keeps its value', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 2 });
    await sendWith(client, queue, 1, 2, 200, 2);
    assert.deepEqual(await client.drain(queue), ['2:1', '200:2', '2:3', '1:0']);
    await client.publish('', queue, 'x', { priority: 200 });
    assert.equal((await client.get(queue)).properties.priority, 200);
  }),
  rule(source, 'without x-max-priority the priority of a message means nothing', async (client) => {
    const queue = await client.queue();
    await sendWith(client, queue, 1, 9, 5);
    assert.deepEqual(await client.drain(queue), ['1:0', '9:1', '5:2']);
  }),
  rule(source, 'a consumer gets higher priorities first from what waits', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 5 });
    await sendWith(client, queue, 1, 2, 3);
    const inbox = await client.consumer(queue, 1);
    assert.deepEqual(await inbox.acked(3), ['3:2', '2:1', '1:0']);
  }),
  rule(source, 'a requeued message goes back to its place among its priority', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 5 });
    await sendWith(client, queue, 1, 1, 3, 3);
    const messages = [await client.get(queue), await client.get(queue), await client.get(queue)];
    for (const message of messages) client.requeue(message);
    assert.deepEqual(await client.arrived(queue, 4), ['3:2', '3:3', '1:0', '1:1']);
  }),
  rule(source, 'a priority queue of 255 levels works', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 255 });
    await sendWith(client, queue, 0, 255, 128, 254);
    assert.deepEqual(await client.drain(queue), ['255:1', '254:3', '128:2', '0:0']);
  }),
  rule(source, 'over the length the head goes first: the oldest of the highest priority', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 5, 'x-max-length': 3 });
    await sendWith(client, queue, 5, 1, 1, 3);
    assert.deepEqual(await client.drain(queue), ['3:3', '1:1', '1:2']);
  }),
  rule(source, 'messages of each priority expire', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 5, 'x-message-ttl': 100 });
    await sendWith(client, queue, 5, 1, 0);
    await client.becomes(queue, 0);
  }),
];

const limits: readonly Case[] = [
  rule(limit, 'x-delivery-count counts the deliveries before this one, if there were any', async (client) => {
    const queue = await client.quorumQueue();
    await client.send(queue, 'x');
    const inbox = await client.consumer(queue);
    const counts: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      const message = await inbox.next();
      counts.push(message.properties.headers?.['x-delivery-count']);
      inbox.channel.reject(message, true);
    }
    assert.deepEqual(counts, [undefined, 1, 2, 3]);
  }),
  rule(limit, 'a message goes when it was returned more often than the limit', async (client) => {
    const queue = await client.quorumQueue({ 'x-delivery-limit': 2 });
    await client.send(queue, 'x');
    for (let i = 0; i < 3; i++) client.requeue(await client.soon(queue));
    await client.becomes(queue, 0);
    await client.send(queue, 'y');
    assert.equal(text(await client.soon(queue)), 'y');
  }),
  rule(limit, 'without a limit a message may be returned for ever', async (client) => {
    const queue = await client.quorumQueue();
    await client.send(queue, 'x');
    for (let i = 0; i < 25; i++) client.requeue(await client.soon(queue));
    await client.becomes(queue, 1);
  }),
  rule(limit, 'what comes back with its channel counts too', async (client) => {
    const queue = await client.quorumQueue();
    await client.send(queue, 'x');
    const other = await client.sibling();
    await other.soon(queue);
    await other.channel.close();
    const message = await client.soon(queue);
    assert.deepEqual([message.properties.headers?.['x-delivery-count'], message.fields.redelivered], [1, true]);
  }),
  rule(limit, 'a dead letter has no x-delivery-count', async (client) => {
    const dead = await client.queue();
    const queue = await client.quorumQueue({
      'x-delivery-limit': 1,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
    });
    await client.send(queue, 'x');
    for (let i = 0; i < 2; i++) client.requeue(await client.soon(queue));
    assert.equal((await client.soon(dead)).properties.headers?.['x-delivery-count'], undefined);
  }),
];

export const prioritiesAndLimits: readonly Case[] = [...priorities, ...limits];
