import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BasicProperties, PropertyView } from '../../../src/amqp091/codec/index.js';
import { type HeaderChange, rewriteHeaders } from '../../../src/amqp091/header-rewrite.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';

function viewOf(set: Partial<BasicProperties>): PropertyView {
  const writer = new ByteWriter();
  Object.assign(new BasicProperties(), set).encode(writer);
  const bytes = writer.take();
  return new PropertyView().set(bytes, 0, bytes.length);
}

function decoded(bytes: Uint8Array): Partial<BasicProperties> {
  return { ...new PropertyView().set(bytes, 0, bytes.length).decode() };
}

const text = fc.string({ maxLength: 20 });
const headers = fc.dictionary(fc.constantFrom('CC', 'BCC', 'a', 'b'), fc.oneof(text, fc.array(text), fc.boolean()), {
  noNullPrototype: true,
});
const properties = fc.record(
  {
    contentType: text,
    contentEncoding: text,
    headers,
    priority: fc.nat(9),
    correlationId: text,
    replyTo: text,
    expiration: text,
    messageId: text,
    appId: text,
  },
  { requiredKeys: [], noNullPrototype: true },
);
const changes = fc.record(
  {
    headers,
    without: fc.subarray(['CC', 'BCC', 'a']),
    dropsExpiration: fc.boolean(),
    replyTo: text,
  },
  { requiredKeys: [], noNullPrototype: true },
);

describe('properties that are passed on changed', () => {
  it('have what is new, have no more what is to go, and are otherwise as they came', () => {
    fc.assert(
      fc.property(properties, changes, (before, change: HeaderChange) => {
        const { replyTo, ...rest } = change;
        const hasAddress = replyTo !== undefined && before.replyTo !== undefined;
        const after = decoded(rewriteHeaders(viewOf(before), hasAddress ? change : rest));
        const expected: Partial<BasicProperties> = { ...new BasicProperties(), ...before };
        if (change.dropsExpiration) expected.expiration = undefined;
        if (hasAddress) expected.replyTo = replyTo;
        if (before.headers !== undefined || change.headers !== undefined) {
          const kept = Object.entries(before.headers ?? {}).filter(([name]) => !change.without?.includes(name));
          expected.headers = { ...Object.fromEntries(kept), ...change.headers };
        }
        assert.deepEqual(after, expected);
      }),
    );
  });

  it('are byte for byte the same where nothing changes', () => {
    fc.assert(
      fc.property(properties, (before) => {
        const view = viewOf(before);
        assert.deepEqual(rewriteHeaders(view, {}), view.bytes);
        assert.deepEqual(decoded(rewriteHeaders(view, { without: ['x'] })), decoded(view.bytes));
      }),
    );
  });
});
