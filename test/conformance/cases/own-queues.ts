/** What queues do here and not in RabbitMQ: fair shares, rings of priorities, publishers that wait. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import type { Client } from '../client.js';

const shares = 'x-fair-share';
const ring = 'x-overflow: drop-lowest';
const flow = 'x-flow-stop-count';

async function sendWith(client: Client, queue: string, ...priorities: number[]): Promise<void> {
  for (const [i, priority] of priorities.entries()) await client.publish('', queue, `${priority}:${i}`, { priority });
}

/** A connection that publishes, with what it hears of its being blocked. */
function hearing(client: Client): string[] {
  const heard: string[] = [];
  client.connection.on('blocked', (reason) => heard.push(reason));
  client.connection.on('unblocked', () => heard.push(''));
  return heard;
}

/** Fills a queue that stops above two; the publisher is blocked then. */
async function blockedAt(client: Client, queue: string): Promise<string[]> {
  const heard = hearing(client);
  await client.send(queue, 'a', 'b', 'c');
  void client.publish('', queue, 'd');
  void client.publish('', queue, 'e');
  await client.until('it is blocked', async () => heard.length === 1);
  return heard;
}

const all: readonly Case[] = [
  rule(shares, 'a level gives way when its share has gone out', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 2, 'x-fair-share': 1, 'x-fair-share-2': 2 });
    await sendWith(client, queue, 0, 0, 1, 1, 2, 2, 2, 2);
    const order = ['2:4', '2:5', '1:2', '0:0', '2:6', '2:7', '1:3', '0:1'];
    assert.deepEqual(await client.drain(queue), order);
  }),
  rule(shares, 'a share of 0 is no limit', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 1, 'x-fair-share': 1, 'x-fair-share-1': 0 });
    await sendWith(client, queue, 0, 1, 0, 1, 1);
    assert.deepEqual(await client.drain(queue), ['1:1', '1:3', '1:4', '0:0', '0:2']);
  }),
  rule(shares, 'a consumer gets them so, too', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 1, 'x-fair-share': 1 });
    await sendWith(client, queue, 0, 0, 1, 1);
    const inbox = await client.consumer(queue, 1);
    assert.deepEqual(await inbox.acked(4), ['1:2', '0:0', '1:3', '0:1']);
  }),
  rule(shares, 'shares need priorities, and levels that are there', async (client) => {
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ 'x-fair-share': 1 }, /^406 .*'x-fair-share'.*x-max-priority/],
      [{ 'x-max-priority': 2, 'x-fair-share-3': 1 }, /^406 .*'x-fair-share-3'.*highest level is 2/],
      [{ 'x-max-priority': 2, 'x-fair-share-2': -1 }, /^406 .*'x-fair-share-2'.*integer/],
    ];
    for (const [args, wanted] of cases) {
      const name = client.session.name();
      const outcome = await client.outcome((channel) => channel.assertQueue(name, { durable: true, arguments: args }));
      assert.match(outcome, wanted);
    }
  }),
  rule('qpid.priorities', 'levels lie around the priority 5', async (client) => {
    const queue = await client.queue({ 'qpid.priorities': 4 });
    await sendWith(client, queue, 0, 3, 4, 5, 6, 9, 3);
    assert.deepEqual(await client.drain(queue), ['6:4', '9:5', '5:3', '4:2', '0:0', '3:1', '3:6']);
  }),
  rule(ring, 'of too many messages the oldest of the lowest priority goes, the new one too', async (client) => {
    const queue = await client.queue({ 'x-max-priority': 9, 'x-max-length': 3, 'x-overflow': 'drop-lowest' });
    await sendWith(client, queue, 5, 1, 1, 7, 0, 6);
    await client.becomes(queue, 3);
    assert.deepEqual(await client.drain(queue), ['7:3', '6:5', '5:0']);
  }),
  rule(ring, 'without priorities the oldest goes', async (client) => {
    const queue = await client.queue({ 'x-max-length': 2, 'x-overflow': 'drop-lowest' });
    await sendWith(client, queue, 9, 5, 7);
    assert.deepEqual(await client.drain(queue), ['5:1', '7:2']);
  }),
  rule('qpid.policy_type', 'a ring lets go of the lowest, what rejects refuses', async (client) => {
    const lossy = await client.queue({ 'qpid.priorities': 10, 'qpid.max_count': 2, 'qpid.policy_type': 'ring' });
    await sendWith(client, lossy, 5, 1, 7);
    assert.deepEqual(await client.drain(lossy), ['7:2', '5:0']);
    const strict = await client.queue({ 'qpid.max_size': 3, 'qpid.policy_type': 'reject' });
    await client.send(strict, 'abc');
    assert.equal(await client.publish('', strict, 'd'), 'nack');
  }),
  rule(
    flow,
    'who publishes to a queue that is too full is told, and waits until there is room',
    async (client, session) => {
      const consumer = await session.client();
      const queue = await consumer.queue({ 'x-flow-stop-count': 2, 'x-flow-resume-count': 2 });
      const heard = await blockedAt(client, queue);
      assert.deepEqual(heard, [`queue '${queue}' in vhost '/' is full`]);
      for (const body of ['a', 'b', 'c']) {
        assert.equal(heard.length, 1);
        const message = await consumer.get(queue);
        assert.equal(message.content.toString(), body);
        consumer.channel.ack(message);
      }
      await consumer.until('all has come', async () => (await consumer.count(queue)) === 2);
      await consumer.until('it may go on', async () => heard.at(-1) === '');
    },
  ),
  rule(flow, 'what a client holds counts', async (client, session) => {
    const consumer = await session.client();
    const queue = await consumer.queue({ 'x-flow-stop-count': 2 });
    const inbox = await consumer.consume(queue);
    const heard = await blockedAt(client, queue);
    assert.deepEqual(await inbox.texts(3), ['a', 'b', 'c']);
    assert.equal(heard.length, 1);
    consumer.channel.ackAll();
    assert.deepEqual(await inbox.texts(2), ['d', 'e']);
  }),
  rule(flow, 'bytes count as well', async (client, session) => {
    const other = await session.client();
    const queue = await other.queue({ 'x-flow-stop-size': 10, 'x-flow-resume-size': 5 });
    const heard = hearing(client);
    await client.send(queue, 'more than ten');
    void client.publish('', queue, 'x');
    await client.until('it is blocked', async () => heard.length === 1);
    await other.channel.purgeQueue(queue);
    await client.until('it goes on', async () => heard.at(-1) === '');
  }),
  rule(flow, 'other connections, and other queues, are not concerned', async (client, session) => {
    const [publisher, other] = [await session.client(), await session.client()];
    const queue = await client.queue({ 'x-flow-stop-count': 2 });
    const free = await client.queue();
    const heard = hearing(other);
    await blockedAt(publisher, queue);
    await other.send(free, 'a', 'b', 'c', 'd', 'e');
    assert.deepEqual(heard, []);
    await client.channel.deleteQueue(queue);
  }),
  rule(flow, 'the deletion of the queue ends the waiting', async (client, session) => {
    const other = await session.client();
    const queue = await other.queue({ 'x-flow-stop-count': 2 });
    const heard = await blockedAt(client, queue);
    await other.channel.deleteQueue(queue);
    await client.until('it goes on', async () => heard.at(-1) === '');
    await client.queue();
  }),
  rule(flow, 'who consumes from it on the same connection is heard', async (client) => {
    const queue = await client.queue({ 'x-flow-stop-count': 2 });
    const inbox = await client.consumer(queue, 1);
    const sent = Promise.all(Array.from({ length: 100 }, (_, i) => client.publish('', queue, String(i))));
    const came = await inbox.acked(100);
    assert.deepEqual(
      came,
      Array.from({ length: 100 }, (_, i) => String(i)),
    );
    await sent;
  }),
  rule(flow, 'limits that make no sense are refused', async (client) => {
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ 'x-flow-resume-count': 1 }, /^406 .*'x-flow-resume-count'.*it needs 'flow-stop-count'/],
      [{ 'qpid.flow_stop_size': 5, 'qpid.flow_resume_size': 6 }, /^406 .*'qpid.flow_resume_size'.*6 is above/],
      [{ 'x-flow-stop-count': 'many' }, /^406 .*'x-flow-stop-count'.*integer/],
    ];
    for (const [args, wanted] of cases) {
      const name = client.session.name();
      const outcome = await client.outcome((channel) => channel.assertQueue(name, { durable: true, arguments: args }));
      assert.match(outcome, wanted);
    }
  }),
];

export const ownQueues: readonly Case[] = all.map((one) => ({ ...one, onlyOurs: true }));
