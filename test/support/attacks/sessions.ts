/** Whole sessions of clients as bytes, to be spoiled: one that a well-behaved client could send, and ones that make no sense. */
import fc from 'fast-check';
import {
  BasicAck,
  BasicCancel,
  BasicConsume,
  BasicGet,
  BasicNack,
  BasicProperties,
  BasicPublish,
  BasicQos,
  BasicRecover,
  ChannelClose,
  ChannelFlow,
  ChannelOpen,
  ConfirmSelect,
  ConnectionClose,
  ConnectionOpen,
  ConnectionTuneOk,
  ExchangeBind,
  ExchangeDeclare,
  ExchangeDelete,
  FrameWriter,
  type Method,
  protocolHeader,
  QueueBind,
  QueueDeclare,
  QueueDelete,
  QueuePurge,
  QueueUnbind,
} from '../../../src/amqp091/codec/index.js';
import { startOk } from '../raw-client.js';
import { methodOf, methods, properties } from '../../unit/amqp091-codec/support.js';

const frameMax = 8192;

function opening(frames: FrameWriter): void {
  frames.output.raw(protocolHeader);
  frames.method(0, startOk('guest', 'guest', { 'connection.blocked': true, consumer_cancel_notify: true }));
  frames.method(0, new ConnectionTuneOk(0, frameMax, 0));
  frames.method(0, new ConnectionOpen('/'));
  frames.frameMax = frameMax;
}

/** A bit of everything, on two channels, with names that begin with `name`. */
export function goodSession(name: string): Buffer {
  const frames = new FrameWriter();
  opening(frames);
  const set = Object.assign(new BasicProperties(), { headers: { a: ['b', 1] }, deliveryMode: 2, expiration: '60000' });
  for (const channel of [1, 2]) {
    const [queue, exchange] = [`${name}-q${channel}`, `${name}-x${channel}`];
    const say = (...said: Method[]): void => said.forEach((method) => frames.method(channel, method));
    say(new ChannelOpen(), new ConfirmSelect(false));
    say(new ExchangeDeclare(exchange, 'topic', false, true, false, false, false, { 'x-a': 'b' }));
    say(new QueueDeclare(queue, false, true, false, false, false, { 'x-a': [1, 'b', { c: true }] }));
    say(new QueueBind(queue, exchange, 'a.*.#', false, {}), new ExchangeBind('amq.fanout', exchange, 'a.#', false, {}));
    say(new BasicQos(0, 3, false), new BasicConsume(queue, 'tag', false, false, false, false, {}));
    for (const size of [0, 10, 20_000]) {
      frames.methodWithContent(channel, new BasicPublish(exchange, 'a.b.c', true, false), set, Buffer.alloc(size, 7));
    }
    frames.heartbeat();
    say(new BasicGet(queue, false), new BasicNack(0, true, true), new BasicRecover(true), new BasicAck(0, true));
    say(new ChannelFlow(false), new ChannelFlow(true), new BasicCancel('tag', false), new QueuePurge(queue, false));
    say(new QueueUnbind(queue, exchange, 'a.*.#', {}), new QueueDelete(queue, false, false, false));
    say(new ExchangeDelete(exchange, false, false), new ChannelClose(200, 'done', 0, 0));
  }
  frames.method(0, new ConnectionClose(200, 'bye', 0, 0));
  return Buffer.from(frames.output.take());
}

/** What is done to the bytes of a session before they are sent. */
export interface Spoiling {
  /** Octets at places, as shares of the length. */
  mutations: { at: number; to: number }[];
  /** Octets put in at a place, as a share of the length. */
  inserted: { at: number; bytes: Uint8Array } | null;
  /** The share of the bytes that is sent. */
  sent: number;
  /** Lengths of the pieces, again and again. */
  pieces: number[];
}

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

export const spoiling: fc.Arbitrary<Spoiling> = fc.record({
  mutations: fc.array(fc.record({ at: share, to: fc.nat(255) }), { maxLength: 6 }),
  inserted: fc.option(fc.record({ at: share, bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }) }), { freq: 2 }),
  sent: fc.oneof(fc.constant(1), share),
  pieces: fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 8 }),
});

export function spoil(session: Buffer, how: Spoiling): Buffer {
  let bytes = Buffer.from(session);
  for (const { at, to } of how.mutations) bytes[Math.floor(at * bytes.length)] = to;
  if (how.inserted !== null) {
    const at = Math.floor(how.inserted.at * bytes.length);
    bytes = Buffer.concat([bytes.subarray(0, at), how.inserted.bytes, bytes.subarray(at)]);
  }
  return bytes.subarray(0, Math.ceil(how.sent * bytes.length));
}

const names = fc.constantFrom(
  '',
  'n-1',
  'n-2',
  'n-3',
  'amq.direct',
  'amq.topic',
  'amq.headers',
  'amq.gen-x',
  'witness-not',
);
/** Fields that hold names, so that methods meet what others have made. */
const nameFields = ['queue', 'exchange', 'source', 'destination', 'consumerTag', 'routingKey'];

/** A method that a client may send (as we know it, any but connection.close), about few things. */
const clientMethod: fc.Arbitrary<Method> = fc
  .oneof(...methods.filter(({ fromClient, fullName }) => fromClient && fullName !== 'connection.close').map(methodOf))
  .chain((method) =>
    fc.tuple(...nameFields.map(() => names)).map((picked) => {
      const fields = method as unknown as Record<string, unknown>;
      nameFields.forEach((name, i) => {
        if (name in fields) fields[name] = picked[i];
      });
      // An exchange's type that exists, as often as not.
      if ('type' in fields && String(fields['type']).length % 2 === 0) fields['type'] = 'topic';
      return method;
    }),
  );

const step = fc.record({
  channel: fc.constantFrom(0, 1, 1, 1, 2, 2, 3),
  method: clientMethod,
  properties,
  body: fc.uint8Array({ maxLength: 300 }),
});

/** Methods with any arguments in any order, each a whole frame; contents where they belong and where they do not. */
export const senselessSession: fc.Arbitrary<Buffer> = fc.array(step, { minLength: 1, maxLength: 30 }).map((steps) => {
  const frames = new FrameWriter();
  opening(frames);
  for (const channel of [1, 2]) frames.method(channel, new ChannelOpen());
  frames.frameMax = 0;
  for (const { channel, method, properties: set, body } of steps) {
    if (method instanceof BasicPublish || body.length % 16 === 0) frames.methodWithContent(channel, method, set, body);
    else frames.method(channel, method);
  }
  return Buffer.from(frames.output.take());
});
