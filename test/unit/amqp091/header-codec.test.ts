import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BasicProperties } from '../../../src/amqp091/codec/index.js';
import { PropertyView } from '../../../src/amqp091/codec/property-view.js';
import { headerCodec, propertyText } from '../../../src/amqp091/header-codec.js';
import { EnqueueView } from '../../../src/log/record.js';
import type { Arguments } from '../../../src/model/broker.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';

function headerOf(fields: Partial<BasicProperties>): Uint8Array {
  const properties = Object.assign(new BasicProperties(), fields);
  const writer = new ByteWriter();
  properties.encode(writer);
  return writer.take();
}

function message(header: Uint8Array): EnqueueView {
  const view = new EnqueueView();
  view.bytes = header;
  view.headerLength = header.length;
  return view;
}

function decoded(header: Uint8Array): BasicProperties {
  return new PropertyView().set(header, 0, header.length).decode();
}

test('a delayed message says so by a negative delay, and is otherwise as it came', () => {
  const fields = {
    contentType: 'text/plain',
    expiration: '5000',
    deliveryMode: 2,
    messageId: 'm',
    timestamp: 1_700_000_000,
  };
  const cases: [Arguments, Arguments][] = [
    [
      { 'x-delay': 1500, other: 'x' },
      { 'x-delay': -1500, other: 'x' },
    ],
    [{ 'x-delay': '20' }, { 'x-delay': -20 }],
    [{ 'x-delay': 4_000_000_000 }, { 'x-delay': -4_000_000_000 }],
  ];
  for (const [headers, expected] of cases) {
    const after = decoded(headerCodec.delayed(message(headerOf({ ...fields, headers }))));
    const now = after.headers;
    assert.deepEqual({ ...after, headers: undefined }, { ...new BasicProperties(), ...fields });
    for (const [name, value] of Object.entries(expected)) {
      const found = now![name];
      assert.equal(typeof found === 'bigint' ? Number(found) : found, value, name);
    }
    assert.deepEqual(Object.keys(now!).sort(), Object.keys(expected).sort());
  }
});

test('a message that has waited expires by its own time from then on', () => {
  assert.equal(headerCodec.ttlMs(message(headerOf({ expiration: '250' }))), 250);
  assert.equal(headerCodec.ttlMs(message(headerOf({}))), undefined);
  assert.equal(headerCodec.ttlMs(message(headerOf({ expiration: 'soon' }))), undefined);
});

test('properties are there for exchanges that hash them', () => {
  const header = headerOf({ messageId: 'm7', correlationId: 'c7', timestamp: 12 });
  const view = new PropertyView().set(header, 0, header.length);
  const texts = (['message_id', 'correlation_id', 'timestamp'] as const).map((name) => propertyText(view, name));
  assert.deepEqual(texts, ['m7', 'c7', '12']);
  const bare = headerOf({});
  assert.equal(headerCodec.properties(message(bare))('message_id'), '');
});

test('the keys of CC and BCC lead on; what is none of it, of a message that nobody has checked, leads nowhere', () => {
  const keys = (headers: Arguments): readonly string[] => headerCodec.moreKeys(message(headerOf({ headers })));
  assert.deepEqual(keys({ CC: ['a', 5, 'b'], BCC: ['c'], x: 1 }), ['a', 'b', 'c']);
  assert.deepEqual(keys({ CC: 'a' }), []);
  assert.deepEqual(keys({}), []);
  assert.deepEqual(headerCodec.moreKeys(message(headerOf({}))), []);
});

test('no exchange sees BCC', () => {
  const headers = { CC: ['a'], BCC: ['c'], x: 1 };
  assert.deepEqual(headerCodec.table(message(headerOf({ headers }))), { CC: ['a'], x: 1 });
});
