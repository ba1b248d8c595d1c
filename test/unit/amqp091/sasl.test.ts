import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mechanismsFor, readCredentials } from '../../../src/amqp091/sasl.js';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('mechanismsFor', () => {
  it('offers EXTERNAL where a certificate names somebody', () => {
    assert.equal(mechanismsFor(undefined), 'PLAIN AMQPLAIN');
    assert.equal(mechanismsFor('ann'), 'PLAIN AMQPLAIN EXTERNAL');
  });
});

describe('readCredentials', () => {
  it('reads PLAIN, with or without an authorization identity', () => {
    for (const identity of ['', 'other']) {
      const credentials = readCredentials('PLAIN', Buffer.from(`${identity}\0ann\0secret`));
      assert.ok(credentials);
      assert.deepEqual([credentials.user, text(credentials.password)], ['ann', 'secret']);
    }
  });

  it('tells an unknown mechanism from a response that makes no sense', () => {
    assert.equal(readCredentials('EXTERNAL', Buffer.from('')), undefined);
    assert.equal(readCredentials('PLAIN', Buffer.from('ann\0secret')), null);
    assert.equal(readCredentials('PLAIN', Buffer.from('\0ann\0secret\0')), null);
    assert.equal(readCredentials('AMQPLAIN', Buffer.from('LOGIN')), null);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom('PLAIN', 'AMQPLAIN'), (response, mechanism) => {
        const credentials = readCredentials(mechanism, response);
        assert.ok(credentials === null || typeof credentials?.user === 'string');
      }),
    );
  });
});
