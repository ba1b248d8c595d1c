/**
 * The index of one queue on one replica: where each message's record lies, and, on the primary, who holds it.
 *
 *   table    [gone gone held held|ready ready ...]  ...  [ready ready ready|      ]
 *                                ^ passed                                  ^ append
 *
 * Messages go out in order of position. `passed` divides those that were looked at from those that never were; what is
 * given back lies before it and is found by a heap of positions, so the smallest ready position always goes first.
 *
 * Flyweights: `find` and `nextReady` return one object each, valid until the index changes or they are called again.
 */
import { Entry, EntryFlag, EntryState, stateMask } from './piece.js';
import { PiecePool } from './piece-list.js';
import { noPiece, PieceTable } from './piece-table.js';
import { PositionHeap } from './position-heap.js';
import type { Piece } from './piece.js';

export type { Entry } from './piece.js';
export { EntryState } from './piece.js';
export { PiecePool } from './piece-list.js';

export class QueueIndex {
  /** Messages that may be delivered. */
  ready = 0;
  /** Messages that a client holds. */
  delivered = 0;
  private readonly table: PieceTable;
  private readonly heap = new PositionHeap();
  private readonly next = new Entry(noPiece);
  /** Entries up to here were looked at; the first one after it is at `cursorSlot` of `cursor`, or is to be searched. */
  private passed = -1;
  private cursor = noPiece;
  private cursorSlot = 0;
  /** Position of the first ready entry after `passed`, if that is known. */
  private upNext = Number.NaN;

  constructor(pool: PiecePool = new PiecePool()) {
    this.table = new PieceTable(pool);
  }

  /** Messages in the queue, whatever their state. */
  get size(): number {
    return this.table.size;
  }

  /** Position of the first message; NaN if there is none. */
  get first(): number {
    return this.table.first;
  }

  /** Position of the last message; NaN if there is none. */
  get last(): number {
    return this.table.last;
  }

  /** Bytes allocated for entries. */
  get allocatedBytes(): number {
    return this.table.allocatedBytes;
  }

  /**
   * Adds a ready message at the back, or in its place if it is not the last.
   * `chunk`, `offset`, `length`: where its record lies. Returns false, and changes nothing, if it is there already.
   */
  add(position: number, chunk: number, offset: number, length: number, durable: boolean): boolean {
    if (!this.table.add(position, chunk, offset, length, durable ? EntryFlag.durable : 0)) return false;
    this.ready++;
    if (position <= this.passed) this.heap.push(position);
    else if (position < this.upNext) this.upNext = Number.NaN;
    return true;
  }

  /** The message at `position`; undefined if it is not there. */
  find(position: number): Entry | undefined {
    return this.table.find(position);
  }

  /** The ready message with the smallest position; undefined if there is none. It stays until `deliver` or `settle`. */
  nextReady(): Entry | undefined {
    if (this.ready === 0) return undefined;
    while (this.heap.size > 0) {
      const entry = this.table.find(this.heap.peek()!);
      if (entry !== undefined && entry.state === EntryState.ready) {
        this.next.piece = entry.piece;
        this.next.slot = entry.slot;
        return this.next;
      }
      this.heap.pop();
    }
    return this.advance() ? this.next : undefined;
  }

  /** A ready message is handed to `holder` (1..65535). */
  deliver(entry: Entry, holder: number): void {
    const { piece, slot } = entry;
    this.take(piece, slot);
    this.delivered++;
    piece.states[slot] = (piece.states[slot]! & ~stateMask) | EntryState.delivered;
    piece.holders[slot] = holder;
  }

  /** Another holder has a delivered message. */
  handOver(entry: Entry, holder: number): void {
    entry.piece.holders[entry.slot] = holder;
  }

  /** The dequeue of a ready or delivered message is on its way into the log. */
  settle(entry: Entry): void {
    const { piece, slot } = entry;
    if ((piece.states[slot]! & stateMask) === EntryState.ready) this.take(piece, slot);
    else this.delivered--;
    piece.states[slot] = (piece.states[slot]! & ~stateMask) | EntryState.settling;
  }

  /** A delivered message goes back to its place. `redelivered`: a client has seen it, or may have. */
  giveBack(entry: Entry, redelivered: boolean): void {
    const { piece, slot } = entry;
    const flags = (piece.states[slot]! & ~stateMask) | (redelivered ? EntryFlag.redelivered : 0);
    piece.states[slot] = flags | EntryState.ready;
    piece.holders[slot] = 0;
    piece.busy--;
    this.delivered--;
    this.ready++;
    const position = piece.positions[slot]!;
    if (position <= this.passed) this.heap.push(position);
  }

  /**
   * What `holder` holds goes back to its place: from position `from` on, until about `max` entries were looked at. Returns
   * where to go on, or Infinity when that was all. What comes and goes between two calls does no harm.
   */
  giveBackOf(holder: number, redelivered: boolean, from: number, max: number): number {
    const { list } = this.table;
    let looked = 0;
    for (let i = Math.max(0, list.floor(from)); i < list.length && this.delivered > 0; i++) {
      const piece = list.at(i)!;
      if (looked >= max) return piece.first;
      looked++;
      if (piece.busy === 0) continue;
      looked += piece.end - piece.start;
      this.next.piece = piece;
      for (let slot = piece.lowerBound(from); slot < piece.end; slot++) {
        if (piece.holders[slot] !== holder || (piece.states[slot]! & stateMask) !== EntryState.delivered) continue;
        this.next.slot = slot;
        this.giveBack(this.next, redelivered);
      }
    }
    return Number.POSITIVE_INFINITY;
  }

  /** It comes flagged when it is handed out. */
  flag(entry: Entry): void {
    entry.piece.states[entry.slot]! |= EntryFlag.redelivered;
  }

  /**
   * Visits messages at positions from `from` up to `to` that a client holds or that would come again flagged, until about `max`
   * entries were looked at. Returns where to go on, or Infinity when that was all.
   */
  handled(
    from: number,
    to: number,
    max: number,
    visit: (position: number, held: boolean, flagged: boolean) => void,
  ): number {
    const { list } = this.table;
    let looked = 0;
    for (let i = Math.max(0, list.floor(from)); i < list.length; i++) {
      const piece = list.at(i)!;
      if (piece.first > to) break;
      if (looked >= max) return piece.first;
      looked += 1 + piece.end - piece.start;
      for (let slot = piece.lowerBound(from); slot < piece.end && piece.positions[slot]! <= to; slot++) {
        const bits = piece.states[slot]!;
        const state = bits & stateMask;
        if (state === EntryState.gone || state === EntryState.settling) continue;
        const held = state === EntryState.delivered;
        const flagged = (bits & EntryFlag.redelivered) !== 0;
        if (held || flagged) visit(piece.positions[slot]!, held, flagged);
      }
    }
    return Number.POSITIVE_INFINITY;
  }

  /** The message's record lies elsewhere from now on. */
  move(entry: Entry, chunk: number, offset: number): void {
    entry.piece.chunks[entry.slot] = chunk;
    entry.piece.offsets[entry.slot] = offset;
  }

  /** Takes a message out, whatever its state. */
  remove(entry: Entry): void {
    const { piece, slot } = entry;
    const state = piece.states[slot]! & stateMask;
    if (state === EntryState.ready) this.ready--;
    else if (state === EntryState.delivered) this.delivered--;
    this.table.remove(piece, slot);
  }

  /** Nobody holds anything, nothing is being dequeued: as on a replica that is not the primary. */
  resetVolatile(): void {
    const { list } = this.table;
    for (let i = 0; i < list.length; i++) {
      const piece = list.at(i)!;
      if (piece.busy === 0) continue;
      for (let slot = piece.start; slot < piece.end; slot++) {
        const state = piece.states[slot]!;
        if ((state & stateMask) === EntryState.gone) continue;
        piece.states[slot] = (state & ~stateMask) | EntryState.ready;
        piece.holders[slot] = 0;
      }
      piece.busy = 0;
    }
    this.heap.clear();
    this.passed = -1;
    this.upNext = Number.NaN;
    this.ready = this.size;
    this.delivered = 0;
  }

  /** Up to `max` positions below `below`, descending. Whatever changes between two calls, the next one goes on from there. */
  positionsDescending(below: number, max: number): number[] {
    const positions: number[] = [];
    const { list } = this.table;
    let index = list.floor(below);
    for (; index >= 0; index--) {
      const piece = list.at(index)!;
      for (let slot = piece.lowerBound(below) - 1; slot >= piece.start; slot--) {
        if ((piece.states[slot]! & stateMask) === EntryState.gone) continue;
        if (positions.length === max) return positions;
        positions.push(piece.positions[slot]!);
      }
    }
    return positions;
  }

  /** Up to `max` positions above `above`, ascending. */
  positionsAscending(above: number, max: number): number[] {
    const positions: number[] = [];
    const { list } = this.table;
    for (let index = Math.max(0, list.floor(above)); index < list.length; index++) {
      const piece = list.at(index)!;
      for (let slot = piece.lowerBound(above); slot < piece.end; slot++) {
        if ((piece.states[slot]! & stateMask) === EntryState.gone || piece.positions[slot] === above) continue;
        if (positions.length === max) return positions;
        positions.push(piece.positions[slot]!);
      }
    }
    return positions;
  }

  /** Takes out whole pieces from the front, `atLeast` messages if there are so many, and tells of each message's record. */
  dropFront(atLeast: number, each: (chunk: number, length: number) => void): void {
    const { list } = this.table;
    for (let dropped = 0; dropped < atLeast && list.length > 0; ) {
      const piece = list.at(0)!;
      for (let slot = piece.start; slot < piece.end; slot++) {
        const state = piece.states[slot]! & stateMask;
        if (state === EntryState.gone) continue;
        if (state === EntryState.ready) this.ready--;
        else if (state === EntryState.delivered) this.delivered--;
        each(piece.chunks[slot]!, piece.lengths[slot]!);
      }
      dropped += piece.live;
      this.table.removeFirstPiece();
    }
  }

  /** A ready entry is ready no longer. */
  private take(piece: Piece, slot: number): void {
    const position = piece.positions[slot]!;
    piece.busy++;
    this.ready--;
    if (position > this.passed) {
      // Only the next one may move the mark: one further back is found busy when the cursor comes there.
      if (position !== this.upNext) return;
      this.passed = position;
      if (piece === this.cursor) this.cursorSlot = slot + 1;
    } else if (this.heap.peek() === position) {
      this.heap.pop();
    }
  }

  /** Is `cursorSlot` the first slot after `passed`, as far as its piece can tell? */
  private cursorFits(): boolean {
    const piece = this.cursor;
    const slot = this.cursorSlot;
    return (
      piece.table === this.table &&
      slot >= piece.start &&
      slot < piece.end &&
      piece.positions[slot]! > this.passed &&
      (slot > piece.start ? piece.positions[slot - 1]! <= this.passed : piece === this.table.list.at(0))
    );
  }

  /** Points `next` at the first ready entry after `passed`. */
  private advance(): boolean {
    const { list } = this.table;
    if (!this.cursorFits()) {
      const index = Math.max(0, list.floor(this.passed));
      this.cursor = list.at(index)!;
      this.cursorSlot = this.cursor.lowerBound(this.passed + 1);
    }
    for (;;) {
      const piece = this.cursor;
      const { states, positions, end } = piece;
      for (let slot = this.cursorSlot; slot < end; slot++) {
        const state = states[slot]! & stateMask;
        if (state === EntryState.ready) {
          this.cursorSlot = slot;
          this.next.piece = piece;
          this.next.slot = slot;
          this.upNext = positions[slot]!;
          return true;
        }
        this.passed = positions[slot]!;
      }
      this.cursorSlot = end;
      const following = list.at(list.floor(piece.last) + 1);
      if (following === undefined) return false;
      this.cursor = following;
      this.cursorSlot = following.start;
    }
  }
}
