/** What is not there: 404. */
import {
  BasicGet,
  type Method,
  MethodId,
  methodName,
  QueueBind,
  QueuePurge,
} from '../../../src/amqp091/codec/index.js';
import type { Case } from '../case.js';
import { bindExchange, consume, declareExchange, declareQueue, deleteQueue } from '../methods.js';
import { refusal, type Row } from '../refusal.js';
import type { Wire } from '../wire.js';

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

export const notFound: readonly Case[] = absent.map((row) => refusal('channel', row));
