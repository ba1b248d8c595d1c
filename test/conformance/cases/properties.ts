/** Properties and bodies come as they were sent. */
import assert from 'node:assert/strict';
import { type BasicProperties, MethodId } from '../../../src/amqp091/codec/index.js';
import { type ArgumentValue, Decimal, Timestamp } from '../../../src/model/broker.js';
import { BasicGet, QueueDelete } from '../../../src/amqp091/codec/index.js';
import { type Case, rule, wireRule } from '../case.js';

const each: Partial<BasicProperties> = {
  contentType: 'text/plain',
  contentEncoding: 'utf-8',
  headers: { a: 1 },
  deliveryMode: 2,
  priority: 3,
  correlationId: 'c-1',
  replyTo: 'some queue',
  expiration: '60000',
  messageId: 'm-1',
  timestamp: 1_700_000_000,
  type: 'order',
  userId: 'guest',
  appId: 'app',
  clusterId: 'cluster',
};

const values: readonly (readonly [string, ArgumentValue])[] = [
  ['a boolean', true],
  ['a small integer', 5],
  ['a negative integer', -5],
  ['an integer of 32 bits', -2_000_000_000],
  ['an integer of 64 bits', 9_007_199_254_740_993n],
  ['a floating point number', 0.1],
  ['a decimal', new Decimal(2, 314)],
  ['a text', 'é 中'],
  ['an empty text', ''],
  ['a timestamp', new Timestamp(1_700_000_000)],
  ['a void', null],
  ['bytes', Buffer.from([0, 1, 255])],
  ['an array of everything', [1, 'a', true, null, [2, [3]], { b: 4 }]],
  ['an empty array', []],
  ['a table in a table', { a: { b: { c: 1 } }, d: [] }],
  ['an empty table', {}],
];

function property(name: keyof BasicProperties): Case {
  return wireRule('§1.8.1', `the property ${name} comes as it was sent, and no other with it`, async (wire) => {
    const queue = await wire.queue();
    const set = { [name]: each[name] } as Partial<BasicProperties>;
    await wire.selectConfirms();
    wire.publish('', queue, 'x', set);
    await wire.raw.expect(MethodId.basicAck, 1);
    const { properties } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
    const came = Object.entries(properties).filter(([, value]) => value !== undefined);
    assert.deepEqual(Object.fromEntries(came), set);
  });
}

const inHeaders = values.map(([what, value]) =>
  wireRule('§4.2.5.5', `${what} in headers comes as it was sent`, async (wire) => {
    const queue = await wire.queue();
    await wire.selectConfirms();
    wire.publish('', queue, 'x', { headers: { value } });
    await wire.raw.expect(MethodId.basicAck, 1);
    const { properties } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
    assert.deepEqual(properties.headers, { value });
  }),
);

/** queue.declare of a durable queue with one argument, whose value is written `bytes`, type and all. */
function declareBytes(queue: string, argument: string, bytes: readonly number[]): Buffer {
  const short = (text: string): Buffer => Buffer.from([text.length, ...Buffer.from(text)]);
  const table = Buffer.concat([short(argument), Buffer.from(bytes)]);
  const durable = 2;
  const method = Buffer.concat([
    Buffer.from([0, 50, 0, 10, 0, 0]),
    short(queue),
    Buffer.from([durable, 0, 0, 0, table.length]),
    table,
  ]);
  return Buffer.concat([Buffer.from([1, 0, 1, 0, 0, 0, method.length]), method, Buffer.from([0xce])]);
}

export const properties: readonly Case[] = [
  ...(Object.keys(each) as (keyof BasicProperties)[]).map(property),
  wireRule('§1.8.1', 'all properties together come as they were sent', async (wire) => {
    const queue = await wire.queue();
    await wire.selectConfirms();
    wire.publish('', queue, 'x', each);
    await wire.raw.expect(MethodId.basicAck, 1);
    const { properties: came } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
    assert.deepEqual({ ...came }, each);
  }),
  ...inHeaders,
  wireRule('§4.2.5.5', 'an integer of 64 bits has the letter l, or that of the specification, L', async (wire) => {
    const queue = wire.session.name();
    const threeBillion = [0, 0, 0, 0, 0xb2, 0xd0, 0x5e, 0x00];
    for (const letter of 'Ll') {
      const bytes = [letter.charCodeAt(0), ...threeBillion];
      wire.raw.sendBytes(declareBytes(queue, 'x-expires', bytes));
      await wire.raw.expect(MethodId.queueDeclareOk, 1);
    }
    wire.send(new QueueDelete(queue, false, false, false));
    await wire.raw.expect(MethodId.queueDeleteOk, 1);
  }),
  ...[0, 1, 4088, 4089, 131_064, 131_065, 300_000].map((size) =>
    rule('§4.2.6', `a body of ${size} bytes comes as it was sent`, async (client) => {
      const queue = await client.queue();
      const body = 'abcdefg'.repeat(Math.ceil(size / 7)).slice(0, size);
      await client.send(queue, body);
      assert.ok((await client.get(queue)).content.toString() === body);
    }),
  ),
];
