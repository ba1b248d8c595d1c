/** What nobody may, and what others have for themselves: 403 and 405. */
import {
  BasicGet,
  ExchangeDelete,
  type Method,
  MethodId,
  methodName,
  QueueBind,
  QueuePurge,
  QueueUnbind,
} from '../../../src/amqp091/codec/index.js';
import type { Case } from '../case.js';
import { bindExchange, consume, declareExchange, declareQueue, deleteQueue } from '../methods.js';
import { refusal, type Row } from '../refusal.js';
import type { Wire } from '../wire.js';

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
    source: '§1.6.2.1',
    what: 'exchange.declare, passive, of the default exchange',
    blames: MethodId.exchangeDeclare,
    text: 'ACCESS_REFUSED - operation not permitted on the default exchange',
    send: () => declareExchange('', { passive: true }),
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

export const refusedAccess: readonly Case[] = [...refused, ...locked].map((row) => refusal('channel', row));
