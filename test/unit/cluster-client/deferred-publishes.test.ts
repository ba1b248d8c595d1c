import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
  const deferred = new DeferredPublishes({
    clock,
    memory,
    mayRoute: () => state.mayRoute,
    send: ({ routingKey }, _parts, owner, tag) => {
      if (state.closing.has(routingKey)) return stillWaits;
      sent.push(`${routingKey} ${tag}`);
      owner.completed(tag);
      return 1;
    },
  });
  const owner = { completed: (tag: number) => done.push(tag), refused: () => assert.fail('refused') };
  const add = (key: string, tag: number, queues?: string[]): void => {
    const parts = new MessageParts();
    parts.bodyLength = 100;
    parts.bodyBytes = new Uint8Array(100);
    deferred.add(new DeferredRoute('/', '', key, {}, queues), parts, owner, tag);
  };
  return { clock, memory, state, sent, done, deferred, owner, add };
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
