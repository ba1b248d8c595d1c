/** What is refused, with which code, and whether it costs the channel or the connection. */
import assert from 'node:assert/strict';
import {
  BasicAck,
  BasicConsume,
  BasicGet,
  BasicNack,
  BasicPublish,
  BasicProperties,
  BasicQos,
  BasicRecover,
  BasicReject,
  ChannelFlow,
  ChannelOpen,
  ConfirmSelect,
  ExchangeDelete,
  ExchangeUnbind,
  type Method,
  MethodId,
  methodName,
  QueueBind,
  QueuePurge,
  QueueUnbind,
  TxCommit,
  TxRollback,
  TxSelect,
} from '../../../src/amqp091/codec/index.js';
import { type Case, wireRule } from '../case.js';
import { bindExchange, consume, declareExchange, declareQueue, deleteQueue } from '../methods.js';
import { assertBlamed, type Wire } from '../wire.js';

/** What a row may use. */
interface Things {
  wire: Wire;
  /** A durable queue that is there. */
  queue: string;
  /** A direct exchange that is there. */
  exchange: string;
  /** A name that nobody has. */
  none: string;
}

interface Row {
  code: number;
  source: string;
  what: string;
  /** The method that is to blame. */
  blames: number;
  /** As RabbitMQ writes it, with QUEUE, EXCHANGE, NONE for names; as far as it is the same for all brokers. */
  text?: string;
  send: (things: Things) => Method | readonly Method[] | Promise<Method | readonly Method[]>;
}

const absent: readonly Row[] = [
  {
    code: 404,
    source: '§1.7.2.1',
    what: 'queue.declare, passive, of a queue that is not there',
    blames: MethodId.queueDeclare,
    text: "NOT_FOUND - no queue 'NONE' in vhost '/'",
    send: ({ none }) => declareQueue(none, { passive: true }),
  },
  {
    code: 404,
    source: '§1.6.2.1',
    what: 'exchange.declare, passive, of an exchange that is not there',
    blames: MethodId.exchangeDeclare,
    text: "NOT_FOUND - no exchange 'NONE' in vhost '/'",
    send: ({ none }) => declareExchange(none, { passive: true }),
  },
  {
    code: 404,
    source: '§1.7.2.3',
    what: 'queue.bind of a queue that is not there',
    blames: MethodId.queueBind,
    text: "NOT_FOUND - no queue 'NONE' in vhost '/'",
    send: ({ none, exchange }) => new QueueBind(none, exchange, '', false, {}),
  },
  {
    code: 404,
    source: '§1.7.2.3',
    what: 'queue.bind to an exchange that is not there',
    blames: MethodId.queueBind,
    text: "NOT_FOUND - no exchange 'NONE' in vhost '/'",
    send: ({ none, queue }) => new QueueBind(queue, none, '', false, {}),
  },
  {
    code: 404,
    source: 'exchange to exchange bindings',
    what: 'exchange.bind from an exchange that is not there',
    blames: MethodId.exchangeBind,
    text: "NOT_FOUND - no exchange 'NONE' in vhost '/'",
    send: ({ none, exchange }) => bindExchange(exchange, none),
  },
  {
    code: 404,
    source: 'exchange to exchange bindings',
    what: 'exchange.bind of an exchange that is not there',
    blames: MethodId.exchangeBind,
    text: "NOT_FOUND - no exchange 'NONE' in vhost '/'",
    send: ({ none, exchange }) => bindExchange(none, exchange),
  },
  {
    code: 404,
    source: '§1.7.2.5',
    what: 'queue.purge of a queue that is not there',
    blames: MethodId.queuePurge,
    text: "NOT_FOUND - no queue 'NONE' in vhost '/'",
    send: ({ none }) => new QueuePurge(none, false),
  },
  {
    code: 404,
    source: '§1.8.3.3',
    what: 'basic.consume of a queue that is not there',
    blames: MethodId.basicConsume,
    text: "NOT_FOUND - no queue 'NONE' in vhost '/'",
    send: ({ none }) => consume(none),
  },
  {
    code: 404,
    source: '§1.8.3.10',
    what: 'basic.get of a queue that is not there',
    blames: MethodId.basicGet,
    text: "NOT_FOUND - no queue 'NONE' in vhost '/'",
    send: ({ none }) => new BasicGet(none, false),
  },
  {
    code: 404,
    source: '§1.8.3.7',
    what: 'basic.publish to an exchange that is not there',
    blames: MethodId.basicPublish,
    text: "NOT_FOUND - no exchange 'NONE' in vhost '/'",
    send: ({ wire, none }) => {
      wire.publish(none, 'key', 'body');
      return [];
    },
  },
  ...(
    [
      [MethodId.queueBind, '§1.7.2.3', ({ exchange }) => new QueueBind('', exchange, '', false, {})],
      [MethodId.queuePurge, '§1.7.2.5', () => new QueuePurge('', false)],
      [MethodId.queueDelete, '§1.7.2.7', () => deleteQueue('')],
      [MethodId.basicConsume, '§1.8.3.3', () => consume('')],
      [MethodId.basicGet, '§1.8.3.10', () => new BasicGet('', false)],
    ] as [number, string, Row['send']][]
  ).map(
    ([blames, source, send]): Row => ({
      code: 404,
      source,
      what: `${methodName(blames as never)} of '' where no queue was declared`,
      blames,
      text: 'NOT_FOUND - no previously declared queue',
      send: ({ wire, ...rest }) => onFreshChannel(wire, send({ wire, ...rest })),
    }),
  ),
];

/** Channel 2 has declared no queue. */
async function onFreshChannel(wire: Wire, method: ReturnType<Row['send']>): Promise<readonly Method[]> {
  await wire.raw.openChannel(2);
  wire.send((await method) as Method, 2);
  return [];
}

const refused: readonly Row[] = [
  ...(['queue', 'exchange'] as const).map(
    (kind): Row => ({
      code: 403,
      source: kind === 'queue' ? '§1.7.2.1' : '§1.6.2.1',
      what: `${kind}.declare of a name that begins with amq.`,
      blames: kind === 'queue' ? MethodId.queueDeclare : MethodId.exchangeDeclare,
      text: `ACCESS_REFUSED - ${kind} name 'amq.NONE' contains reserved prefix 'amq.*'`,
      send: ({ none }) => (kind === 'queue' ? declareQueue(`amq.${none}`) : declareExchange(`amq.${none}`)),
    }),
  ),
  {
    code: 403,
    source: '§1.6.2.1',
    what: 'exchange.declare of the default exchange',
    blames: MethodId.exchangeDeclare,
    text: 'ACCESS_REFUSED - operation not permitted on the default exchange',
    send: () => declareExchange(''),
  },
  {
    code: 403,
    source: '§1.6.2.3',
    what: 'exchange.delete of the default exchange',
    blames: MethodId.exchangeDelete,
    text: 'ACCESS_REFUSED - operation not permitted on the default exchange',
    send: () => new ExchangeDelete('', false, false),
  },
  {
    code: 403,
    source: '§1.6.2.3',
    what: 'exchange.delete of a predeclared exchange',
    blames: MethodId.exchangeDelete,
    text: "ACCESS_REFUSED - deletion of system exchange 'amq.direct' in vhost '/' not allowed",
    send: () => new ExchangeDelete('amq.direct', false, false),
  },
  {
    code: 403,
    source: '§1.7.2.3',
    what: 'queue.bind to the default exchange',
    blames: MethodId.queueBind,
    text: 'ACCESS_REFUSED - operation not permitted on the default exchange',
    send: ({ queue }) => new QueueBind(queue, '', 'key', false, {}),
  },
  {
    code: 403,
    source: '§1.7.2.7',
    what: 'queue.unbind from the default exchange',
    blames: MethodId.queueUnbind,
    text: 'ACCESS_REFUSED - operation not permitted on the default exchange',
    send: ({ queue }) => new QueueUnbind(queue, '', queue, {}),
  },
  {
    code: 403,
    source: 'exchange to exchange bindings',
    what: 'exchange.bind with the default exchange',
    blames: MethodId.exchangeBind,
    text: 'ACCESS_REFUSED - operation not permitted on the default exchange',
    send: ({ exchange }) => bindExchange(exchange, ''),
  },
  {
    code: 403,
    source: '§1.6.2.1',
    what: 'basic.publish to an internal exchange',
    blames: MethodId.basicPublish,
    text: "ACCESS_REFUSED - cannot publish to internal exchange 'NONE' in vhost '/'",
    send: async ({ wire, none }) => {
      await wire.call(declareExchange(none, { internal: true }), MethodId.exchangeDeclareOk);
      wire.publish(none, '', 'body');
      return [];
    },
  },
  {
    code: 403,
    source: '§1.8.3.3',
    what: 'an exclusive consumer beside another',
    blames: MethodId.basicConsume,
    text: "ACCESS_REFUSED - queue 'QUEUE' in vhost '/' in exclusive use",
    send: ({ queue }) => [consume(queue), consume(queue, { exclusive: true })],
  },
  {
    code: 403,
    source: '§1.8.3.3',
    what: 'a consumer beside an exclusive one',
    blames: MethodId.basicConsume,
    text: "ACCESS_REFUSED - queue 'QUEUE' in vhost '/' in exclusive use",
    send: ({ queue }) => [consume(queue, { exclusive: true }), consume(queue)],
  },
];

/** An exclusive queue of another connection. */
async function lockedQueue(wire: Wire): Promise<string> {
  const owner = await wire.session.wire();
  const name = wire.session.name();
  await owner.call(declareQueue(name, { exclusive: true, durable: false }), MethodId.queueDeclareOk);
  await owner.call(new QueueBind(name, 'amq.direct', name, false, {}), MethodId.queueBindOk);
  return name;
}

const locked: readonly Row[] = (
  [
    [MethodId.queueDeclare, (queue) => declareQueue(queue, { exclusive: true, durable: false })],
    [MethodId.queueDeclare, (queue) => declareQueue(queue, { passive: true }), ', passive,'],
    [MethodId.queueBind, (queue) => new QueueBind(queue, 'amq.direct', 'key', false, {})],
    [MethodId.queueUnbind, (queue) => new QueueUnbind(queue, 'amq.direct', queue, {})],
    [MethodId.queuePurge, (queue) => new QueuePurge(queue, false)],
    [MethodId.queueDelete, (queue) => deleteQueue(queue)],
    [MethodId.basicConsume, (queue) => consume(queue)],
    [MethodId.basicGet, (queue) => new BasicGet(queue, false)],
  ] as [number, (queue: string) => Method, string?][]
).map(
  ([blames, method, word = '']): Row => ({
    code: 405,
    source: '§1.7.2.1',
    what: `${methodName(blames as never)}${word} of another connection's exclusive queue`,
    blames,
    text: "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '",
    send: async ({ wire }) => method(await lockedQueue(wire)),
  }),
);

const preconditions: readonly Row[] = [
  ...(
    [
      [MethodId.basicAck, new BasicAck(7, false)],
      [MethodId.basicNack, new BasicNack(7, false, false)],
      [MethodId.basicReject, new BasicReject(7, false)],
    ] as [number, Method][]
  ).map(
    ([blames, method]): Row => ({
      code: 406,
      source: '§1.8.3.13',
      what: `${methodName(blames as never)} of a delivery tag that is not known`,
      blames,
      text: 'PRECONDITION_FAILED - unknown delivery tag 7',
      send: () => method,
    }),
  ),
  {
    code: 406,
    source: '§1.8.3.13',
    what: 'basic.ack with multiple of a delivery tag that is not known',
    blames: MethodId.basicAck,
    text: 'PRECONDITION_FAILED - unknown delivery tag 7',
    send: () => new BasicAck(7, true),
  },
  {
    code: 406,
    source: '§1.7.2.9',
    what: 'queue.delete, if-empty, of a queue with messages',
    blames: MethodId.queueDelete,
    text: "PRECONDITION_FAILED - queue 'QUEUE' in vhost '/' not empty",
    send: async ({ wire, queue }) => {
      await wire.selectConfirms();
      wire.publish('', queue, 'x');
      await wire.raw.expect(MethodId.basicAck, 1);
      return deleteQueue(queue, { ifEmpty: true });
    },
  },
  {
    code: 406,
    source: '§1.7.2.9',
    what: 'queue.delete, if-unused, of a queue with a consumer',
    blames: MethodId.queueDelete,
    text: "PRECONDITION_FAILED - queue 'QUEUE' in vhost '/' in use",
    send: ({ queue }) => [consume(queue), deleteQueue(queue, { ifUnused: true })],
  },
  {
    code: 406,
    source: '§1.6.2.3',
    what: 'exchange.delete, if-unused, of an exchange with a binding',
    blames: MethodId.exchangeDelete,
    text: "PRECONDITION_FAILED - exchange 'EXCHANGE' in vhost '/' in use",
    send: ({ queue, exchange }) => [
      new QueueBind(queue, exchange, '', false, {}),
      new ExchangeDelete(exchange, true, false),
    ],
  },
  ...([new TxCommit(), new TxRollback()] as Method[]).map(
    (method): Row => ({
      code: 406,
      source: '§1.9.2',
      what: `${methodName(method.id)} on a channel without tx.select`,
      blames: method.id,
      text: 'PRECONDITION_FAILED - channel is not transactional',
      send: () => method,
    }),
  ),
  {
    code: 406,
    source: 'publisher confirms',
    what: 'tx.select on a channel with confirms',
    blames: MethodId.txSelect,
    text: 'PRECONDITION_FAILED - cannot switch from confirm to tx mode',
    send: () => [new ConfirmSelect(false), new TxSelect()],
  },
  {
    code: 406,
    source: 'publisher confirms',
    what: 'confirm.select on a channel with transactions',
    blames: MethodId.confirmSelect,
    text: 'PRECONDITION_FAILED - cannot switch from tx to confirm mode',
    send: () => [new TxSelect(), new ConfirmSelect(false)],
  },
  ...['x', '-1', '1.5', '', '1s'].map(
    (expiration): Row => ({
      code: 406,
      source: 'per-message TTL',
      what: `basic.publish with the expiration '${expiration}'`,
      blames: MethodId.basicPublish,
      text: `PRECONDITION_FAILED - invalid expiration '${expiration}'`,
      send: ({ wire, queue }) => {
        wire.publish('', queue, 'x', { expiration });
        return [];
      },
    }),
  ),
  {
    code: 406,
    source: 'validated user-id',
    what: "basic.publish with somebody else's user-id",
    blames: MethodId.basicPublish,
    text: "PRECONDITION_FAILED - user_id property set to 'somebody' but authenticated user was 'guest'",
    send: ({ wire, queue }) => {
      wire.publish('', queue, 'x', { userId: 'somebody' });
      return [];
    },
  },
];

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

function asCase(row: Row): Case {
  const of = hard.includes(row) ? 'connection' : 'channel';
  const title = `${row.what} ends the ${of} with ${row.code}`;
  return wireRule(row.source, title, async (wire, session) => {
    const things = { wire, queue: await wire.queue(), exchange: session.name(), none: session.name() };
    await wire.call(declareExchange(things.exchange), MethodId.exchangeDeclareOk);
    const refusal = await wire.refusal(await row.send(things));
    assert.deepEqual([refusal.of, refusal.code], [of, row.code], refusal.text);
    assertBlamed(refusal, row.blames);
    assert.ok(refusal.text.startsWith(withNames(row.text ?? '', things)), refusal.text);
    if (of === 'channel') await wire.works();
    else await wire.raw.closed;
  });
}

function withNames(text: string, { queue, exchange, none }: Things): string {
  return text.replace('QUEUE', queue).replace('EXCHANGE', exchange).replace('NONE', none);
}

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
    const things = { wire, queue: await wire.queue(), exchange: session.name(), none: session.name() };
    await wire.call(declareExchange(things.exchange), MethodId.exchangeDeclareOk);
    await wire.call(send(things), answer);
    await wire.channelWorks();
  }),
);

export const replyCodes: readonly Case[] = [
  ...[...absent, ...refused, ...locked, ...preconditions, ...hard].map(asCase),
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
