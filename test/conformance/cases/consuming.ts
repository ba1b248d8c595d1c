/** Consumers: order, turns, tags; single active ones, and those with priorities. */
import assert from 'node:assert/strict';
import { BasicCancel, MethodId } from '../../../src/amqp091/codec/index.js';
import { type Case, rule, wireRule } from '../case.js';
import { text } from '../client.js';
import { consume } from '../methods.js';

const single = 'x-single-active-consumer';
const priority = 'x-priority of consumers';

const consumers: readonly Case[] = [
  rule('§3.1.4', 'messages of one publisher come in the order of publishing', async (client) => {
    const queue = await client.queue();
    const inbox = await client.consumer(queue, 20);
    const bodies = Array.from({ length: 200 }, (_, i) => String(i));
    await client.send(queue, ...bodies);
    assert.deepEqual(await inbox.acked(200), bodies);
  }),
  rule('§3.1.5', 'consumers of a queue take turns', async (client) => {
    const queue = await client.queue();
    const inboxes = [
      await client.consumer(queue, 10),
      await client.consumer(queue, 10),
      await client.consumer(queue, 10),
    ];
    await client.send(queue, '1', '2', '3', '4', '5', '6');
    const got = [];
    for (const inbox of inboxes) got.push((await inbox.texts(2)).length);
    assert.deepEqual(got, [2, 2, 2]);
  }),
  rule('§1.8.3.3', 'a consumer without a tag gets one from the broker, amq.ctag-', async (client) => {
    const queue = await client.queue();
    const tags = [(await client.consume(queue)).tag, (await client.consume(queue)).tag];
    for (const tag of tags) assert.match(tag, /^amq\.ctag-/);
    assert.notEqual(tags[0], tags[1]);
  }),
  rule('§1.8.3.3', 'two channels may use one consumer tag', async (client) => {
    const queue = await client.queue();
    await client.consumer(queue, 1, { consumerTag: 'same' });
    await client.consumer(queue, 1, { consumerTag: 'same' });
    assert.equal((await client.channel.checkQueue(queue)).consumerCount, 2);
  }),
  rule('§1.8.3.3', 'a delivery names consumer, exchange and routing key', async (client) => {
    const exchange = await client.exchange('topic');
    const queue = await client.bound(exchange, '#');
    const inbox = await client.consume(queue, { consumerTag: 'mine' });
    await client.publish(exchange, 'a.key', 'x');
    const { fields } = await inbox.next();
    assert.deepEqual([fields.consumerTag, fields.exchange, fields.routingKey], ['mine', exchange, 'a.key']);
  }),
  rule('§1.8.3.3', 'without acknowledgements a delivered message is gone', async (client) => {
    const queue = await client.queue();
    const inbox = await client.consumer(queue, 1, { noAck: true });
    await client.send(queue, 'a', 'b', 'c');
    assert.deepEqual(await inbox.texts(3), ['a', 'b', 'c']);
    await inbox.close();
    assert.equal(await client.count(queue), 0);
  }),
  rule('§1.8.3.3', 'an exclusive consumer makes room for others when it is cancelled', async (client) => {
    const queue = await client.queue();
    const inbox = await client.consume(queue, { exclusive: true });
    await inbox.cancel();
    await client.until(
      'another may consume',
      async () => (await client.outcome((channel) => channel.consume(queue, () => {}))) === 'done',
    );
  }),
  rule('§1.8.3.5', 'after cancel-ok nothing comes, and what is out may still be acknowledged', async (client) => {
    const queue = await client.queue();
    const inbox = await client.consumer(queue, 1);
    await client.send(queue, 'a', 'b');
    const message = await inbox.next();
    await inbox.cancel();
    inbox.channel.ack(message);
    await inbox.silent();
    assert.deepEqual(await client.drain(queue), ['b']);
  }),
  wireRule('§1.8.3.5', 'cancelling a tag that is not known is answered', async (wire) => {
    const { method } = await wire.call(new BasicCancel('nobody', false), MethodId.basicCancelOk);
    assert.equal(method.consumerTag, 'nobody');
  }),
  wireRule('no-local', 'no-local has no effect', async (wire) => {
    const queue = await wire.queue();
    await wire.call(consume(queue, { noLocal: true }), MethodId.basicConsumeOk);
    wire.publish('', queue, 'own');
    const { body } = await wire.raw.expect(MethodId.basicDeliver, 1);
    assert.equal(body.toString(), 'own');
  }),
  rule('§1.7.2.1', 'messages wait for a consumer', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b');
    assert.deepEqual(await (await client.consume(queue)).texts(2), ['a', 'b']);
  }),
];

const actives: readonly Case[] = [
  rule(single, 'only the first consumer gets messages', async (client) => {
    const queue = await client.queue({ 'x-single-active-consumer': true });
    const [first, second] = [await client.consumer(queue, 10), await client.consumer(queue, 10)];
    await client.send(queue, 'a', 'b', 'c');
    assert.deepEqual(await first.texts(3), ['a', 'b', 'c']);
    await second.silent();
  }),
  rule(single, 'the limit of the active consumer does not pass messages on to others', async (client) => {
    const queue = await client.queue({ 'x-single-active-consumer': true });
    const [first, second] = [await client.consumer(queue, 1), await client.consumer(queue, 10)];
    await client.send(queue, 'a', 'b');
    assert.deepEqual(await first.texts(1), ['a']);
    await second.silent();
  }),
  rule(single, 'the next consumer takes over when the active one is cancelled', async (client) => {
    const queue = await client.queue({ 'x-single-active-consumer': true });
    const [first, second, third] = [
      await client.consumer(queue),
      await client.consumer(queue),
      await client.consumer(queue),
    ];
    await client.send(queue, 'a');
    await first.acked(1);
    await first.cancel();
    await client.send(queue, 'b');
    assert.deepEqual(await second.acked(1), ['b']);
    await third.silent();
  }),
  rule(single, 'the next consumer gets what the channel of the active one left', async (client) => {
    const queue = await client.queue({ 'x-single-active-consumer': true });
    const [first, second] = [await client.consumer(queue, 10), await client.consumer(queue, 10)];
    await client.send(queue, 'a', 'b');
    await first.texts(2);
    await first.close();
    const messages = [await second.next(), await second.next()];
    assert.deepEqual(
      messages.map((message) => [text(message), message.fields.redelivered]),
      [
        ['a', true],
        ['b', true],
      ],
    );
  }),
  rule(single, 'the consumer that was there first is active, also when others have gone between', async (client) => {
    const queue = await client.queue({ 'x-single-active-consumer': true });
    const [first, second, third] = [
      await client.consumer(queue),
      await client.consumer(queue),
      await client.consumer(queue),
    ];
    await second.cancel();
    await first.cancel();
    await client.send(queue, 'a');
    assert.deepEqual(await third.texts(1), ['a']);
  }),
  rule(single, 'an exclusive consumer is refused with 403', async (client) => {
    const queue = await client.queue({ 'x-single-active-consumer': true });
    const outcome = await client.outcome((channel) => channel.consume(queue, () => {}, { exclusive: true }));
    assert.match(outcome, /^403 ACCESS_REFUSED - /);
  }),
];

const byPriority: readonly Case[] = [
  rule(priority, 'consumers of a higher priority get messages as long as they take any', async (client) => {
    const queue = await client.queue();
    const low = await client.consumer(queue, 10, { priority: 1 });
    const high = await client.consumer(queue, 2, { priority: 5 });
    await client.send(queue, '1', '2', '3');
    assert.deepEqual(await high.texts(2), ['1', '2']);
    assert.deepEqual(await low.texts(1), ['3']);
  }),
  rule(priority, 'without x-priority a consumer has 0, and negative ones are lower', async (client) => {
    const queue = await client.queue();
    const low = await client.consumer(queue, 10, { priority: -1 });
    const usual = await client.consumer(queue, 1);
    await client.send(queue, '1', '2');
    assert.deepEqual(await usual.texts(1), ['1']);
    assert.deepEqual(await low.texts(1), ['2']);
  }),
  rule(priority, 'consumers of the same priority take turns', async (client) => {
    const queue = await client.queue();
    const low = await client.consumer(queue, 10);
    const high = [await client.consumer(queue, 10, { priority: 5 }), await client.consumer(queue, 10, { priority: 5 })];
    await client.send(queue, '1', '2', '3', '4');
    const got = [];
    for (const inbox of high) got.push((await inbox.texts(2)).length);
    assert.deepEqual(got, [2, 2]);
    await low.silent();
  }),
  rule(priority, 'an x-priority that is no integer is refused with 406', async (client) => {
    const queue = await client.queue();
    const outcome = await client.outcome((channel) =>
      channel.consume(queue, () => {}, { arguments: { 'x-priority': 'high' } }),
    );
    assert.match(outcome, /^406 PRECONDITION_FAILED - /);
  }),
];

export const consuming: readonly Case[] = [...consumers, ...actives, ...byPriority];
