/**
 * The records of a group's log, as bytes. The same bytes are journaled, sent to backups and kept in memory:
 * a message is encoded once. Little-endian. A record never changes after its batch is sealed.
 *
 * every record
 *   0 u32 length of the whole record      4 u8 kind   5 u8 flags   6 u16 count   8 f64 lsn
 *
 * enqueue (count = number of queues)
 *  16 u32 publisher boot (0 = none)      20 u32 body length        24 f64 publisher sequence
 *  32 u32 header length                  36 u16 meta length        38 u8 priority   39 u8 format
 *  40 f64 expires at (wall ms, 0 = never)
 *  48 f64 x count: incarnations (0 = a queue that was gone)
 *     with the flag `origin` (since version 3): u32 group   u32 0   f64 position   f64 done: see Origin
 *     meta: exchange shortstr, routing key shortstr, exactly as basic.deliver ends
 *     header: the content header's property flags and list, untouched; with the flag `hidden` (since version 3) its readers are
 *     shown less of it; with the format of AMQP 1.0 (since version 3) header and body are sections of it (see MessageFormat)
 *     body; with the flag `large` (since version 3) a manifest in its place: see large.ts
 *
 * dequeue (count = number of positions)
 *  16 f64 incarnation   24 f64 first position   32.. count - 1 deltas, LEB128, each > 0
 *
 * open   16 f64 incarnation   24 f64 wiring version   32 JSON of the queue's replica options
 * drop   16 f64 incarnation   24 f64 wiring version
 *
 * dequeueRange (count = number of positions; since version 2)
 *  16 f64 incarnation   24 f64 first position, the others are its neighbours upwards
 *
 * returned (count = number of positions; since version 3)
 *  16 f64 incarnation   24 count x (f64 position, u32 how often it came back)
 * annotated (since version 3): see annotated-record.ts
 *
 * Lengths tell where each part ends, the record's own where the next one begins: fields can be added at the end of a record, and
 * who does not know them skips them.
 */
import { Feature } from '../base/versions.js';
import type { Lsn } from './lsn.js';
import { MessageFormat } from './message-format.js';
import { RecordFlag } from './record-flag.js';
import { RecordKind } from './record-kind.js';

export { RecordFlag, RecordKind };

/** The protocol version that is needed to read the record at `start`. */
export function versionOf(bytes: Uint8Array, start: number): number {
  if (bytes[start + 4] === RecordKind.dequeueRange) return Feature.dequeueRange;
  if (bytes[start + 4] === RecordKind.returned) return Feature.returns;
  if (bytes[start + 4] === RecordKind.annotated) return Feature.annotations;
  if ((bytes[start + 5]! & RecordFlag.large) !== 0) return Feature.largeMessages;
  if ((bytes[start + 5]! & RecordFlag.hidden) !== 0) return Feature.hidden;
  if (bytes[start + 4] === RecordKind.enqueue && bytes[start + 39] === MessageFormat.amqp10) return Feature.amqp10;
  return (bytes[start + 5]! & RecordFlag.origin) === 0 ? 1 : Feature.outbox;
}

/** Both kinds name positions of one queue: see `forEachDequeued`. */
export function isDequeue(kind: number): boolean {
  return kind === RecordKind.dequeue || kind === RecordKind.dequeueRange;
}

export const recordHeaderBytes = 16;
export const enqueueHeaderBytes = 48;
export const dequeueHeaderBytes = 32;
const originBytes = 24;
/** Where `position` and `done` stand in it. */
const originPosition = 8;
const originDone = 16;

/** Which message of which outbox an enqueue was (rule 16). */
export interface Origin {
  /** The group whose outbox it came from. */
  readonly group: number;
  /** The message's position there. */
  readonly position: Lsn;
  /** Everything before this position had been done with when it was sent: it is never sent again. */
  readonly done: Lsn;
}

/** Where a message's parts lie in a buffer; a flyweight that is moved from message to message. */
export class EnqueueView {
  bytes: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  start = 0;
  length = 0;
  flags = 0;
  queueCount = 0;
  metaStart = 0;
  metaLength = 0;
  headerStart = 0;
  headerLength = 0;
  bodyStart = 0;
  bodyLength = 0;

  /** Points this view at the enqueue record at `start`. */
  set(bytes: Uint8Array, view: DataView, start: number): this {
    this.bytes = bytes;
    this.view = view;
    this.start = start;
    this.length = view.getUint32(start, true);
    this.flags = bytes[start + 5]!;
    this.queueCount = view.getUint16(start + 6, true);
    this.bodyLength = view.getUint32(start + 20, true);
    this.headerLength = view.getUint32(start + 32, true);
    this.metaLength = view.getUint16(start + 36, true);
    this.metaStart = start + enqueueHeaderBytes + this.queueCount * 8;
    if ((this.flags & RecordFlag.origin) !== 0) this.metaStart += originBytes;
    this.headerStart = this.metaStart + this.metaLength;
    this.bodyStart = this.headerStart + this.headerLength;
    return this;
  }

  get lsn(): Lsn {
    return this.view.getFloat64(this.start + 8, true);
  }
  get publisherBoot(): number {
    return this.view.getUint32(this.start + 16, true);
  }
  get publisherSequence(): number {
    return this.view.getFloat64(this.start + 24, true);
  }
  get isLarge(): boolean {
    return (this.flags & RecordFlag.large) !== 0;
  }
  /** Bytes of the message's body, wherever that is. */
  get contentLength(): number {
    return this.isLarge ? this.view.getFloat64(this.bodyStart, true) : this.bodyLength;
  }
  get priority(): number {
    return priorityOf(this.bytes, this.start);
  }
  get format(): number {
    return this.bytes[this.start + 39]!;
  }
  get expiresAt(): number {
    return expiresAt(this.view, this.start);
  }
  incarnation(index: number): number {
    return this.view.getFloat64(this.start + enqueueHeaderBytes + index * 8, true);
  }
  get origin(): Origin | undefined {
    return originAt(this.view, this.start);
  }
}

/** `expiresAt` of a message that is for whoever takes it at once. */
export const immediately = 1;

/** When the message of the enqueue record at `start` expires: wall milliseconds, or 0 = never. */
export function expiresAt(view: DataView, start: number): number {
  return view.getFloat64(start + 40, true);
}

/** Where the meta of the enqueue record at `start` begins. */
export function metaAt(view: DataView, start: number): number {
  const at = start + enqueueHeaderBytes + view.getUint16(start + 6, true) * 8;
  return (view.getUint8(start + 5) & RecordFlag.origin) === 0 ? at : at + originBytes;
}

/** The priority of the message of the enqueue record at `start`. */
export function priorityOf(bytes: Uint8Array, start: number): number {
  return bytes[start + 38]!;
}

/** Bytes of the message's body, of the enqueue record at `start`. */
export function bodyLength(view: DataView, start: number): number {
  return isLarge(view, start) ? view.getFloat64(bodyAt(view, start), true) : view.getUint32(start + 20, true);
}

/** The body of the message of the enqueue record at `start` is in parts of their own. */
export function isLarge(view: DataView, start: number): boolean {
  return (view.getUint8(start + 5) & RecordFlag.large) !== 0;
}

/** Where the body of the enqueue record at `start` begins, or what stands in its place. */
export function bodyAt(view: DataView, start: number): number {
  return metaAt(view, start) + view.getUint16(start + 36, true) + view.getUint32(start + 32, true);
}

/** The origin of the enqueue record at `start`, if it has one. */
export function originAt(view: DataView, start: number): Origin | undefined {
  if ((view.getUint8(start + 5) & RecordFlag.origin) === 0) return undefined;
  const at = start + enqueueHeaderBytes + view.getUint16(start + 6, true) * 8;
  return {
    group: view.getUint32(at, true),
    position: view.getFloat64(at + originPosition, true),
    done: view.getFloat64(at + originDone, true),
  };
}

/** The parts of a message to be encoded; a flyweight filled by the publisher. Ranges are [start, start + length). */
export class MessageParts {
  persistent = false;
  redelivered = false;
  moved = false;
  hidden = false;
  /** The body is a manifest: see large.ts. */
  large = false;
  priority = 0;
  format = 0;
  expiresAt = 0;
  metaBytes: Uint8Array = new Uint8Array(0);
  metaStart = 0;
  metaLength = 0;
  headerBytes: Uint8Array = new Uint8Array(0);
  headerStart = 0;
  headerLength = 0;
  bodyBytes: Uint8Array = new Uint8Array(0);
  bodyStart = 0;
  bodyLength = 0;
  origin: Origin | undefined = undefined;

  /** Bytes of the message's body, wherever that is. */
  get contentLength(): number {
    if (!this.large) return this.bodyLength;
    return new DataView(this.bodyBytes.buffer, this.bodyBytes.byteOffset).getFloat64(this.bodyStart, true);
  }

  setMeta(bytes: Uint8Array): void {
    this.metaBytes = bytes;
    this.metaStart = 0;
    this.metaLength = bytes.length;
  }

  setHeader(bytes: Uint8Array): void {
    this.headerBytes = bytes;
    this.headerStart = 0;
    this.headerLength = bytes.length;
  }

  setBody(bytes: Uint8Array): void {
    this.bodyBytes = bytes;
    this.bodyStart = 0;
    this.bodyLength = bytes.length;
  }

  /** The message of those parts; its bytes are not copied. */
  setTo(parts: MessageParts): void {
    this.persistent = parts.persistent;
    this.redelivered = parts.redelivered;
    this.moved = parts.moved;
    this.hidden = parts.hidden;
    this.large = parts.large;
    this.priority = parts.priority;
    this.format = parts.format;
    this.expiresAt = parts.expiresAt;
    this.metaBytes = parts.metaBytes;
    this.metaStart = parts.metaStart;
    this.metaLength = parts.metaLength;
    this.headerBytes = parts.headerBytes;
    this.headerStart = parts.headerStart;
    this.headerLength = parts.headerLength;
    this.bodyBytes = parts.bodyBytes;
    this.bodyStart = parts.bodyStart;
    this.bodyLength = parts.bodyLength;
    this.origin = parts.origin;
  }

  /** The message of that record; its bytes are not copied. */
  setFrom(record: EnqueueView): void {
    this.persistent = (record.flags & RecordFlag.persistent) !== 0;
    this.redelivered = (record.flags & RecordFlag.redelivered) !== 0;
    this.moved = (record.flags & RecordFlag.moved) !== 0;
    this.hidden = (record.flags & RecordFlag.hidden) !== 0;
    this.large = (record.flags & RecordFlag.large) !== 0;
    this.priority = record.priority;
    this.format = record.format;
    this.expiresAt = record.expiresAt;
    this.metaBytes = record.bytes;
    this.metaStart = record.metaStart;
    this.metaLength = record.metaLength;
    this.headerBytes = record.bytes;
    this.headerStart = record.headerStart;
    this.headerLength = record.headerLength;
    this.bodyBytes = record.bytes;
    this.bodyStart = record.bodyStart;
    this.bodyLength = record.bodyLength;
    this.origin = record.origin;
  }
}

export function enqueueLength(parts: MessageParts, queueCount: number): number {
  const fixed = enqueueHeaderBytes + queueCount * 8 + (parts.origin === undefined ? 0 : originBytes);
  return fixed + parts.metaLength + parts.headerLength + parts.bodyLength;
}

/** Copies within one ArrayBuffer or between two; the loop wins for short runs, `set` for long ones. */
function copy(from: Uint8Array, fromStart: number, length: number, to: Uint8Array, toStart: number): void {
  if (length <= 32) for (let i = 0; i < length; i++) to[toStart + i] = from[fromStart + i]!;
  else to.set(from.subarray(fromStart, fromStart + length), toStart);
}

/** Writes an enqueue at `at` and returns its length. The lsn is set later, by `setLsn`. */
export function encodeEnqueue(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  parts: MessageParts,
  incarnations: ArrayLike<number>,
  durable: boolean,
  publisherBoot: number,
  publisherSequence: number,
): number {
  const count = incarnations.length;
  const length = enqueueLength(parts, count);
  view.setUint32(at, length, true);
  bytes[at + 4] = RecordKind.enqueue;
  bytes[at + 5] =
    (durable ? RecordFlag.durable : 0) |
    (parts.persistent ? RecordFlag.persistent : 0) |
    (parts.redelivered ? RecordFlag.redelivered : 0) |
    (parts.moved ? RecordFlag.moved : 0) |
    (parts.hidden ? RecordFlag.hidden : 0) |
    (parts.large ? RecordFlag.large : 0) |
    (parts.origin === undefined ? 0 : RecordFlag.origin);
  view.setUint16(at + 6, count, true);
  view.setFloat64(at + 8, 0, true);
  view.setUint32(at + 16, publisherBoot, true);
  view.setUint32(at + 20, parts.bodyLength, true);
  view.setFloat64(at + 24, publisherSequence, true);
  view.setUint32(at + 32, parts.headerLength, true);
  view.setUint16(at + 36, parts.metaLength, true);
  bytes[at + 38] = parts.priority;
  bytes[at + 39] = parts.format;
  view.setFloat64(at + 40, parts.expiresAt, true);
  let to = at + enqueueHeaderBytes;
  for (let i = 0; i < count; i++, to += 8) view.setFloat64(to, incarnations[i]!, true);
  if (parts.origin !== undefined) {
    view.setUint32(to, parts.origin.group, true);
    view.setUint32(to + 4, 0, true);
    view.setFloat64(to + originPosition, parts.origin.position, true);
    view.setFloat64(to + originDone, parts.origin.done, true);
    to += originBytes;
  }
  copy(parts.metaBytes, parts.metaStart, parts.metaLength, bytes, to);
  to += parts.metaLength;
  copy(parts.headerBytes, parts.headerStart, parts.headerLength, bytes, to);
  to += parts.headerLength;
  copy(parts.bodyBytes, parts.bodyStart, parts.bodyLength, bytes, to);
  return length;
}

export function setLsn(view: DataView, at: number, lsn: Lsn): void {
  view.setFloat64(at + 8, lsn, true);
}

/** An upper bound for the bytes of a dequeue of `count` positions. */
export function dequeueLengthMax(count: number): number {
  return dequeueHeaderBytes + (count - 1) * 8;
}

/**
 * Writes a dequeue of `positions[0..count)`, which must be ascending and distinct, and returns its length.
 * Rule 10: it names exact positions.
 */
export function encodeDequeue(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  incarnation: number,
  positions: ArrayLike<number>,
  count: number,
  durable: boolean,
): number {
  bytes[at + 4] = RecordKind.dequeue;
  bytes[at + 5] = durable ? RecordFlag.durable : 0;
  view.setUint16(at + 6, count, true);
  view.setFloat64(at + 8, 0, true);
  view.setFloat64(at + 16, incarnation, true);
  let last = positions[0]!;
  view.setFloat64(at + 24, last, true);
  let to = at + dequeueHeaderBytes;
  for (let i = 1; i < count; i++) {
    let delta = positions[i]! - last;
    last = positions[i]!;
    while (delta >= 0x80) {
      bytes[to++] = (delta % 0x80) + 0x80;
      delta = Math.floor(delta / 0x80);
    }
    bytes[to++] = delta;
  }
  view.setUint32(at, to - at, true);
  return to - at;
}

/** Writes a dequeue of `count` neighbours from `first` on, and returns its length. Not before its version is in use. */
export function encodeDequeueRange(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  incarnation: number,
  first: number,
  count: number,
  durable: boolean,
): number {
  view.setUint32(at, dequeueHeaderBytes, true);
  bytes[at + 4] = RecordKind.dequeueRange;
  bytes[at + 5] = durable ? RecordFlag.durable : 0;
  view.setUint16(at + 6, count, true);
  view.setFloat64(at + 8, 0, true);
  view.setFloat64(at + 16, incarnation, true);
  view.setFloat64(at + 24, first, true);
  return dequeueHeaderBytes;
}

/** A dequeue of more positions than this is written as several records. */
export const dequeuePositionsMax = 4096;

/** Calls `each` with every position of the dequeue, of either kind, at `at`; ascending. */
export function forEachDequeued(bytes: Uint8Array, view: DataView, at: number, each: (position: number) => void): void {
  const count = view.getUint16(at + 6, true);
  let position = view.getFloat64(at + 24, true);
  if (bytes[at + 4] === RecordKind.dequeueRange) {
    for (let i = 0; i < count; i++) each(position + i);
    return;
  }
  let from = at + dequeueHeaderBytes;
  each(position);
  for (let i = 1; i < count; i++) {
    let delta = 0;
    let scale = 1;
    let byte = bytes[from++]!;
    while (byte >= 0x80) {
      delta += (byte - 0x80) * scale;
      scale *= 0x80;
      byte = bytes[from++]!;
    }
    position += delta + byte * scale;
    each(position);
  }
}

const returnedHeaderBytes = 24;
const returnedBytes = 12;

export function returnedLength(count: number): number {
  return returnedHeaderBytes + count * returnedBytes;
}

/** Writes how often each of these messages came back, and returns the length. Not before its version is in use. */
export function encodeReturned(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  incarnation: number,
  positions: readonly number[],
  counts: readonly number[],
  durable: boolean,
): number {
  const length = returnedLength(positions.length);
  view.setUint32(at, length, true);
  bytes[at + 4] = RecordKind.returned;
  bytes[at + 5] = durable ? RecordFlag.durable : 0;
  view.setUint16(at + 6, positions.length, true);
  view.setFloat64(at + 8, 0, true);
  view.setFloat64(at + 16, incarnation, true);
  let to = at + returnedHeaderBytes;
  for (let i = 0; i < positions.length; i++, to += returnedBytes) {
    view.setFloat64(to, positions[i]!, true);
    view.setUint32(to + 8, counts[i]!, true);
  }
  return length;
}

/** Calls `each` with what the record at `at` says. */
export function forEachReturned(view: DataView, at: number, each: (position: number, count: number) => void): void {
  const count = view.getUint16(at + 6, true);
  for (let i = 0, from = at + returnedHeaderBytes; i < count; i++, from += returnedBytes)
    each(view.getFloat64(from, true), view.getUint32(from + 8, true));
}
