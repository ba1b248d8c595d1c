/** What costs the connection, what costs a channel only, and what is no error though it may look like one. */
import assert from 'node:assert/strict';
import {
  BasicConsume,
  BasicGet,
  BasicPublish,
  BasicProperties,
  BasicQos,
  BasicRecover,
  ChannelFlow,
  ChannelOpen,
  ConfirmSelect,
  ExchangeDelete,
  ExchangeUnbind,
  type Method,
  MethodId,
  methodName,
  QueueUnbind,
} from '../../../src/amqp091/codec/index.js';
import { type Case, wireRule } from '../case.js';
import { consume, declareExchange, deleteQueue } from '../methods.js';
import { makeThings, refusal, type Row, type Things } from '../refusal.js';

/** What costs the connection. */
const hard: readonly Row[] = [
  {
    code: 503,
    source: '§1.6.2.1',
    what: 'exchange.declare of an unknown type',
    blames: MethodId.exchangeDeclare,
    text: "COMMAND_INVALID - unknown exchange type 'no-such'",
    send: ({ none }) => declareExchange(none, { type: 'no-such' }),
  },
  {
    code: 504,
    source: '§1.5.2.1',
    what: 'channel.open of a channel that is open',
    blames: MethodId.channelOpen,
    text: "CHANNEL_ERROR - second 'channel.open' seen",
    send: () => new ChannelOpen(),
  },
  {
    code: 530,
    source: '§1.8.3.3',
    what: 'basic.consume with a tag that the channel has already',
    blames: MethodId.basicConsume,
    text: "NOT_ALLOWED - attempt to reuse consumer tag 'twice'",
    send: ({ queue }) => [consume(queue, { tag: 'twice' }), consume(queue, { tag: 'twice' })],
  },
  {
    code: 540,
    source: 'immediate is gone',
    what: 'basic.publish with immediate',
    blames: MethodId.basicPublish,
    text: 'NOT_IMPLEMENTED - immediate=true',
    send: ({ wire, queue }) => {
      const publish = new BasicPublish('', queue, false, true);
      wire.raw.frames.methodWithContent(1, publish, new BasicProperties(), Buffer.from('x'));
      wire.raw.sendBytes(Buffer.alloc(0));
      return [];
    },
  },
  {
    code: 540,
    source: 'per-consumer prefetch',
    what: 'basic.qos with a prefetch size',
    blames: MethodId.basicQos,
    text: 'NOT_IMPLEMENTED - prefetch_size!=0',
    send: () => new BasicQos(1, 0, false),
  },
  {
    code: 540,
    source: '§1.8.3.16',
    what: 'basic.recover without requeue',
    blames: MethodId.basicRecover,
    text: 'NOT_IMPLEMENTED - requeue=false',
    send: () => new BasicRecover(false),
  },
];

/** What is no error though it may look like one. */
const tolerated: readonly Case[] = (
  [
    ['queue.delete of a queue that is not there', '§1.7.2.9', MethodId.queueDeleteOk, ({ none }) => deleteQueue(none)],
    [
      'exchange.delete of an exchange that is not there',
      '§1.6.2.3',
      MethodId.exchangeDeleteOk,
      ({ none }) => new ExchangeDelete(none, false, false),
    ],
    [
      'queue.unbind of a queue that is not there',
      '§1.7.2.7',
      MethodId.queueUnbindOk,
      ({ none, exchange }) => new QueueUnbind(none, exchange, '', {}),
    ],
    [
      'queue.unbind from an exchange that is not there',
      '§1.7.2.7',
      MethodId.queueUnbindOk,
      ({ none, queue }) => new QueueUnbind(queue, none, '', {}),
    ],
    [
      'exchange.unbind of exchanges that are not there',
      'exchange to exchange bindings',
      MethodId.exchangeUnbindOk,
      ({ none, exchange }) => new ExchangeUnbind(none, exchange, '', false, {}),
    ],
    ['channel.flow with active', '§1.5.2.3', MethodId.channelFlowOk, () => new ChannelFlow(true)],
    ['basic.qos without limits', '§1.8.3.1', MethodId.basicQosOk, () => new BasicQos(0, 0, false)],
    ['basic.recover of nothing', '§1.8.3.16', MethodId.basicRecoverOk, () => new BasicRecover(true)],
    ['confirm.select', 'publisher confirms', MethodId.confirmSelectOk, () => new ConfirmSelect(false)],
    ['basic.get of an empty queue', '§1.8.3.10', MethodId.basicGetEmpty, ({ queue }) => new BasicGet(queue, false)],
    [
      'basic.consume with no-local',
      'no-local',
      MethodId.basicConsumeOk,
      ({ queue }) => new BasicConsume(queue, '', true, false, false, false, {}),
    ],
  ] as [string, string, Method['id'], (things: Things) => Method][]
).map(([what, source, answer, send]) =>
  wireRule(source, `${what} is answered by ${methodName(answer)}`, async (wire, session) => {
    await wire.call(send(await makeThings(wire, session)), answer);
    await wire.channelWorks();
  }),
);

export const hardErrors: readonly Case[] = [
  ...hard.map((row) => refusal('connection', row)),
  ...tolerated,
  wireRule('§1.5.2.5', 'after an error a channel number is free again', async (wire) => {
    await wire.refusal(new BasicGet('no such queue', false));
    await wire.raw.openChannel(1);
    await wire.channelWorks();
  }),
  wireRule('§1.5.2.5', 'other channels of the connection live on when one is closed for an error', async (wire) => {
    await wire.raw.openChannel(2);
    const queue = await wire.queue();
    await wire.call(consume(queue), MethodId.basicConsumeOk);
    await wire.refusal(new BasicGet('no such queue', false), 2);
    wire.publish('', queue, 'x');
    const { body } = await wire.raw.expect(MethodId.basicDeliver, 1);
    assert.equal(body.toString(), 'x');
  }),
  wireRule('§1.5.2.5', 'what an erring channel had not acknowledged is requeued', async (wire) => {
    const queue = await wire.queue();
    wire.publish('', queue, 'x');
    await wire.raw.openChannel(2);
    await wire.call(consume(queue), MethodId.basicConsumeOk, 2);
    await wire.raw.expect(MethodId.basicDeliver, 2);
    await wire.refusal(new BasicGet('no such queue', false), 2);
    await wire.call(consume(queue), MethodId.basicConsumeOk);
    const { method, body } = await wire.raw.expect(MethodId.basicDeliver, 1);
    assert.deepEqual([body.toString(), method.redelivered], ['x', true]);
  }),
];
