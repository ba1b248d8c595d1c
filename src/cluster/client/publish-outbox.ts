/**
 * A node's publishes to one group that may have to be sent (again): enqueue records back to back, in order of their sequence,
 * in segments of 256 KiB. Everything from the cursor on is still to be sent to the present attachment; a new attachment sets
 * the cursor back to the first record that is not confirmed (rule 14). Whole segments are released.
 *
 * What transactions do is among them, as units (model/unit.ts): each is sent by itself.
 *
 *   segments   [ confirmed | unconfirmed, sent ] [ sent | not sent ] [ not sent |      ]
 *                                                       ^ cursor              ^ end
 */
import { encodeEnqueue, enqueueLength, type MessageParts, RecordFlag } from '../../log/record.js';
import { encodeUnit, isUnit, unitLength, type UnitMessage, type UnitSettlement } from '../../model/unit.js';

export const outboxSegmentBytes: number = 256 * 1024;
/** Segments kept for reuse, over all groups of a node. */
const spareMax = 32;

class Segment {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  used = 0;
  /** Sequence of its last record. */
  last = 0;
  /** Records that are units. */
  units = 0;

  constructor(bytes: number) {
    this.bytes = new Uint8Array(bytes);
    this.view = new DataView(this.bytes.buffer);
  }
}

/** The outbox memory of all groups of a node. */
export class OutboxMemory {
  /** Bytes in records that are not released. */
  bytes = 0;
  private readonly spare: Segment[] = [];

  take(bytes: number): Segment {
    if (bytes <= outboxSegmentBytes) return this.spare.pop() ?? new Segment(outboxSegmentBytes);
    return new Segment(bytes);
  }

  give(segment: Segment): void {
    this.bytes -= segment.used;
    segment.used = 0;
    segment.units = 0;
    if (segment.bytes.length === outboxSegmentBytes && this.spare.length < spareMax) this.spare.push(segment);
  }
}

/** Takes the records that are to be sent: bytes [start, end) hold one or more whole ones, or one unit. */
export type SendRecords = (bytes: Uint8Array, view: DataView, start: number, end: number) => void;

export class PublishOutbox {
  /** Sequence of the last record kept. */
  last = 0;
  private readonly memory: OutboxMemory;
  private segments: Segment[] = [];
  /** Where the units lie, by number. */
  private readonly units = new Map<number, { segment: Segment; at: number }>();
  private cursorSegment = 0;
  private cursorOffset = 0;

  constructor(memory: OutboxMemory) {
    this.memory = memory;
  }

  get isEmpty(): boolean {
    return this.segments.length === 0;
  }

  /** True if everything kept was sent to the present attachment. */
  get allSent(): boolean {
    const count = this.segments.length;
    return (
      this.cursorSegment >= count ||
      (this.cursorSegment === count - 1 && this.cursorOffset === this.segments[count - 1]!.used)
    );
  }

  /** Sequence of the first record that was not sent to the present attachment; infinite if all were. */
  get unsent(): number {
    if (this.allSent) return Number.POSITIVE_INFINITY;
    const segment = this.segments[this.cursorSegment]!;
    if (this.cursorOffset < segment.used) return segment.view.getFloat64(this.cursorOffset + 24, true);
    return this.segments[this.cursorSegment + 1]!.view.getFloat64(24, true);
  }

  /** Encodes a publish as the last record. */
  append(parts: MessageParts, incarnations: readonly number[], durable: boolean, boot: number, sequence: number): void {
    const segment = this.room(enqueueLength(parts, incarnations.length));
    const length = encodeEnqueue(
      segment.bytes,
      segment.view,
      segment.used,
      parts,
      incarnations,
      durable,
      boot,
      sequence,
    );
    this.took(segment, length, sequence);
  }

  /** Encodes what a transaction does, as the last one. */
  appendUnit(
    messages: readonly UnitMessage[],
    settlements: readonly UnitSettlement[],
    boot: number,
    sequence: number,
  ): void {
    const length = unitLength(messages, settlements);
    const segment = this.room(length);
    encodeUnit(segment.bytes, segment.view, segment.used, messages, settlements, boot, sequence);
    this.tookUnit(segment, sequence);
    this.took(segment, length, sequence);
  }

  /** Copies an enqueue record, or a unit, as the last one. */
  appendRecord(bytes: Uint8Array, start: number, length: number, sequence: number): void {
    const segment = this.room(length);
    if (isUnit(bytes, start)) this.tookUnit(segment, sequence);
    segment.bytes.set(bytes.subarray(start, start + length), segment.used);
    this.took(segment, length, sequence);
  }

  /** The records up to `sequence` are confirmed: releases the segments that hold nothing else. */
  release(sequence: number): void {
    let free = 0;
    while (free < this.segments.length && this.segments[free]!.last <= sequence) {
      const segment = this.segments[free++]!;
      if (segment.units > 0) this.forgetUnits(segment.last);
      this.memory.give(segment);
    }
    if (free === 0) return;
    this.segments.splice(0, free);
    if (this.cursorSegment >= free) this.cursorSegment -= free;
    else {
      this.cursorSegment = 0;
      this.cursorOffset = 0;
    }
  }

  /** Sets the cursor to the first record after `confirmed`. */
  rewind(confirmed: number): void {
    this.release(confirmed);
    this.cursorSegment = 0;
    this.cursorOffset = 0;
    const first = this.segments[0];
    if (first === undefined) return;
    while (first.view.getFloat64(this.cursorOffset + 24, true) <= confirmed)
      this.cursorOffset += first.view.getUint32(this.cursorOffset, true);
  }

  /** What was passed on from a queue that moves, and is sent again, comes flagged. */
  flagMoved(): void {
    for (const { bytes, view, used } of this.segments)
      for (let at = 0; at < used; at += view.getUint32(at, true))
        if ((bytes[at + 5]! & RecordFlag.moved) !== 0) bytes[at + 5]! |= RecordFlag.redelivered;
  }

  /** Moves the records that come after the last one of `other` to its end; the rest is released. */
  moveTo(other: PublishOutbox): void {
    this.rewind(other.last);
    this.send(
      () => true,
      (bytes, view, start, end) => {
        for (let at = start, length = 0; at < end; at += length) {
          length = view.getUint32(at, true);
          other.appendRecord(bytes, at, length, view.getFloat64(at + 24, true));
        }
      },
    );
    this.release(this.last);
  }

  /** Gives what is to be sent to `send`, a run of whole records at a time, while `more` says so. */
  send(more: () => boolean, send: SendRecords): void {
    while (this.cursorSegment < this.segments.length && more()) {
      const segment = this.segments[this.cursorSegment]!;
      const start = this.cursorOffset;
      const end = segment.used;
      if (this.cursorSegment < this.segments.length - 1) {
        this.cursorSegment++;
        this.cursorOffset = 0;
      } else {
        this.cursorOffset = end;
        if (start === end) return;
      }
      if (start === end) continue;
      if (segment.units === 0) send(segment.bytes, segment.view, start, end);
      else sendApart(segment, start, end, send);
    }
  }

  /** Visits the units with a number above `confirmed`, in order. */
  forEachUnit(confirmed: number, visit: (bytes: Uint8Array, view: DataView, start: number) => void): void {
    for (const [sequence, { segment, at }] of this.units)
      if (sequence > confirmed) visit(segment.bytes, segment.view, at);
  }

  /** The unit with that number; undefined if that is another kind of record, or none. */
  unit(sequence: number): Uint8Array | undefined {
    const place = this.units.get(sequence);
    if (place === undefined) return undefined;
    const { segment, at } = place;
    return segment.bytes.subarray(at, at + segment.view.getUint32(at, true));
  }

  private forgetUnits(last: number): void {
    for (const sequence of this.units.keys()) {
      if (sequence > last) return;
      this.units.delete(sequence);
    }
  }

  private room(length: number): Segment {
    const last = this.segments[this.segments.length - 1];
    if (last !== undefined && last.used + length <= last.bytes.length) return last;
    const segment = this.memory.take(length);
    this.segments.push(segment);
    return segment;
  }

  private tookUnit(segment: Segment, sequence: number): void {
    segment.units++;
    this.units.set(sequence, { segment, at: segment.used });
  }

  private took(segment: Segment, length: number, sequence: number): void {
    segment.used += length;
    segment.last = sequence;
    this.last = sequence;
    this.memory.bytes += length;
  }
}

/** Sends runs of records, and units one by one. */
function sendApart({ bytes, view }: Segment, start: number, end: number, send: SendRecords): void {
  let from = start;
  for (let at = start; at < end; ) {
    const next = at + view.getUint32(at, true);
    if (isUnit(bytes, at)) {
      if (from < at) send(bytes, view, from, at);
      send(bytes, view, at, next);
      from = next;
    }
    at = next;
  }
  if (from < end) send(bytes, view, from, end);
}
