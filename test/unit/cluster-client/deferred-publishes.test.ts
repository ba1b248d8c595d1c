import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusal, RefusedError } from '../../../src/base/errors.js';
import { DeferredPublishes, DeferredRoute, stillWaits } from '../../../src/cluster/client/deferred-publishes.js';
import { OutboxMemory } from '../../../src/cluster/client/publish-outbox.js';
import { MessageParts } from '../../../src/log/record.js';
import { ManualClock } from '../../fakes/manual-clock.js';

function setUp() {
  const clock = new ManualClock();
  const memory = new OutboxMemory();
  const state = { mayRoute: true, closing: new Set<string>() };
  const sent: string[] = [];
  const done: number[] = [];
  const parts: MessageParts[] = [];
  const deferred = new DeferredPublishes({
    clock,
    memory,
    mayRoute: () => state.mayRoute,
    send: ({ routingKey }, message, owner, tag) => {
      if (state.closing.has(routingKey)) return stillWaits;
      sent.push(`${routingKey} ${tag}`);
      parts.push(message);
      owner.completed(tag);
      return 1;
    },
  });
  const owner = { completed: (tag: number) => done.push(tag), refused: () => assert.fail('refused') };
  const add = (key: string, tag: number, queues?: string[]): void => {
    const message = new MessageParts();
    message.bodyLength = 100;
    message.bodyBytes = new Uint8Array(100);
    deferred.add(new DeferredRoute('/', '', key, {}, undefined, queues), message, owner, tag);
  };
  return { clock, memory, state, sent, done, deferred, owner, parts, add };
}

describe('publishes that must not be sent on yet', () => {
  it('all wait while the node may not route, and go in order', () => {
    const { clock, memory, state, sent, done, deferred, add } = setUp();
    state.mayRoute = false;
    assert.equal(deferred.mustWait, true);
    add('a', 1);
    add('b', 2);
    assert.ok(memory.bytes > 200);
    state.mayRoute = true;
    clock.advance(25);
    assert.deepEqual([sent, done, memory.bytes, deferred.mustWait], [['a 1', 'b 2'], [1, 2], 0, false]);
  });

  it('wait for their queue alone, and others with the same queues behind them', () => {
    const { clock, state, sent, deferred, add } = setUp();
    state.closing.add('moving');
    add('moving', 1, ['q7', 'q8']);
    assert.deepEqual([deferred.mustWait, deferred.isEmpty], [false, false]);
    assert.deepEqual(
      ['q7', 'q8', 'q9'].map((queue) => deferred.holds(queue)),
      [true, true, false],
    );
    add('other', 2, ['q8']);
    clock.advance(100);
    assert.deepEqual(sent, []);
    state.closing.clear();
    assert.equal(deferred.mustWait, false);
    assert.deepEqual(sent, ['moving 1', 'other 2']);
    assert.deepEqual([deferred.isEmpty, deferred.holds('q8')], [true, false]);
  });

  it('hold everything if they came when nothing was known, and their queue moves then', () => {
    const { state, sent, deferred, add } = setUp();
    state.mayRoute = false;
    add('moving', 1);
    state.mayRoute = true;
    state.closing.add('moving');
    assert.equal(deferred.mustWait, true);
    state.closing.clear();
    assert.equal(deferred.mustWait, false);
    assert.deepEqual(sent, ['moving 1']);
  });

  it('are those that came, whatever becomes of the bytes', () => {
    const { clock, state, deferred, owner, parts } = setUp();
    state.mayRoute = false;
    const message = new MessageParts();
    message.bodyBytes = Uint8Array.of(0, 1, 2, 3);
    message.bodyStart = 1;
    message.bodyLength = 2;
    message.persistent = true;
    message.hidden = true;
    deferred.add(new DeferredRoute('/', '', 'a', {}), message, owner, 1);
    message.bodyBytes.fill(9);
    message.hidden = false;
    state.mayRoute = true;
    clock.advance(25);
    const [{ bodyBytes, bodyStart, bodyLength, persistent, hidden }] = parts as [MessageParts];
    const body = [...bodyBytes.subarray(bodyStart, bodyStart + bodyLength)];
    assert.deepEqual([body, persistent, hidden], [[1, 2], true, true]);
  });

  it('go some at a time, if they are many', () => {
    const { clock, state, sent, deferred, add } = setUp();
    state.mayRoute = false;
    for (let tag = 0; tag < 1000; tag++) add('a', tag);
    state.mayRoute = true;
    assert.equal(deferred.mustWait, true);
    assert.ok(sent.length > 0 && sent.length < 1000);
    clock.advance(50);
    assert.deepEqual(
      sent,
      Array.from({ length: 1000 }, (_, tag) => `a ${tag}`),
    );
    assert.equal(deferred.mustWait, false);
  });

  it('tell their owner if they lead nowhere, or may not be; and what he forgets then is not sent', () => {
    const { memory, deferred } = setUp();
    const told: string[] = [];
    const outcomes: Record<string, () => number> = {
      nowhere: () => 0,
      gone: () => {
        throw new RefusedError(Refusal.notFound, 'no exchange');
      },
      other: () => assert.fail('sent'),
    };
    const late = new DeferredPublishes({
      clock: new ManualClock(),
      memory,
      mayRoute: () => true,
      send: ({ routingKey }) => outcomes[routingKey]!(),
    });
    const owner = {
      completed: (tag: number) => told.push(`completed ${tag}`),
      refused: () => assert.fail('refused'),
      unroutable: (tag: number, { bodyLength }: MessageParts) => told.push(`unroutable ${tag}: ${bodyLength}`),
      failed: (tag: number, error: Error) => {
        told.push(`failed ${tag}: ${error.message}`);
        late.forget(owner);
      },
    };
    for (const [tag, key] of ['nowhere', 'gone', 'other'].entries()) {
      const parts = new MessageParts();
      parts.bodyLength = 3;
      parts.bodyBytes = new Uint8Array(3);
      late.add(new DeferredRoute('/', '', key, {}), parts, owner, tag);
    }
    assert.equal(late.mustWait, false);
    assert.deepEqual(told, ['unroutable 0: 3', 'completed 0', 'failed 1: no exchange']);
    assert.deepEqual([late.isEmpty, memory.bytes], [true, 0]);
    deferred.close();
  });

  it('are forgotten with their publisher, and with the node', () => {
    const { clock, memory, state, sent, deferred, owner, add } = setUp();
    state.mayRoute = false;
    add('a', 1);
    deferred.forget(owner);
    assert.equal(memory.bytes, 0);
    add('b', 2);
    deferred.close();
    state.mayRoute = true;
    clock.advance(100);
    assert.deepEqual(sent, []);
  });
});
