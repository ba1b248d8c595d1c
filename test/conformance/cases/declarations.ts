/** Declaring what is there: the same again is no change, anything else is refused; and what arguments may be. */
import assert from 'node:assert/strict';
import { BasicGet, MethodId, QueueBind, QueuePurge } from '../../../src/amqp091/codec/index.js';
import type { Arguments, ArgumentValue } from '../../../src/model/broker.js';
import { type Case, rule, wireRule } from '../case.js';
import { declareExchange, declareQueue, deleteQueue, type ExchangeOptions, type QueueOptions } from '../methods.js';

const mismatch = "406 PRECONDITION_FAILED - inequivalent arg '";

/** What is declared, with what it is declared again, and the argument that differs: '' if none. */
const queueRows: readonly (readonly [string, QueueOptions, QueueOptions, string])[] = [
  ['the same', {}, {}, ''],
  ['durable', { durable: true }, { durable: false }, 'durable'],
  ['not durable', { durable: false }, { durable: true }, 'durable'],
  ['auto-delete', { autoDelete: true }, { autoDelete: false }, 'auto_delete'],
  ['not auto-delete', { autoDelete: false }, { autoDelete: true }, 'auto_delete'],
  ['all flags, exclusive', { exclusive: true, autoDelete: true }, { exclusive: true, autoDelete: true }, ''],
  ['an argument nobody knows', { args: { 'x-mine': 1 } }, { args: { 'x-mine': 2 } }, ''],
  ['an argument nobody knows, left out', { args: { 'x-mine': 1 } }, {}, ''],
  ['x-queue-type classic and none', { args: { 'x-queue-type': 'classic' } }, {}, ''],
  ['no x-queue-type and classic', {}, { args: { 'x-queue-type': 'classic' } }, ''],
  ['x-queue-type classic and quorum', {}, { args: { 'x-queue-type': 'quorum' } }, 'x-queue-type'],
  ['x-queue-type quorum and classic', { args: { 'x-queue-type': 'quorum' } }, {}, 'x-queue-type'],
];

/** Arguments that make two declarations differ, each with two values. */
const compared: readonly (readonly [string, ArgumentValue, ArgumentValue, Arguments?])[] = [
  ['x-message-ttl', 60_000, 60_001],
  ['x-expires', 600_000, 600_001],
  ['x-max-length', 5, 6],
  ['x-max-length-bytes', 500, 501],
  ['x-max-priority', 5, 6],
  ['x-overflow', 'drop-head', 'reject-publish'],
  ['x-dead-letter-exchange', 'a', 'b'],
  ['x-dead-letter-routing-key', 'a', 'b', { 'x-dead-letter-exchange': '' }],
  ['x-single-active-consumer', true, false],
  ['x-delivery-limit', 5, 6, { 'x-queue-type': 'quorum' }],
];

const queueArguments = compared.flatMap(
  ([key, one, other, rest = {}]): (readonly [string, QueueOptions, QueueOptions, string])[] => [
    [`the same ${key}`, { args: { [key]: one, ...rest } }, { args: { [key]: one, ...rest } }, ''],
    [`${key} ${one} and ${other}`, { args: { [key]: one, ...rest } }, { args: { [key]: other, ...rest } }, key],
    [`${key} ${one} and none`, { args: { [key]: one, ...rest } }, { args: rest }, key],
    [`no ${key} and ${one}`, { args: rest }, { args: { [key]: one, ...rest } }, key],
  ],
);

const exchangeRows: readonly (readonly [string, ExchangeOptions, ExchangeOptions, string])[] = [
  ['the same', {}, {}, ''],
  ['direct and fanout', { type: 'direct' }, { type: 'fanout' }, 'type'],
  ['topic and headers', { type: 'topic' }, { type: 'headers' }, 'type'],
  ['durable', { durable: true }, { durable: false }, 'durable'],
  ['not durable', { durable: false }, { durable: true }, 'durable'],
  ['auto-delete', { autoDelete: true }, { autoDelete: false }, 'auto_delete'],
  ['not auto-delete', { autoDelete: false }, { autoDelete: true }, 'auto_delete'],
  ['internal', { internal: true }, { internal: false }, 'internal'],
  ['not internal', { internal: false }, { internal: true }, 'internal'],
  ['all flags', { internal: true, autoDelete: true }, { internal: true, autoDelete: true }, ''],
  ['the same alternate', { args: { 'alternate-exchange': 'a' } }, { args: { 'alternate-exchange': 'a' } }, ''],
  [
    'another alternate',
    { args: { 'alternate-exchange': 'a' } },
    { args: { 'alternate-exchange': 'b' } },
    'alternate-exchange',
  ],
  ['alternate and none', { args: { 'alternate-exchange': 'a' } }, {}, 'alternate-exchange'],
  ['no alternate and one', {}, { args: { 'alternate-exchange': 'a' } }, 'alternate-exchange'],
  ['an argument nobody knows', { args: { 'x-mine': 1 } }, { args: { 'x-mine': 2 } }, ''],
];

function outcomeTitle(kind: string, what: string, key: string): string {
  const outcome = key === '' ? 'is no change' : `is refused with 406 for ${key}`;
  return `declaring ${kind} again (${what}) ${outcome}`;
}

const queuesAgain = [...queueRows, ...queueArguments].map(([what, first, again, key]) =>
  wireRule('§1.7.2.1', outcomeTitle('a queue', what, key), async (wire, session) => {
    const name = session.name();
    await wire.call(declareQueue(name, first), MethodId.queueDeclareOk);
    if (key === '') return void (await wire.call(declareQueue(name, again), MethodId.queueDeclareOk));
    const { code, text } = await wire.refusal(declareQueue(name, again));
    assert.ok(`${code} ${text}`.startsWith(`${mismatch}${key}' for queue '${name}' in vhost '/'`), `${code} ${text}`);
    await wire.works();
  }),
);

const exchangesAgain = exchangeRows.map(([what, first, again, key]) =>
  wireRule('§1.6.2.1', outcomeTitle('an exchange', what, key), async (wire, session) => {
    const name = session.name();
    await wire.call(declareExchange(name, first), MethodId.exchangeDeclareOk);
    if (key === '') return void (await wire.call(declareExchange(name, again), MethodId.exchangeDeclareOk));
    const { code, text } = await wire.refusal(declareExchange(name, again));
    assert.ok(
      `${code} ${text}`.startsWith(`${mismatch}${key}' for exchange '${name}' in vhost '/'`),
      `${code} ${text}`,
    );
    await wire.works();
  }),
);

/** Passive asks for the name alone. */
const passively: readonly Case[] = [
  ...[...queueRows, ...queueArguments]
    .filter(([, , , key]) => key !== '')
    .map(([what, first, again]) =>
      wireRule('§1.7.2.1', `declaring a queue passively (${what}) finds it`, async (wire, session) => {
        const name = session.name();
        await wire.call(declareQueue(name, first), MethodId.queueDeclareOk);
        await wire.call(declareQueue(name, { ...again, passive: true }), MethodId.queueDeclareOk);
      }),
    ),
  ...exchangeRows
    .filter(([, , , key]) => key !== '')
    .map(([what, first, again]) =>
      wireRule('§1.6.2.1', `declaring an exchange passively (${what}) finds it`, async (wire, session) => {
        const name = session.name();
        await wire.call(declareExchange(name, first), MethodId.exchangeDeclareOk);
        await wire.call(declareExchange(name, { ...again, passive: true }), MethodId.exchangeDeclareOk);
      }),
    ),
];

/** Values that an argument of a queue may not have; each: not this type, or not in this range. */
const invalid: readonly (readonly [string, readonly ArgumentValue[], Arguments?])[] = [
  ['x-message-ttl', [-1, 'x', true, 1.5]],
  ['x-expires', [0, -1, 'x', 1.5]],
  ['x-max-length', [-1, 'x', 1.5]],
  ['x-max-length-bytes', [-1, 'x']],
  ['x-max-priority', [-1, 256, 'x']],
  ['x-overflow', ['', 'no-such', 1]],
  ['x-dead-letter-exchange', [1, true]],
  ['x-dead-letter-routing-key', [1, true], { 'x-dead-letter-exchange': '' }],
  ['x-single-active-consumer', ['true', 1]],
  ['x-queue-type', ['no-such', 1]],
  ['x-queue-mode', ['no-such', 1]],
];

const invalidArguments = invalid.flatMap(([key, values, rest = {}]) =>
  values.map((value) =>
    wireRule(
      'arguments of queues',
      `a queue with ${key} ${JSON.stringify(value)} is refused with 406`,
      async (wire, session) => {
        const declare = declareQueue(session.name(), { args: { ...rest, [key]: value } });
        const { code, text } = await wire.refusal(declare);
        assert.equal(code, 406, text);
        await wire.works();
      },
    ),
  ),
);

/** Of the type quorum. */
const impossible: readonly (readonly [string, QueueOptions])[] = [
  ['that is not durable', { durable: false }],
  ['that is exclusive', { exclusive: true }],
  ['that is auto-delete', { autoDelete: true }],
];

const quorums = impossible.map(([what, options]) =>
  wireRule('quorum queues', `a quorum queue ${what} is refused with 406`, async (wire, session) => {
    const declare = declareQueue(session.name(), { ...options, args: { 'x-queue-type': 'quorum' } });
    assert.equal((await wire.refusal(declare)).code, 406);
  }),
);

/** Exclusiveness is a lock, whoever asks. */
const exclusives = [true, false].map((exclusive) => {
  const what = exclusive ? 'exclusive' : 'not exclusive';
  return wireRule('§1.7.2.1', `declaring a queue again (${what} before) is refused with 405`, async (wire, session) => {
    const name = session.name();
    await wire.call(declareQueue(name, { exclusive, durable: false }), MethodId.queueDeclareOk);
    const { code, text } = await wire.refusal(declareQueue(name, { exclusive: !exclusive, durable: false }));
    assert.ok(text.startsWith('RESOURCE_LOCKED - cannot obtain exclusive access to locked queue'), text);
    assert.equal(code, 405);
  });
});

export const declarations: readonly Case[] = [
  ...exclusives,
  ...queuesAgain,
  ...exchangesAgain,
  ...passively,
  ...invalidArguments,
  ...quorums,
  wireRule('arguments of queues', 'integers of all widths are the same argument', async (wire, session) => {
    const name = session.name();
    await wire.call(declareQueue(name, { args: { 'x-max-length': 5 } }), MethodId.queueDeclareOk);
    await wire.call(declareQueue(name, { args: { 'x-max-length': 5n } }), MethodId.queueDeclareOk);
  }),
  wireRule(
    'arguments of queues',
    'x-dead-letter-routing-key without an exchange is refused with 406',
    async (wire, session) => {
      const declare = declareQueue(session.name(), { args: { 'x-dead-letter-routing-key': 'a' } });
      assert.equal((await wire.refusal(declare)).code, 406);
    },
  ),
  wireRule('§1.7.2.1', 'declare-ok tells name, messages that are ready, and consumers', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, 'a', 'b', 'c');
    const inbox = await client.consumer(queue, 1);
    await inbox.next();
    const { method } = await wire.call(declareQueue(queue), MethodId.queueDeclareOk);
    assert.deepEqual([method.queue, method.messageCount, method.consumerCount], [queue, 2, 1]);
  }),
  wireRule('§1.7.2.1', "an empty name asks for one that begins with 'amq.gen-', another each time", async (wire) => {
    const names: string[] = [];
    for (let i = 0; i < 3; i++) names.push(await wire.queue({}, ''));
    assert.equal(new Set(names).size, 3);
    for (const name of names) assert.match(name, /^amq\.gen-.{10,}$/);
  }),
  wireRule('§1.7.2.1', 'an empty name in other methods means the queue last declared on the channel', async (wire) => {
    const queue = await wire.queue();
    await wire.selectConfirms();
    for (const body of ['a', 'b']) wire.publish('', queue, body);
    await wire.confirmed(2);
    const { body } = await wire.call(new BasicGet('', true), MethodId.basicGetOk);
    const { method } = await wire.call(new QueuePurge('', false), MethodId.queuePurgeOk);
    assert.deepEqual([body.toString(), method.messageCount], ['a', 1]);
    await wire.call(new QueueBind('', 'amq.direct', '', false, {}), MethodId.queueBindOk);
    wire.publish('amq.direct', queue, 'bound by its own name');
    await wire.raw.expect(MethodId.basicAck, 1);
    const { method: deleted } = await wire.call(deleteQueue(''), MethodId.queueDeleteOk);
    assert.equal(deleted.messageCount, 1);
  }),
  wireRule('§1.7.2.1', 'with no-wait nothing is answered, and the queue is there', async (wire, session) => {
    const [first, second] = [session.name(), session.name()];
    wire.send(declareQueue(first, { noWait: true }));
    const { method } = await wire.call(declareQueue(second), MethodId.queueDeclareOk);
    assert.equal(method.queue, second);
    await wire.call(declareQueue(first, { passive: true }), MethodId.queueDeclareOk);
  }),
  wireRule('§1.6.2.1', 'an exchange declared with no-wait is there, and nothing is answered', async (wire, session) => {
    const name = session.name();
    wire.send(declareExchange(name, { noWait: true }));
    await wire.call(declareExchange(name, { passive: true }), MethodId.exchangeDeclareOk);
  }),
  ...(['queue', 'exchange'] as const).flatMap((kind) =>
    [
      ['of 255 bytes', 'n'.repeat(240)],
      ['with blanks and signs', 'a b/c:d;e?&=%'],
      ['with letters of other scripts', 'ñ-é-中'],
      ["that has 'amq.' inside", 'my.amq.x'],
      ["that begins with 'AMQ.'", 'AMQ.x'],
    ].map(([what, name]) =>
      rule(
        'names',
        `a name of ${kind === 'queue' ? 'a queue' : 'an exchange'} ${what} is good`,
        async (client, session) => {
          const full = `${name}.${session.name()}`.slice(0, 255);
          if (kind === 'queue') await client.channel.assertQueue(full);
          else await client.channel.assertExchange(full, 'fanout');
          assert.ok(kind === 'queue' ? await client.hasQueue(full) : await client.hasExchange(full));
        },
      ),
    ),
  ),
];
