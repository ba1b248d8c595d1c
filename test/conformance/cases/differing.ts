/** Where our broker means to do otherwise than RabbitMQ: what each does. */
import assert from 'node:assert/strict';
import {
  BasicConsume,
  BasicQos,
  ChannelFlow,
  ConnectionOpen,
  ConnectionTuneOk,
  MethodId,
} from '../../../src/amqp091/codec/index.js';
import type { ArgumentValue } from '../../../src/model/broker.js';
import type { RawClient } from '../../support/raw-client.js';
import { type Case, rule, wireRule } from '../case.js';
import type { Client } from '../client.js';
import * as differences from '../differences.js';
import { closed, handshake, tuned } from '../handshake.js';
import { consume, declareQueue, deleteQueue } from '../methods.js';
import type { Session } from '../session.js';
import type { Wire } from '../wire.js';

type Body<What> = (what: What, session: Session) => Promise<void>;

/** What each does with `what`, as `make` gives it to them. */
function differing<What>(
  difference: differences.Difference,
  make: (source: string, title: string, body: Body<What>) => Case,
  source: string,
  title: string,
  { ours, rabbitmq }: { ours: Body<What>; rabbitmq: Body<What> },
): Case {
  const body: Body<What> = (what, session) => (session.target.isOurs ? ours : rabbitmq)(what, session);
  return { ...make(source, title, body), difference };
}

/** `bytes` on a connection. */
function spoiled(
  difference: differences.Difference,
  source: string,
  title: string,
  payload: number[],
  codes: { ours: number; rabbitmq: number | undefined },
): Case {
  const body =
    (code: number | undefined): Body<Wire> =>
    async (wire, session) => {
      const length = payload.length;
      wire.raw.sendBytes(Buffer.from([1, 0, 1, 0, 0, 0, length, ...payload, 0xce]));
      if (code !== undefined) assert.equal((await wire.closing()).code, code);
      await closed(wire.raw, session);
    };
  return differing(difference, wireRule, source, title, { ours: body(codes.ours), rabbitmq: body(codes.rabbitmq) });
}

function tuning(
  difference: differences.Difference,
  title: string,
  answer: ConnectionTuneOk,
  ours: number | undefined,
): Case {
  const send = async (raw: RawClient): Promise<void> => {
    await tuned(raw);
    raw.send(0, answer);
    raw.send(0, new ConnectionOpen('/'));
  };
  return differing(difference, handshake, '§1.4.2.6', title, {
    ours: async (raw) => {
      await send(raw);
      if (ours === undefined) await raw.expect(MethodId.connectionOpenOk);
      else assert.equal((await raw.expect(MethodId.connectionClose)).method.replyCode, ours);
    },
    rabbitmq: async (raw, session) => {
      await send(raw);
      await closed(raw, session);
    },
  });
}

const ofEither: readonly (readonly [string, string, ArgumentValue])[] = [
  ['quorum', 'x-max-priority', 5],
  ['quorum', 'x-queue-mode', 'lazy'],
  ['quorum', 'x-queue-version', 2],
  ['quorum', 'x-queue-master-locator', 'client-local'],
  ['classic', 'x-delivery-limit', 3],
  ['classic', 'x-dead-letter-strategy', 'at-least-once'],
  ['classic', 'x-quorum-initial-group-size', 1],
  ['classic', 'x-queue-leader-locator', 'client-local'],
  ['classic', 'x-max-age', '1D'],
];

const foreignArguments = ofEither.map(([type, key, value]) => {
  const declare = (session: Session): ReturnType<typeof declareQueue> =>
    declareQueue(session.name(), { args: { 'x-queue-type': type, [key]: value } });
  return differing<Wire>(differences.eitherType, wireRule, 'arguments of queues', `a ${type} queue with ${key}`, {
    ours: async (wire, session) => void (await wire.call(declare(session), MethodId.queueDeclareOk)),
    rabbitmq: async (wire, session) => assert.equal((await wire.refusal(declare(session))).code, 406),
  });
});

/** A queue with a message that is delivered, and nothing else. */
async function delivered(client: Client): Promise<string> {
  const queue = await client.queue();
  await client.send(queue, 'a');
  await client.get(queue);
  return queue;
}

async function firstCount(client: Client): Promise<unknown> {
  const queue = await client.quorumQueue();
  await client.send(queue, 'x');
  return (await client.get(queue)).properties.headers?.['x-delivery-count'];
}

async function givenBack(client: Client): Promise<string[]> {
  const queue = await client.quorumQueue();
  await client.send(queue, '1', '2', '3', '4');
  const [first, second, third] = [await client.get(queue), await client.get(queue), await client.get(queue)];
  for (const message of [second, first, third]) client.requeue(message);
  return client.arrived(queue, 4);
}

export const intendedDifferences: readonly Case[] = [
  differing<Wire>(differences.flow, wireRule, '§1.5.2.3', 'channel.flow of a client that wants no deliveries', {
    ours: async (wire) => {
      assert.equal((await wire.call(new ChannelFlow(false), MethodId.channelFlowOk)).method.active, false);
      const queue = await wire.queue();
      await wire.call(consume(queue, { noAck: true }), MethodId.basicConsumeOk);
      wire.publish('', queue, 'x');
      assert.ok(await wire.raw.silent());
      await wire.call(new ChannelFlow(true), MethodId.channelFlowOk);
      await wire.raw.expect(MethodId.basicDeliver, 1);
    },
    rabbitmq: async (wire) => assert.equal((await wire.refusal(new ChannelFlow(false))).code, 540),
  }),
  tuning(differences.tuneOk, 'tune-ok with more channels than offered', new ConnectionTuneOk(65_535, 131_072, 0), 530),
  tuning(differences.tuneOk, 'tune-ok with larger frames than offered', new ConnectionTuneOk(2047, 200_000, 0), 530),
  tuning(differences.tuneOkNone, 'tune-ok with no limit of channels', new ConnectionTuneOk(0, 131_072, 0), undefined),
  tuning(differences.tuneOkNone, 'tune-ok with no limit of frames', new ConnectionTuneOk(2047, 0, 0), undefined),
  spoiled(differences.unknownMethod, '§4.2.4', 'a class that nobody knows', [0, 99, 0, 10], {
    ours: 503,
    rabbitmq: undefined,
  }),
  spoiled(differences.unknownMethod, '§4.2.4', 'a method that nobody knows', [0, 60, 0, 222], {
    ours: 503,
    rabbitmq: undefined,
  }),
  spoiled(differences.undecodable, '§4.2.5', 'a method whose arguments are cut off', [0, 50, 0, 10, 0, 0, 9, 65], {
    ours: 502,
    rabbitmq: 501,
  }),
  differing<Client>(differences.ifEmpty, rule, '§1.7.2.9', 'if-empty of a queue all of whose messages are delivered', {
    ours: async (client) => {
      const queue = await delivered(client);
      const outcome = await client.outcome((channel) => channel.deleteQueue(queue, { ifEmpty: true }));
      assert.match(outcome, /^406 PRECONDITION_FAILED - queue '.*' in vhost '\/' not empty/);
    },
    rabbitmq: async (client) => {
      const queue = await delivered(client);
      assert.deepEqual(await client.channel.deleteQueue(queue, { ifEmpty: true }), { messageCount: 0 });
    },
  }),
  differing<Wire>(differences.ifEmpty, wireRule, '§1.7.2.9', 'if-empty of a quorum queue', {
    ours: async (wire) => {
      const queue = await wire.queue({ 'x-queue-type': 'quorum' });
      await wire.call(deleteQueue(queue, { ifEmpty: true }), MethodId.queueDeleteOk);
    },
    rabbitmq: async (wire) => {
      const queue = await wire.queue({ 'x-queue-type': 'quorum' });
      assert.equal((await wire.refusal(deleteQueue(queue, { ifEmpty: true }))).code, 540);
    },
  }),
  differing<Wire>(differences.globalQos, wireRule, 'per-channel prefetch', 'a global limit and a quorum queue', {
    ours: async (wire, session) => {
      const client = await session.client();
      const queue = await wire.queue({ 'x-queue-type': 'quorum' });
      await client.send(queue, '1', '2');
      await wire.call(new BasicQos(0, 1, true), MethodId.basicQosOk);
      await wire.call(consume(queue), MethodId.basicConsumeOk);
      await wire.raw.expect(MethodId.basicDeliver, 1);
      assert.ok(await wire.raw.silent());
    },
    rabbitmq: async (wire) => {
      const queue = await wire.queue({ 'x-queue-type': 'quorum' });
      await wire.call(new BasicQos(0, 1, true), MethodId.basicQosOk);
      assert.equal((await wire.refusal(new BasicConsume(queue, '', false, false, false, false, {}))).code, 540);
    },
  }),
  differing<Wire>(differences.streams, wireRule, 'streams', 'a queue of the type stream', {
    ours: async (wire, session) => {
      const declare = declareQueue(session.name(), { args: { 'x-queue-type': 'stream' } });
      assert.equal((await wire.refusal(declare)).code, 540);
    },
    rabbitmq: async (wire) => void (await wire.queue({ 'x-queue-type': 'stream' })),
  }),
  ...foreignArguments,
  differing<Client>(
    differences.firstGet,
    rule,
    'x-delivery-limit',
    'x-delivery-count of what basic.get delivers first',
    {
      ours: async (client) => assert.equal(await firstCount(client), undefined),
      rabbitmq: async (client) => assert.equal(await firstCount(client), 0),
    },
  ),
  differing<Client>(differences.quorumOrder, rule, 'quorum queues', 'what is given back to a quorum queue', {
    ours: async (client) => assert.deepEqual(await givenBack(client), ['1', '2', '3', '4']),
    rabbitmq: async (client) => assert.deepEqual(await givenBack(client), ['4', '2', '1', '3']),
  }),
];
