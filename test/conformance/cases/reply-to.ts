/** Direct reply-to: answers that pass no queue. */
import assert from 'node:assert/strict';
import { BasicCancel, BasicConsume, BasicGet, MethodId } from '../../../src/amqp091/codec/index.js';
import { type Case, rule, wireRule } from '../case.js';
import { text } from '../client.js';
import { consume, declareQueue } from '../methods.js';

const source = 'direct reply-to';
const pseudo = 'amq.rabbitmq.reply-to';

export const replyTo: readonly Case[] = [
  rule(source, 'a reply comes to whoever asked', async (client, session) => {
    const server = await session.client();
    const requests = await server.queue();
    const replies = await client.consume(pseudo, { noAck: true });
    await client.publish('', requests, 'question', { replyTo: pseudo, correlationId: '7' });
    const request = await server.get(requests);
    assert.match(request.properties.replyTo, /^amq\.rabbitmq\.reply-to\../);
    await server.publish('', request.properties.replyTo, 'answer', { correlationId: request.properties.correlationId });
    const reply = await replies.next();
    assert.deepEqual([text(reply), reply.properties.correlationId, reply.fields.exchange], ['answer', '7', '']);
    assert.equal(reply.fields.routingKey, request.properties.replyTo);
  }),
  rule(source, 'several answers come, in order', async (client, session) => {
    const server = await session.client();
    const requests = await server.queue();
    const replies = await client.consume(pseudo, { noAck: true });
    await client.publish('', requests, 'q', { replyTo: pseudo });
    const { properties } = await server.get(requests);
    for (const body of ['1', '2', '3']) await server.publish('', properties.replyTo, body);
    assert.deepEqual(await replies.texts(3), ['1', '2', '3']);
  }),
  rule(source, 'two who ask on two channels get each their own answer', async (client, session) => {
    const server = await session.client();
    const requests = await server.queue();
    const askers = [client, await client.sibling()];
    const inboxes = [];
    for (const [i, asker] of askers.entries()) {
      inboxes.push(await asker.consume(pseudo, { noAck: true }));
      await asker.publish('', requests, String(i), { replyTo: pseudo });
    }
    for (const _ of askers) {
      const request = await server.get(requests);
      await server.publish('', request.properties.replyTo, text(request));
    }
    for (const [i, inbox] of inboxes.entries()) assert.deepEqual(await inbox.texts(1), [String(i)]);
  }),
  rule(source, 'a mandatory answer to somebody who has gone comes back', async (client, session) => {
    const server = await session.client();
    const requests = await server.queue();
    const asker = await client.sibling();
    await asker.consume(pseudo, { noAck: true });
    await asker.publish('', requests, 'q', { replyTo: pseudo });
    const { properties } = await server.get(requests);
    await asker.channel.close();
    await server.publish('', properties.replyTo, 'late', { mandatory: true });
    assert.deepEqual(server.returned.map(text), ['late']);
  }),
  rule(
    source,
    'a mandatory answer comes back, being routed to no queue, and arrives all the same',
    async (client, session) => {
      const server = await session.client();
      const requests = await server.queue();
      const replies = await client.consume(pseudo, { noAck: true });
      await client.publish('', requests, 'q', { replyTo: pseudo });
      const { properties } = await server.get(requests);
      await server.publish('', properties.replyTo, 'a', { mandatory: true });
      assert.deepEqual([await replies.texts(1), server.returned.map(text)], [['a'], ['a']]);
    },
  ),
  rule(
    source,
    'whoever answers may ask whether the other is still there, by a passive declaration',
    async (client, session) => {
      const server = await session.client();
      const requests = await server.queue();
      const asker = await client.sibling();
      await asker.consume(pseudo, { noAck: true });
      await asker.publish('', requests, 'q', { replyTo: pseudo });
      const { properties } = await server.get(requests);
      assert.ok(await server.hasQueue(properties.replyTo));
      await asker.channel.close();
      assert.equal(await server.hasQueue(properties.replyTo), false);
    },
  ),
  rule(source, 'a reply-to that is another name is passed on as it is', async (client) => {
    const queue = await client.queue();
    await client.publish('', queue, 'q', { replyTo: 'some.queue' });
    assert.equal((await client.get(queue)).properties.replyTo, 'some.queue');
  }),
  rule(source, 'an answer to a name that nobody has is dropped, and confirmed', async (client) => {
    assert.equal(await client.publish('', `${pseudo}.nobody`, 'x'), 'ack');
  }),
  wireRule(source, 'the pseudo-queue must be consumed without acknowledgements: else 406', async (wire) => {
    const { of, code, text: why } = await wire.refusal(consume(pseudo));
    assert.deepEqual([of, code], ['channel', 406], why);
  }),
  wireRule(source, 'a second consumer of the pseudo-queue on a channel is refused with 406', async (wire) => {
    const one = new BasicConsume(pseudo, 'a', false, true, false, false, {});
    await wire.call(one, MethodId.basicConsumeOk);
    const { code, text: why } = await wire.refusal(new BasicConsume(pseudo, 'b', false, true, false, false, {}));
    assert.equal(code, 406, why);
  }),
  wireRule(source, 'a request before the consumer is there is refused with 406', async (wire) => {
    wire.publish('', 'some queue', 'q', { replyTo: pseudo });
    const { of, code, text: why } = await wire.closing();
    assert.deepEqual([of, code], ['channel', 406], why);
  }),
  wireRule(source, 'a passive declaration of the pseudo-queue is answered', async (wire) => {
    const { method } = await wire.call(declareQueue(pseudo, { passive: true }), MethodId.queueDeclareOk);
    assert.deepEqual([method.queue, method.messageCount], [pseudo, 0]);
  }),
  wireRule(source, 'the consumer may be cancelled, and be there again', async (wire) => {
    const declare = new BasicConsume(pseudo, 'a', false, true, false, false, {});
    await wire.call(declare, MethodId.basicConsumeOk);
    await wire.call(new BasicCancel('a', false), MethodId.basicCancelOk);
    await wire.call(declare, MethodId.basicConsumeOk);
  }),
  wireRule(source, 'basic.get of the pseudo-queue finds no queue', async (wire) => {
    assert.equal((await wire.refusal(new BasicGet(pseudo, true))).code, 404);
  }),
];
