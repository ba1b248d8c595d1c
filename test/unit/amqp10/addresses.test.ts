import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Address, parseAddress } from '../../../src/amqp10/addresses.js';
import { LinkError } from '../../../src/amqp10/errors.js';

const queue = (name: string): Address => ({ kind: 'queue', queue: name });
const exchange = (name: string, routingKey?: string): Address => ({ kind: 'exchange', exchange: name, routingKey });
const plain = (name: string, subject?: string): Address => ({ kind: 'name', name, subject });

const known: readonly [address: string, means: Address][] = [
  ['/queues/q', queue('q')],
  ['/queues/a%2Fb%20%C3%BC', queue('a/b ü')],
  ['/exchanges/e', exchange('e')],
  ['/exchanges/e/k', exchange('e', 'k')],
  ['/exchanges/a%2Fb/c%2Fd', exchange('a/b', 'c/d')],
  ['/queue/q', queue('q')],
  ['/queue/a/b', queue('a/b')],
  ['/amq/queue/q', queue('q')],
  ['/topic/a.b', exchange('amq.topic', 'a.b')],
  ['/exchange/e', exchange('e')],
  ['/exchange/e/k/l', exchange('e', 'k/l')],
  ['q', plain('q')],
  ['e/s', plain('e', 's')],
  ['e/s/t', plain('e', 's/t')],
];

const refused = [
  '',
  '/',
  '/queues',
  '/queues/',
  '/queues/a/b',
  '/exchanges/',
  '/exchanges//k',
  '/exchanges/e/',
  '/queues/%',
  '/nothing/x',
  '/amq/queue/',
  '/topic/',
];

describe('addresses', () => {
  for (const [address, means] of known)
    it(`${address} is understood`, () => {
      assert.deepEqual(parseAddress(address), means);
    });

  for (const address of refused)
    it(`'${address}' is refused`, () => {
      assert.throws(
        () => parseAddress(address),
        (error: Error) => error instanceof LinkError && error.condition === 'amqp:invalid-field',
      );
    });

  it('names are at most 255 bytes', () => {
    assert.deepEqual(parseAddress(`/queues/${'ü'.repeat(127)}`), queue('ü'.repeat(127)));
    assert.throws(() => parseAddress(`/queues/${'ü'.repeat(128)}`), /255 bytes/);
  });

  it('any name can be said', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(name, name, (one, other) => {
        assert.deepEqual(parseAddress(`/queues/${encodeURIComponent(one)}`), queue(one));
        const both = `/exchanges/${encodeURIComponent(one)}/${encodeURIComponent(other)}`;
        assert.deepEqual(parseAddress(both), exchange(one, other));
      }),
    );
  });
});
