import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { OutboxMemory, outboxSegmentBytes, PublishOutbox } from '../../../src/cluster/client/publish-outbox.js';
import { forEachSettlement, isUnit, unitKind } from '../../../src/model/unit.js';
import { EnqueueView, MessageParts, RecordFlag } from '../../../src/log/record.js';

function parts(bodyBytes: number): MessageParts {
  const made = new MessageParts();
  made.bodyBytes = new Uint8Array(bodyBytes).fill(7);
  made.bodyLength = bodyBytes;
  return made;
}

/** Sequences of the records that the outbox gives out now. */
function sent(outbox: PublishOutbox, more: () => boolean = () => true): number[] {
  const sequences: number[] = [];
  const record = new EnqueueView();
  outbox.send(more, (bytes, view, start, end) => {
    for (let at = start; at < end; at += record.length) sequences.push(record.set(bytes, view, at).publisherSequence);
  });
  return sequences;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

describe('publish outbox', () => {
  it('gives each record once, in order, and again from the first unconfirmed one after a rewind', () => {
    const outbox = new PublishOutbox(new OutboxMemory());
    for (let sequence = 1; sequence <= 5; sequence++) outbox.append(parts(10), [3], true, 9, sequence);
    assert.deepEqual(sent(outbox), [1, 2, 3, 4, 5]);
    assert.deepEqual(sent(outbox), []);
    outbox.append(parts(10), [3], true, 9, 6);
    assert.deepEqual(sent(outbox), [6]);
    outbox.rewind(2);
    assert.deepEqual(sent(outbox), [3, 4, 5, 6]);
  });

  it('flags what it sends again of a queue that moves, in another outbox too', () => {
    const outbox = new PublishOutbox(new OutboxMemory());
    const moved = parts(10);
    moved.moved = true;
    outbox.append(parts(10), [3], true, 9, 1);
    outbox.append(moved, [3], true, 9, 2);
    const flags = (of: PublishOutbox): boolean[] => {
      const seen: boolean[] = [];
      const record = new EnqueueView();
      of.send(
        () => true,
        (bytes, view, start, end) => {
          for (let at = start; at < end; at += record.length)
            seen.push((record.set(bytes, view, at).flags & RecordFlag.redelivered) !== 0);
        },
      );
      return seen;
    };
    assert.deepEqual(flags(outbox), [false, false]);
    const next = new PublishOutbox(new OutboxMemory());
    outbox.moveTo(next);
    next.flagMoved();
    next.rewind(0);
    assert.deepEqual(flags(next), [false, true]);
  });

  it('keeps messages that are larger than a segment', () => {
    const memory = new OutboxMemory();
    const outbox = new PublishOutbox(memory);
    outbox.append(parts(100), [3], true, 9, 1);
    outbox.append(parts(1_000_000), [3, 4], false, 9, 2);
    outbox.append(parts(100), [3], true, 9, 3);
    assert.deepEqual(sent(outbox), [1, 2, 3]);
    assert.ok(memory.bytes > 1_000_000);
    outbox.release(3);
    assert.equal(memory.bytes, 0);
    assert.ok(outbox.isEmpty && outbox.allSent);
  });

  it('behaves like a list of numbers under any order of calls', () => {
    const call = fc.oneof(
      fc.record({ call: fc.constant('append' as const), body: fc.integer({ min: 0, max: 120_000 }) }),
      fc.record({ call: fc.constant('send' as const), runs: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ call: fc.constant('confirm' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
      fc.record({ call: fc.constant('rewind' as const) }),
    );
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        const memory = new OutboxMemory();
        const outbox = new PublishOutbox(memory);
        let last = 0;
        let confirmed = 0;
        let next = 1;
        for (const step of calls) {
          if (step.call === 'append') outbox.append(parts(step.body), [3], true, 9, ++last);
          else if (step.call === 'confirm') {
            confirmed += Math.floor((next - 1 - confirmed) * step.share);
            outbox.release(confirmed);
          } else if (step.call === 'rewind') {
            outbox.rewind(confirmed);
            next = confirmed + 1;
          } else {
            let runs = step.runs;
            const got = sent(outbox, () => runs-- > 0);
            assert.deepEqual(got, range(next, next + got.length - 1));
            next += got.length;
          }
        }
        assert.deepEqual(sent(outbox), range(next, last));
        assert.ok(outbox.allSent);
        outbox.release(last);
        assert.equal(memory.bytes, 0);
      }),
      { numRuns: 200 },
    );
  });

  it('gives out units one by one, keeps them with their numbers, and forgets those that are confirmed', () => {
    const memory = new OutboxMemory();
    const outbox = new PublishOutbox(memory);
    const unit = (sequence: number, body: number): void =>
      outbox.appendUnit(
        [{ parts: parts(body), incarnations: [3], durable: true }],
        [{ incarnation: 3, position: sequence, rejects: false }],
        9,
        sequence,
      );
    outbox.append(parts(10), [3], true, 9, 1);
    outbox.append(parts(10), [3], true, 9, 2);
    unit(3, 10);
    unit(4, outboxSegmentBytes * 2);
    outbox.append(parts(10), [3], true, 9, 5);
    const runs = (): string[] => {
      const seen: string[] = [];
      outbox.send(
        () => true,
        (bytes, view, start, end) => {
          const numbers: number[] = [];
          for (let at = start; at < end; at += view.getUint32(at, true)) numbers.push(view.getFloat64(at + 24, true));
          seen.push(`${isUnit(bytes, start) ? 'unit ' : ''}${numbers.join(' ')}`);
        },
      );
      return seen;
    };
    assert.deepEqual(runs(), ['1 2', 'unit 3', 'unit 4', '5']);
    assert.deepEqual(runs(), []);
    outbox.rewind(2);
    assert.deepEqual(runs(), ['unit 3', 'unit 4', '5']);
    const held = (confirmed: number): number[] => {
      const positions: number[] = [];
      outbox.forEachUnit(confirmed, (bytes, view, start) =>
        forEachSettlement(bytes, view, start, (_incarnation, position) => positions.push(position)),
      );
      return positions;
    };
    assert.deepEqual([held(0), held(3)], [[3, 4], [4]]);
    assert.equal(outbox.unit(5), undefined);
    assert.equal(outbox.unit(3)![4], unitKind);
    const other = new PublishOutbox(memory);
    outbox.moveTo(other);
    assert.deepEqual([outbox.unit(3), other.unit(3)![4], other.unit(4)![4]], [undefined, unitKind, unitKind]);
    other.release(5);
    assert.deepEqual([other.unit(4), memory.bytes], [undefined, 0]);
  });
});
