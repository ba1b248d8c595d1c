/** A client that is gone without a word: what it held, and what was its own. */
import assert from 'node:assert/strict';
import { BasicGet, ChannelClose, MethodId, TxSelect } from '../../../src/amqp091/codec/index.js';
import { type Case, wireRule } from '../case.js';
import { text } from '../client.js';
import { consume, declareQueue } from '../methods.js';

const source = '§4.2.7';

export const cutOff: readonly Case[] = [
  wireRule(source, 'what a client held that is cut off comes back, flagged, to its place', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, 'a', 'b', 'c');
    for (let i = 0; i < 2; i++) await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.end();
    await client.becomes(queue, 3);
    const messages = [await client.get(queue), await client.get(queue), await client.get(queue)];
    assert.deepEqual(
      messages.map((message) => [text(message), message.fields.redelivered]),
      [
        ['a', true],
        ['b', true],
        ['c', false],
      ],
    );
  }),
  wireRule(source, 'what was delivered to a client that is cut off goes to other consumers', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await wire.call(consume(queue), MethodId.basicConsumeOk);
    await client.send(queue, 'a');
    await wire.raw.expect(MethodId.basicDeliver, 1);
    const inbox = await client.consumer(queue);
    wire.end();
    const message = await inbox.next();
    assert.deepEqual([text(message), message.fields.redelivered], ['a', true]);
  }),
  wireRule(
    source,
    'without acknowledgements nothing comes back from a client that is cut off',
    async (wire, session) => {
      const client = await session.client();
      const queue = await wire.queue();
      await wire.call(consume(queue, { noAck: true }), MethodId.basicConsumeOk);
      await client.send(queue, 'a');
      await wire.raw.expect(MethodId.basicDeliver, 1);
      wire.end();
      await client.until(
        'its consumer is gone',
        async () => (await client.channel.checkQueue(queue)).consumerCount === 0,
      );
      assert.equal(await client.count(queue), 0);
    },
  ),
  wireRule(source, 'exclusive and auto-delete queues of a client that is cut off go', async (wire, session) => {
    const client = await session.client();
    const [exclusive, shared] = [session.name(), session.name()];
    await wire.call(declareQueue(exclusive, { exclusive: true, durable: false }), MethodId.queueDeclareOk);
    await wire.call(declareQueue(shared, { autoDelete: true }), MethodId.queueDeclareOk);
    await wire.call(consume(shared), MethodId.basicConsumeOk);
    wire.end();
    for (const queue of [exclusive, shared])
      await client.until(`${queue} is gone`, async () => !(await client.hasQueue(queue)));
  }),
  wireRule(source, 'what a client published before it was cut off stays', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await wire.selectConfirms();
    wire.publish('', queue, 'a');
    await wire.confirmed(1);
    wire.end();
    assert.equal(text(await client.get(queue)), 'a');
  }),
  wireRule('§1.9', 'a transaction of a client that is cut off is rolled back', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await wire.call(new TxSelect(), MethodId.txSelectOk);
    await client.send(queue, 'held');
    await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.publish('', queue, 'never');
    wire.ack(1);
    await wire.channelWorks();
    wire.end();
    assert.deepEqual(await client.arrived(queue, 1), ['held']);
  }),
  wireRule('§1.5.2.5', 'a channel that is closed gives back what it held', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, 'a');
    await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    await wire.call(new ChannelClose(200, '', 0, 0), MethodId.channelCloseOk);
    assert.deepEqual(await client.arrived(queue, 1), ['a']);
  }),
];
