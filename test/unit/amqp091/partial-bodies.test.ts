import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProtocolError } from '../../../src/amqp091/codec/index.js';
import { defaultLimits } from '../../../src/amqp091/limits.js';
import { type BodyHolder, PartialBodies } from '../../../src/amqp091/partial-bodies.js';

/** A connection that gives up what it holds when it is ended. */
class Holder implements BodyHolder {
  held = 0;
  error: ProtocolError | undefined;
  private readonly bodies: PartialBodies;

  constructor(bodies: PartialBodies) {
    this.bodies = bodies;
  }

  add(bytes: number): void {
    this.bodies.add(this, bytes);
    this.held += bytes;
  }

  fail(error: ProtocolError): void {
    this.error = error;
    this.bodies.remove(this, this.held);
    this.held = 0;
  }
}

describe('PartialBodies', () => {
  const limits = { ...defaultLimits, partialBytesMax: 100, allPartialBytesMax: 250 };

  it('refuses a connection that goes over its own limit', () => {
    const bodies = new PartialBodies(limits);
    const holder = new Holder(bodies);
    holder.add(60);
    assert.throws(() => holder.add(41), { code: 506 });
    assert.equal(bodies.bytes, 60);
    holder.add(40);
  });

  it('ends whoever holds the most when all together go over theirs', () => {
    const bodies = new PartialBodies(limits);
    const [first, second, third] = [new Holder(bodies), new Holder(bodies), new Holder(bodies)] as const;
    first.add(80);
    second.add(90);
    third.add(75);
    third.add(10);
    assert.equal(second.error?.code, 506);
    assert.equal(first.error, undefined);
    assert.equal(bodies.bytes, 165);
  });

  it('refuses the one that asks if it holds the most', () => {
    const bodies = new PartialBodies(limits);
    const holders = [new Holder(bodies), new Holder(bodies), new Holder(bodies)] as const;
    for (const holder of holders) holder.add(80);
    assert.throws(() => holders[2].add(15), { code: 506 });
    assert.equal(bodies.bytes, 240);
    for (const holder of holders) holder.fail(new Error('done') as ProtocolError);
    assert.equal(bodies.bytes, 0);
  });
});
