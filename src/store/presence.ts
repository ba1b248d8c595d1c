/** Notes which records a batch brings to a segment, before the batch is written there. */
import { BatchFlag, BatchKind, batchHeaderBytes } from '../log/batch.js';
import type { Lsn } from '../log/lsn.js';
import { dequeueHeaderBytes, forEachDequeued, RecordFlag, RecordKind } from '../log/record.js';
import type { LsnSpans } from './lsn-spans.js';
import type { GroupPresence, Segment } from './segment.js';

/** Notes all batches in bytes [start, end), which are whole. */
export function noteBatches(segment: Segment, bytes: Uint8Array, view: DataView, start: number, end: number): void {
  for (let at = start; at < end; at += view.getUint32(at + 4, true)) noteBatch(segment, bytes, view, at);
}

/** Notes the batch at `start`. Batches without a durable record leave no trace after a crash, so they do not count. */
export function noteBatch(segment: Segment, bytes: Uint8Array, view: DataView, start: number): void {
  const kind = bytes[start + 14]!;
  if ((bytes[start + 15]! & BatchFlag.durable) === 0 || kind > BatchKind.copy) return;
  const end = start + view.getUint32(start + 4, true);
  const presence = segment.presence(view.getUint16(start + 12, true));
  if (kind === BatchKind.log) {
    const first = view.getFloat64(start + 32, true);
    presence.holds.add(first, first + view.getUint32(start + 16, true) - 1);
  }
  for (let at = start + batchHeaderBytes; at < end; ) {
    const length = view.getUint32(at, true);
    if (kind === BatchKind.copy) {
      const lsn = view.getFloat64(at + 8, true);
      presence.holds.add(lsn, lsn);
    }
    const record = bytes[at + 4]!;
    if (record !== RecordKind.enqueue && (bytes[at + 5]! & RecordFlag.durable) !== 0)
      presence.cancelBytes += noteOther(presence, record, bytes, view, at, length);
    at += length;
  }
}

/** Returns the bytes of the record if it cancels something. */
function noteOther(
  presence: GroupPresence,
  kind: number,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  length: number,
): number {
  switch (kind) {
    case RecordKind.dequeueRange: {
      const first: Lsn = view.getFloat64(at + 24, true);
      presence.cancels.add(first, first + view.getUint16(at + 6, true) - 1);
      return length;
    }
    case RecordKind.dequeue:
      addDequeued(presence.cancels, bytes, view, at, length);
      return length;
    case RecordKind.open:
      presence.opens.add(view.getFloat64(at + 16, true));
      return 0;
    case RecordKind.drop:
      presence.drops.add(view.getFloat64(at + 16, true));
      return length;
    default:
      return 0;
  }
}

function addDequeued(cancels: LsnSpans, bytes: Uint8Array, view: DataView, at: number, length: number): void {
  if (length === dequeueHeaderBytes) {
    const position: Lsn = view.getFloat64(at + 24, true);
    cancels.add(position, position);
    return;
  }
  forEachDequeued(bytes, view, at, (position) => cancels.add(position, position));
}
