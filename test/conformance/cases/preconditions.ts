/** What is asked under conditions that do not hold: 406. */
import {
  BasicAck,
  BasicNack,
  BasicReject,
  ConfirmSelect,
  ExchangeDelete,
  type Method,
  MethodId,
  methodName,
  QueueBind,
  TxCommit,
  TxRollback,
  TxSelect,
} from '../../../src/amqp091/codec/index.js';
import type { Case } from '../case.js';
import { consume, deleteQueue } from '../methods.js';
import { refusal, type Row } from '../refusal.js';

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

export const preconditionsFailed: readonly Case[] = preconditions.map((row) => refusal('channel', row));
