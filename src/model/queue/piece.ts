/**
 * A piece of a queue's index: up to `pieceEntries` neighbouring entries as a struct of arrays, in order of position.
 *
 *   0 ────── start ═══════════════ end ────── capacity
 *     room to      entries, some       room to
 *     prepend      of them gone        append
 *
 * All columns lie in one ArrayBuffer: 25 bytes an entry. The first and the last entry are never gone.
 */
export const pieceEntries = 512;
export const pieceEntriesMin = 16;
export const entryBytes = 25;
const overheadMax = 0xffff;
/** Of the record of a large message. */
const manifestBytes = 32;

/** The bytes that count as body of a record of `length` bytes: what is more than 64 KiB of meta and header does, too. */
export function countedBody(length: number, body: number): number {
  return Math.max(body, length - overheadMax);
}

/**
 * The same, and what the entry has as its length. A body that is larger than its record is elsewhere: the record has its manifest. Then
 * the length is that of both.
 */
export function entrySpan(length: number, body: number): number {
  return body > length ? body + Math.min(length - manifestBytes, overheadMax) : length;
}

/** The two low bits of an entry's state byte. */
export const EntryState = {
  gone: 0,
  ready: 1,
  /** Handed to a client that has not answered. */
  delivered: 2,
  /** Its dequeue is in the log, or about to be, and is not committed. */
  settling: 3,
} as const;
export type EntryState = (typeof EntryState)[keyof typeof EntryState];
export const stateMask = 3;

/** The other bits. */
export const EntryFlag = {
  /** A client has seen it, or may have. */
  redelivered: 4,
  /** Its dequeue must be on disk before it counts. */
  durable: 8,
  /** Its body is in parts: the record has its manifest. */
  large: 16,
} as const;

export class Piece {
  positions: Float64Array;
  chunks: Uint32Array;
  offsets: Uint32Array;
  lengths: Uint32Array;
  holders: Uint16Array;
  /** Bytes of the record that are not body. */
  overheads: Uint16Array;
  states: Uint8Array;
  capacity: number;
  start: number;
  end: number;
  /** Entries that are not gone; 0 = the piece was let go. */
  live = 0;
  /** Entries delivered or settling. */
  busy = 0;
  /** The table that it belongs to; undefined while nobody uses it. */
  table: object | undefined = undefined;

  /** @param at where the first entry will be: 0 to append, `capacity` to prepend. */
  constructor(capacity: number, at: number) {
    const buffer = new ArrayBuffer(capacity * entryBytes);
    this.positions = new Float64Array(buffer, 0, capacity);
    this.chunks = new Uint32Array(buffer, capacity * 8, capacity);
    this.offsets = new Uint32Array(buffer, capacity * 12, capacity);
    this.lengths = new Uint32Array(buffer, capacity * 16, capacity);
    this.holders = new Uint16Array(buffer, capacity * 20, capacity);
    this.overheads = new Uint16Array(buffer, capacity * 22, capacity);
    this.states = new Uint8Array(buffer, capacity * 24, capacity);
    this.capacity = capacity;
    this.start = at;
    this.end = at;
  }

  /** Position of the first entry; NaN if there is none. */
  get first(): number {
    return this.start < this.end ? this.positions[this.start]! : Number.NaN;
  }

  /** Position of the last entry; NaN if there is none. */
  get last(): number {
    return this.start < this.end ? this.positions[this.end - 1]! : Number.NaN;
  }

  /** The slot of the first entry, gone or not, whose position is not below `position`; `end` if there is none. */
  lowerBound(position: number): number {
    const positions = this.positions;
    let low = this.start;
    let high = this.end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (positions[middle]! < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Fills `slot`, which the caller has put into [start, end), with a ready entry. */
  fill(
    slot: number,
    position: number,
    chunk: number,
    offset: number,
    length: number,
    body: number,
    flags: number,
  ): void {
    this.positions[slot] = position;
    this.chunks[slot] = chunk;
    this.offsets[slot] = offset;
    this.lengths[slot] = length;
    this.overheads[slot] = length - body;
    this.holders[slot] = 0;
    this.states[slot] = flags | EntryState.ready;
    this.live++;
  }

  /** Bytes of the message's body. */
  bodyBytes(slot: number): number {
    return this.lengths[slot]! - this.overheads[slot]!;
  }

  /** Bytes of the record. */
  recordBytes(slot: number): number {
    if ((this.states[slot]! & EntryFlag.large) !== 0) return this.overheads[slot]! + manifestBytes;
    return this.lengths[slot]!;
  }

  /** Copies the entry at `from` to `slot` at the end of `to`. Gone ones as well. */
  copyEntry(from: number, to: Piece, slot: number): void {
    to.positions[slot] = this.positions[from]!;
    to.chunks[slot] = this.chunks[from]!;
    to.offsets[slot] = this.offsets[from]!;
    to.lengths[slot] = this.lengths[from]!;
    to.overheads[slot] = this.overheads[from]!;
    to.holders[slot] = this.holders[from]!;
    to.states[slot] = this.states[from]!;
  }

  /** Appends all entries of slots [from, end) that are not gone to `to`, which has the room. */
  copyLive(from: number, end: number, to: Piece): void {
    for (let slot = from; slot < end; slot++) {
      const state = this.states[slot]! & stateMask;
      if (state === EntryState.gone) continue;
      this.copyEntry(slot, to, to.end++);
      to.live++;
      if (state !== EntryState.ready) to.busy++;
    }
  }

  /** Moves slots [from, end) by `by` places. */
  move(from: number, end: number, by: number): void {
    const to = from + by;
    this.positions.copyWithin(to, from, end);
    this.chunks.copyWithin(to, from, end);
    this.offsets.copyWithin(to, from, end);
    this.lengths.copyWithin(to, from, end);
    this.overheads.copyWithin(to, from, end);
    this.holders.copyWithin(to, from, end);
    this.states.copyWithin(to, from, end);
  }

  /** Nobody uses the piece any more; what is remembered of it no longer matches. */
  letGo(): void {
    this.start = 0;
    this.end = 0;
    this.live = 0;
    this.busy = 0;
    this.table = undefined;
  }
}

/** Points at one entry; a flyweight that is valid until its index changes. */
export class Entry {
  piece: Piece;
  slot = 0;

  constructor(piece: Piece) {
    this.piece = piece;
  }

  get position(): number {
    return this.piece.positions[this.slot]!;
  }
  get chunk(): number {
    return this.piece.chunks[this.slot]!;
  }
  get offset(): number {
    return this.piece.offsets[this.slot]!;
  }
  /** Bytes of the record. */
  get length(): number {
    return this.piece.recordBytes(this.slot);
  }
  get bodyBytes(): number {
    return this.piece.bodyBytes(this.slot);
  }
  get holder(): number {
    return this.piece.holders[this.slot]!;
  }
  get state(): EntryState {
    return (this.piece.states[this.slot]! & stateMask) as EntryState;
  }
  get redelivered(): boolean {
    return (this.piece.states[this.slot]! & EntryFlag.redelivered) !== 0;
  }
  get durable(): boolean {
    return (this.piece.states[this.slot]! & EntryFlag.durable) !== 0;
  }
}
