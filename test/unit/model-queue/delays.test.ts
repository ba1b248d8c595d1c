import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lsn } from '../../../src/log/lsn.js';
import { EnqueueView, MessageParts } from '../../../src/log/record.js';
import { EnvelopeKind, innerMeta, readEnvelope } from '../../../src/model/dead-letter/envelope.js';
import { setDelayed } from '../../../src/model/delay/delayed-record.js';
import { GroupRecovery } from '../../../src/model/group-recovery.js';
import { GroupState } from '../../../src/model/group-state.js';
import { fullSlices } from '../../../src/base/slices.js';
import { delayedIncarnation, outboxIncarnation } from '../../../src/model/queue/outbox.js';
import { publish, setUp, subscribe } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

function delayed(body: string, delayMs: number): MessageParts {
  const parts = new MessageParts();
  const own = messageParts(body);
  own.metaBytes = Uint8Array.of(1, 0x65, 1, 0x6b);
  own.metaLength = 4;
  setDelayed(parts, own, delayMs, '/', 'later');
  return parts;
}

function viewAt(primary: TestPrimary, queue: Lsn, position: Lsn): EnqueueView {
  const entry = primary.state.queue(queue)!.index.find(position)!;
  const chunk = primary.state.chunk(entry.chunk);
  return new EnqueueView().set(chunk.bytes!, chunk.view!, entry.offset);
}

function views(primary: TestPrimary, queue: Lsn): EnqueueView[] {
  const positions = primary.state.queue(queue)?.index.positionsAscending(0, 100_000) ?? [];
  return positions.map((position) => viewAt(primary, queue, position));
}

/** Bodies in a queue, in order. */
function bodies(primary: TestPrimary, queue: Lsn): string[] {
  return views(primary, queue).map(({ bytes, bodyStart, bodyLength }) =>
    new TextDecoder().decode(bytes.subarray(bodyStart, bodyStart + bodyLength)),
  );
}

function pass(primary: TestPrimary, ms: number): void {
  primary.clock.advance(ms);
  primary.run();
}

/** Delays by name, published in that order from that sequence on. */
function wait(port: ReturnType<typeof setUp>['port'], delays: Record<string, number>, from = 1): void {
  for (const [i, [body, ms]] of Object.entries(delays).entries())
    port.publish(delayed(body, ms), [delayedIncarnation], true, from + i, 0);
}

const waiting = (primary: TestPrimary): string[] => bodies(primary, delayedIncarnation);
const goneOn = (primary: TestPrimary): string[] => bodies(primary, outboxIncarnation);

describe('messages that wait for their time', () => {
  it('are confirmed when they are committed, and go into the outbox when their time has come, the earliest first', () => {
    const { primary, client, port } = setUp();
    primary.clock.advance(1000);
    wait(port, { slow: 300, fast: 100, also: 100 });
    primary.run();
    assert.equal(client.confirmedTo, 3);
    pass(primary, 99);
    assert.deepEqual([waiting(primary), goneOn(primary)], [['slow', 'fast', 'also'], []]);
    pass(primary, 20);
    assert.deepEqual([waiting(primary), goneOn(primary)], [['slow'], ['fast', 'also']]);
    pass(primary, 300);
    assert.deepEqual([waiting(primary), goneOn(primary)], [[], ['fast', 'also', 'slow']]);
  });

  it('know where they go on, and are otherwise as they came', () => {
    const { primary, port } = setUp();
    wait(port, { m: 5 });
    primary.run();
    pass(primary, 50);
    const [message] = views(primary, outboxIncarnation);
    const expected = { kind: EnvelopeKind.delayed, vhost: '/', exchange: 'later', routingKey: 'k' };
    assert.deepEqual(readEnvelope(message!), expected);
    const meta = message!.bytes.subarray(innerMeta(message!), message!.metaStart + message!.metaLength);
    assert.deepEqual([...meta], [1, 0x65, 1, 0x6b]);
  });

  it('do not stand in the way of others', () => {
    const { primary, client, port } = setUp();
    wait(port, { later: 60_000 });
    publish(port, 2, 4);
    subscribe(port, 1, 10);
    primary.run();
    assert.deepEqual(client.bodies(), ['m2', 'm3', 'm4']);
  });

  it('leave the outbox short, however many are due at once', () => {
    const { primary, port } = setUp();
    const count = 20_000;
    for (let i = 1; i <= count; i++) port.publish(delayed(`m${i}`, 10), [delayedIncarnation], true, i, 0);
    primary.run();
    for (let taken = 0; taken < count; ) {
      pass(primary, 20);
      const outbox = primary.state.queue(outboxIncarnation)!.index;
      assert.ok(outbox.size > 0 && outbox.size <= 8192, String(outbox.size));
      taken += outbox.size;
      primary.service.dequeue(outboxIncarnation, Float64Array.from(outbox.positionsAscending(0, count)), true);
      primary.run();
    }
    assert.deepEqual(waiting(primary), []);
  });

  it('are read back if their bytes are not in memory', () => {
    const { primary, port } = setUp();
    wait(port, { m: 10 });
    primary.run();
    const entry = primary.state
      .queue(delayedIncarnation)!
      .index.find(primary.state.queue(delayedIncarnation)!.index.first)!;
    primary.log.reserve(2 ** 20);
    primary.chunks.evict(primary.state.chunk(entry.chunk));
    pass(primary, 20);
    assert.deepEqual(goneOn(primary), []);
    assert.equal(primary.chunks.settleLoads(), true);
    primary.run();
    assert.deepEqual([waiting(primary), goneOn(primary)], [[], ['m']]);
  });

  it('wait longer if the clock is set back, and are not lost', () => {
    const { primary, port } = setUp();
    primary.clock.advance(10_000);
    wait(port, { m: 100 });
    primary.run();
    primary.clock.wallOffset = -5000;
    for (let i = 0; i < 4; i++) pass(primary, 1000);
    assert.deepEqual(goneOn(primary), []);
    for (let i = 0; i < 3; i++) pass(primary, 1000);
    assert.deepEqual(goneOn(primary), ['m']);
  });

  it('are moved by nobody while the group is being given away', () => {
    const { primary, port } = setUp();
    wait(port, { m: 10 });
    primary.run();
    primary.service.pause();
    pass(primary, 100);
    assert.deepEqual([waiting(primary), goneOn(primary)], [['m'], []]);
    primary.service.resume();
    primary.run();
    assert.deepEqual([waiting(primary), goneOn(primary)], [[], ['m']]);
  });

  it('go on by the next primary, once, whatever of it the last one had begun', () => {
    const { primary, port } = setUp();
    wait(port, { first: 10, second: 20, third: 500 });
    primary.run();
    pass(primary, 12);
    assert.deepEqual(goneOn(primary), ['first']);
    primary.commits = false;
    pass(primary, 50);
    primary.log.cut();
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2 });
    next.attach(new TestClient(), 'b', 2);
    next.clock.advance(100);
    next.run();
    assert.deepEqual([waiting(next), goneOn(next)], [['third'], ['first', 'second']]);
    pass(next, 500);
    assert.deepEqual(goneOn(next), ['first', 'second', 'third']);
  });

  it('keep their time when they are sent again as the log of a deposed primary had them', () => {
    const { primary, port } = setUp();
    primary.clock.advance(1_735_689_600_000);
    wait(port, { m: 100 });
    primary.run();
    pass(primary, 60);
    const [record] = views(primary, delayedIncarnation);
    const again = new MessageParts();
    again.setFrom(record!);
    port.publish(again, [delayedIncarnation], true, 2, 0);
    primary.run();
    assert.deepEqual(waiting(primary), ['m', 'm']);
    pass(primary, 50);
    assert.deepEqual([waiting(primary), goneOn(primary)], [[], ['m', 'm']]);
  });

  it('are found by recovery, in whatever order it comes upon them', () => {
    const { primary, port } = setUp();
    primary.clock.advance(1000);
    wait(port, { late: 900, early: 100, gone: 50 });
    primary.run();
    pass(primary, 60);
    assert.deepEqual(goneOn(primary), ['gone']);
    const state = new GroupState(
      primary.state.group,
      primary.chunks,
      fullSlices((run) => run()),
    );
    const recovery = new GroupRecovery(state);
    const chunk = primary.log.chunk;
    const offsets: number[] = [];
    for (let at = 0; at < primary.log.offset; at += chunk.view!.getUint32(at, true)) offsets.push(at);
    for (const at of offsets.toReversed()) recovery.record(chunk, at, chunk.view!.getFloat64(at + 8, true));
    let isDone = false;
    recovery.finish(() => {
      isDone = true;
    });
    assert.ok(isDone);
    assert.equal(state.queue(delayedIncarnation)!.index.size, 2);
    assert.equal(state.delays.nextDue, 1100);
  });
});
