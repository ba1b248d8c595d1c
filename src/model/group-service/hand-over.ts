/**
 * What a primary passes on with its group in a planned move (rule 20): what of each queue may have been handed out, so that its
 * successor flags that and nothing else. Who holds what is not in it: every live node names that itself on re-attaching (rule 13),
 * and what was held and nobody names is given again, flagged.
 *
 * Bytes, little-endian, in pieces of at most `entriesMax` entries: f64 the flag line, which is one for all queues; then for each
 * queue f64 incarnation, f64 highest position handed out, u32 count, and count x (u8 bits, f64 position).
 */
import type { Lsn } from '../../log/lsn.js';
import type { GroupState } from '../group-state.js';

const headBytes = 8;
const queueBytes = 20;
const entryBytes = 9;
/** Entries of one piece. */
export const entriesMax = 4096;

const EntryBit = {
  /** A client held it. */
  held: 1,
  /** It comes flagged when it is handed out again. */
  flagged: 2,
} as const;

/** What a queue's next primary must know of it. */
export interface QueueHandOver {
  /** The highest position handed to anyone. */
  readonly handedUpTo: Lsn;
  /** What clients held, and no node has named since. */
  readonly unnamed: Set<Lsn>;
}

/** Writes pieces. */
export class HandOverWriter {
  readonly pieces: Uint8Array[] = [];
  private readonly flagBefore: Lsn;
  private bytes = new Uint8Array(0);
  private view = new DataView(this.bytes.buffer);
  private length = 0;
  private entries = 0;
  private countAt = -1;
  private queue: readonly [Lsn, Lsn] = [0, 0];

  /** @param flagBefore the flag line of the group's service */
  constructor(flagBefore: Lsn) {
    this.flagBefore = flagBefore;
  }

  beginQueue(incarnation: Lsn, handedUpTo: Lsn): void {
    this.queue = [incarnation, handedUpTo];
    this.writeQueue();
  }

  add(position: Lsn, held: boolean, flagged: boolean): void {
    if (this.entries >= entriesMax) {
      this.endPiece();
      this.writeQueue();
    }
    const at = this.room(entryBytes);
    this.bytes[at] = (held ? EntryBit.held : 0) | (flagged ? EntryBit.flagged : 0);
    this.view.setFloat64(at + 1, position, true);
    this.view.setUint32(this.countAt, this.view.getUint32(this.countAt, true) + 1, true);
    this.entries++;
  }

  /** All pieces, at least one. */
  end(): readonly Uint8Array[] {
    if (this.length > 0 || this.pieces.length === 0) this.endPiece();
    return this.pieces;
  }

  private writeQueue(): void {
    // Queues without entries count as one, or a piece would have no bound.
    if (++this.entries > entriesMax) this.endPiece();
    const [incarnation, handedUpTo] = this.queue;
    const at = this.room(queueBytes);
    this.view.setFloat64(at, incarnation, true);
    this.view.setFloat64(at + 8, handedUpTo, true);
    this.view.setUint32(at + 16, 0, true);
    this.countAt = at + 16;
  }

  private endPiece(): void {
    this.room(0);
    this.pieces.push(this.bytes.slice(0, this.length));
    this.length = 0;
    this.entries = 0;
  }

  private room(bytes: number): number {
    if (this.bytes.length === 0) {
      this.bytes = new Uint8Array(headBytes + (entriesMax + 2) * queueBytes);
      this.view = new DataView(this.bytes.buffer);
    }
    if (this.length === 0) {
      this.view.setFloat64(0, this.flagBefore, true);
      this.length = headBytes;
    }
    const at = this.length;
    this.length += bytes;
    return at;
  }
}

/** What a predecessor has passed on. */
export class HandOver {
  /** Messages before this one may have been handed out by older epochs: they come flagged. */
  flagBefore: Lsn = 0;
  readonly queues: Map<Lsn, QueueHandOver> = new Map();
  private readonly pieces: Uint8Array[] = [];

  /** One more piece, in order. A copy of it is kept. */
  add(piece: Uint8Array): void {
    this.pieces.push(piece.slice());
  }

  /**
   * Brings it into the group's state, which has everything that the predecessor's log had. Yields how much work each step was.
   * Throws a RangeError if a piece is cut short.
   */
  *apply(state: GroupState): Generator<number, void> {
    for (let piece = this.pieces.shift(); piece !== undefined; piece = this.pieces.shift()) {
      const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
      this.flagBefore = view.getFloat64(0, true);
      for (let at = headBytes; at < piece.length; ) {
        const count = view.getUint32(at + 16, true);
        this.applyQueue(state, piece, view, at, count);
        at += queueBytes + count * entryBytes;
        yield 1 + count;
      }
    }
  }

  private applyQueue(state: GroupState, piece: Uint8Array, view: DataView, at: number, count: number): void {
    const incarnation = view.getFloat64(at, true);
    const index = state.queue(incarnation)?.index;
    if (index === undefined) return;
    let queue = this.queues.get(incarnation);
    if (queue === undefined) {
      queue = { handedUpTo: view.getFloat64(at + 8, true), unnamed: new Set() };
      this.queues.set(incarnation, queue);
    }
    for (let i = 0, from = at + queueBytes; i < count; i++, from += entryBytes) {
      const position = view.getFloat64(from + 1, true);
      const entry = index.find(position);
      if (entry === undefined) continue;
      if ((piece[from]! & EntryBit.flagged) !== 0) index.flag(entry);
      if ((piece[from]! & EntryBit.held) !== 0) queue.unnamed.add(position);
    }
  }
}
