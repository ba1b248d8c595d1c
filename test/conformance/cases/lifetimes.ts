/** What ends with what: exclusive and auto-delete queues, auto-delete exchanges, consumers whose queue goes. */
import assert from 'node:assert/strict';
import { MethodId, QueueDelete, ExchangeDelete } from '../../../src/amqp091/codec/index.js';
import { type Case, rule, wireRule } from '../case.js';
import { pause, text } from '../client.js';
import { consume } from '../methods.js';

const notify = 'consumer cancel notification';
const expires = 'x-expires';

const queues: readonly Case[] = [
  rule('§1.7.2.1', 'an exclusive queue goes with its connection', async (client, session) => {
    const owner = await session.client();
    const queue = await owner.queue({}, { exclusive: true, durable: false });
    await owner.connection.close();
    await client.until('the queue is gone', async () => !(await client.hasQueue(queue)));
  }),
  rule('§1.7.2.1', 'an exclusive queue stays when the channel closes on which it was declared', async (client) => {
    const sibling = await client.sibling();
    const queue = await sibling.queue({}, { exclusive: true, durable: false });
    await sibling.channel.close();
    assert.ok(await client.hasQueue(queue));
  }),
  rule('§1.7.2.1', 'other connections may publish to an exclusive queue', async (client, session) => {
    const other = await session.client();
    const queue = await client.queue({}, { exclusive: true, durable: false });
    await other.send(queue, 'x');
    assert.equal(text(await client.get(queue)), 'x');
  }),
  rule('§1.7.2.1', 'an exclusive queue is used by all channels of its connection', async (client) => {
    const queue = await client.queue({}, { exclusive: true, durable: false });
    await client.send(queue, 'x');
    assert.equal(text(await (await client.sibling()).get(queue)), 'x');
  }),
  rule('§1.7.2.1', 'an auto-delete queue goes with its last consumer', async (client) => {
    const queue = await client.queue({}, { autoDelete: true });
    const inboxes = [await client.consume(queue), await client.consume(queue)];
    await inboxes[0]!.cancel();
    assert.ok(await client.hasQueue(queue));
    await inboxes[1]!.cancel();
    await client.until('the queue is gone', async () => !(await client.hasQueue(queue)));
  }),
  rule('§1.7.2.1', 'an auto-delete queue goes when the channel of its last consumer closes', async (client) => {
    const queue = await client.queue({}, { autoDelete: true });
    await (await client.consumer(queue)).close();
    await client.until('the queue is gone', async () => !(await client.hasQueue(queue)));
  }),
  rule(
    '§1.7.2.1',
    'an auto-delete queue goes when the connection of its last consumer ends',
    async (client, session) => {
      const queue = await client.queue({}, { autoDelete: true });
      const other = await session.client();
      await other.consume(queue);
      await other.connection.close();
      await client.until('the queue is gone', async () => !(await client.hasQueue(queue)));
    },
  ),
  rule('§1.7.2.1', 'an auto-delete queue that never had a consumer stays', async (client, session) => {
    const other = await session.client();
    const queue = await other.queue({}, { autoDelete: true });
    await other.send(queue, 'x');
    await other.get(queue);
    await other.connection.close();
    await client.until('the message is back', async () => (await client.count(queue)) === 1);
  }),
  rule('§1.7.2.9', 'delete-ok tells how many messages were ready', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b', 'c');
    await client.get(queue);
    assert.deepEqual(await client.channel.deleteQueue(queue), { messageCount: 2 });
  }),
  rule('§1.7.2.5', 'purge takes what is ready, and leaves what was delivered', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b', 'c');
    const message = await client.get(queue);
    assert.deepEqual(await client.channel.purgeQueue(queue), { messageCount: 2 });
    client.requeue(message);
    assert.deepEqual(await client.arrived(queue, 1), ['a']);
  }),
];

const exchanges: readonly Case[] = [
  rule('auto-delete exchanges', 'an auto-delete exchange goes with its last binding', async (client) => {
    const exchange = await client.exchange('direct', {}, { autoDelete: true });
    const queue = await client.bound(exchange, 'a');
    await client.bind(queue, exchange, 'b');
    await client.channel.unbindQueue(queue, exchange, 'a');
    assert.ok(await client.hasExchange(exchange));
    await client.channel.unbindQueue(queue, exchange, 'b');
    await client.until('the exchange is gone', async () => !(await client.hasExchange(exchange)));
  }),
  rule('auto-delete exchanges', 'an auto-delete exchange goes with its last queue', async (client) => {
    const exchange = await client.exchange('direct', {}, { autoDelete: true });
    const queue = await client.bound(exchange, 'a');
    await client.channel.deleteQueue(queue);
    await client.until('the exchange is gone', async () => !(await client.hasExchange(exchange)));
  }),
  rule('auto-delete exchanges', 'an auto-delete exchange goes with the last exchange bound to it', async (client) => {
    const exchange = await client.exchange('direct', {}, { autoDelete: true });
    const target = await client.exchange('fanout');
    await client.channel.bindExchange(target, exchange, 'a');
    await client.channel.deleteExchange(target);
    await client.until('the exchange is gone', async () => !(await client.hasExchange(exchange)));
  }),
  rule('auto-delete exchanges', 'an auto-delete exchange stays when it is only bound to another', async (client) => {
    const source = await client.exchange('fanout');
    const exchange = await client.exchange('direct', {}, { autoDelete: true });
    await client.channel.bindExchange(exchange, source, '');
    await client.channel.unbindExchange(exchange, source, '');
    assert.ok(await client.hasExchange(exchange));
  }),
  rule('auto-delete exchanges', 'auto-delete exchanges in a row go one after the other', async (client) => {
    const outer = await client.exchange('fanout', {}, { autoDelete: true });
    const inner = await client.exchange('fanout', {}, { autoDelete: true });
    await client.channel.bindExchange(inner, outer, '');
    const queue = await client.bound(inner);
    await client.channel.deleteQueue(queue);
    await client.until(
      'both are gone',
      async () => !(await client.hasExchange(inner)) && !(await client.hasExchange(outer)),
    );
  }),
  wireRule('§1.6.2.3', 'if-unused deletes an exchange that is only bound to another', async (wire, session) => {
    const client = await session.client();
    const [from, exchange] = [await client.exchange('fanout'), await client.exchange('fanout')];
    await client.channel.bindExchange(exchange, from, '');
    await wire.call(new ExchangeDelete(exchange, true, false), MethodId.exchangeDeleteOk);
  }),
  rule('§1.6.2.3', 'a deleted exchange takes its bindings with it, queues stay', async (client) => {
    const exchange = await client.exchange('fanout');
    const queue = await client.bound(exchange);
    await client.channel.deleteExchange(exchange);
    await client.channel.assertExchange(exchange, 'fanout');
    await client.publish(exchange, '', 'x');
    assert.equal(await client.count(queue), 0);
  }),
  wireRule('§1.6.2.3', 'if-unused deletes an exchange without bindings', async (wire, session) => {
    const client = await session.client();
    const exchange = await client.exchange('direct');
    await wire.call(new ExchangeDelete(exchange, true, false), MethodId.exchangeDeleteOk);
    assert.equal(await client.hasExchange(exchange), false);
  }),
];

const cancelled: readonly Case[] = [
  rule(notify, 'consumers are cancelled when their queue is deleted', async (client) => {
    const queue = await client.queue();
    const inboxes = [await client.consume(queue), await client.consumer(queue)];
    await client.channel.deleteQueue(queue);
    for (const inbox of inboxes) await inbox.untilCancelled();
  }),
  wireRule(notify, 'a client without the capability is not told', async (_wire, session) => {
    const wire = await session.wire({ capabilities: {} });
    const queue = await wire.queue();
    await wire.call(consume(queue), MethodId.basicConsumeOk);
    await wire.call(new QueueDelete(queue, false, false, false), MethodId.queueDeleteOk);
    await wire.channelWorks();
  }),
  wireRule(notify, 'the cancellation names the consumer, and wants no answer', async (wire) => {
    const queue = await wire.queue();
    await wire.call(consume(queue, { tag: 'mine' }), MethodId.basicConsumeOk);
    wire.send(new QueueDelete(queue, false, false, false));
    const both = [await wire.raw.next(), await wire.raw.next()].map(({ method }) => method!);
    const cancel = both.find(({ id }) => id === MethodId.basicCancel);
    assert.ok(cancel?.id === MethodId.basicCancel);
    assert.deepEqual([cancel.consumerTag, cancel.noWait], ['mine', true]);
  }),
  rule(notify, 'a consumer tag is free again after the broker has cancelled it', async (client) => {
    const [queue, other] = [await client.queue(), await client.queue()];
    const inbox = await client.consume(queue, { consumerTag: 'mine' });
    await client.channel.deleteQueue(queue);
    await inbox.untilCancelled();
    const again = await client.consume(other, { consumerTag: 'mine' });
    await client.send(other, 'x');
    assert.deepEqual(await again.texts(1), ['x']);
  }),
];

const ttl = 150;

const expiring: readonly Case[] = [
  rule(expires, 'a queue that nobody uses goes after its time', async (client) => {
    const queue = await client.queue({ 'x-expires': ttl });
    await pause(2 * ttl);
    await client.until('the queue is gone', async () => !(await client.hasQueue(queue)));
  }),
  rule(expires, 'a queue with a consumer stays, and goes after its time without', async (client) => {
    const queue = await client.queue({ 'x-expires': ttl });
    const inbox = await client.consume(queue);
    await pause(3 * ttl);
    await client.send(queue, 'x');
    assert.deepEqual(await inbox.acked(1), ['x']);
    await inbox.cancel();
    await pause(2 * ttl);
    await client.until('the queue is gone', async () => !(await client.hasQueue(queue)));
  }),
  ...(
    [
      ['basic.get', (client, queue) => client.channel.get(queue)],
      ['being declared again', (client, queue) => client.channel.assertQueue(queue, { expires: 8 * ttl })],
    ] as [string, (client: import('../client.js').Client, queue: string) => Promise<unknown>][]
  ).map(([what, use]) =>
    rule(expires, `${what} is use: the time begins again`, async (client) => {
      const queue = await client.queue({ 'x-expires': 8 * ttl });
      for (let i = 0; i < 6; i++) {
        await pause(2 * ttl);
        await use(client, queue);
      }
      assert.ok(await client.hasQueue(queue));
    }),
  ),
  rule(expires, 'publishing is no use', async (client) => {
    const queue = await client.queue({ 'x-expires': 2 * ttl });
    const deadline = performance.now() + 6 * ttl;
    let isThere = true;
    while (isThere && performance.now() < deadline) {
      await pause(ttl / 2);
      await client.publish('', queue, 'x', { mandatory: true });
      isThere = client.returned.length === 0;
    }
    assert.equal(isThere, false);
  }),
  rule(expires, 'messages of a queue that goes are not dead-lettered', async (client) => {
    const dead = await client.queue();
    const queue = await client.queue({
      'x-expires': ttl,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
    });
    await client.send(queue, 'x');
    await pause(2 * ttl);
    await client.until('the queue is gone', async () => !(await client.hasQueue(queue)));
    assert.equal(await client.count(dead), 0);
  }),
];

export const lifetimes: readonly Case[] = [...queues, ...exchanges, ...cancelled, ...expiring];
