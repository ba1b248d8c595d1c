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
import type { MessageIndex } from './message-index.js';
import { countedBody, Entry, EntryFlag, EntryState, entrySpan, stateMask } from './piece.js';
import { type PieceList, PiecePool } from './piece-list.js';
import { noPiece, PieceTable } from './piece-table.js';
import { PositionHeap } from './position-heap.js';
import type { Piece } from './piece.js';

export type { Entry } from './piece.js';
export { EntryState } from './piece.js';
export { PiecePool } from './piece-list.js';

export class QueueIndex implements MessageIndex {
  ready = 0;
  delivered = 0;
  bodyBytes = 0;
  readyBytes = 0;
  readonly lists: readonly PieceList[];
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
    this.lists = [this.table.list];
  }

  get size(): number {
    return this.table.size;
  }

  get first(): number {
    return this.table.first;
  }

  get last(): number {
    return this.table.last;
  }

  get allocatedBytes(): number {
    return this.table.allocatedBytes;
  }

  add(position: number, chunk: number, offset: number, length: number, body: number, durable: boolean): boolean {
    // The body of a large message is elsewhere.
    const counted = body > length ? body : countedBody(length, body);
    const span = body > length ? entrySpan(length, body) : length;
    const flags = (durable ? EntryFlag.durable : 0) | (body > length ? EntryFlag.large : 0);
    if (!this.table.add(position, chunk, offset, span, counted, flags)) return false;
    this.bodyBytes += counted;
    this.readyBytes += counted;
    this.ready++;
    if (position <= this.passed) this.heap.push(position);
    else if (position < this.upNext) this.upNext = Number.NaN;
    return true;
  }

  find(position: number): Entry | undefined {
    return this.table.find(position);
  }

  /** The entry is of this index. */
  has(entry: Entry): boolean {
    return entry.piece.table === this.table;
  }

  nextReady(until: number = Number.POSITIVE_INFINITY): Entry | undefined {
    const entry = this.smallestReady();
    return entry === undefined || entry.position > until ? undefined : entry;
  }

  leastReady(): Entry | undefined {
    return this.smallestReady();
  }

  private smallestReady(): Entry | undefined {
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

  deliver(entry: Entry, holder: number): void {
    const { piece, slot } = entry;
    this.take(piece, slot);
    this.delivered++;
    piece.states[slot] = (piece.states[slot]! & ~stateMask) | EntryState.delivered;
    piece.holders[slot] = holder;
  }

  handOver(entry: Entry, holder: number): void {
    entry.piece.holders[entry.slot] = holder;
  }

  settle(entry: Entry): void {
    const { piece, slot } = entry;
    if ((piece.states[slot]! & stateMask) === EntryState.ready) this.take(piece, slot);
    else this.delivered--;
    piece.states[slot] = (piece.states[slot]! & ~stateMask) | EntryState.settling;
  }

  giveBack(entry: Entry, redelivered: boolean): void {
    const { piece, slot } = entry;
    const flags = (piece.states[slot]! & ~stateMask) | (redelivered ? EntryFlag.redelivered : 0);
    piece.states[slot] = flags | EntryState.ready;
    piece.holders[slot] = 0;
    piece.busy--;
    this.delivered--;
    this.ready++;
    this.readyBytes += piece.bodyBytes(slot);
    const position = piece.positions[slot]!;
    if (position <= this.passed) this.heap.push(position);
  }

  giveBackOf(
    holder: number,
    redelivered: boolean,
    from: number,
    max: number,
    each?: (position: number) => void,
  ): number {
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
        each?.(piece.positions[slot]!);
      }
    }
    return Number.POSITIVE_INFINITY;
  }

  flag(entry: Entry): void {
    entry.piece.states[entry.slot]! |= EntryFlag.redelivered;
  }

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

  move(entry: Entry, chunk: number, offset: number): void {
    entry.piece.chunks[entry.slot] = chunk;
    entry.piece.offsets[entry.slot] = offset;
  }

  remove(entry: Entry): void {
    const { piece, slot } = entry;
    this.forget(piece, slot);
    this.table.remove(piece, slot);
  }

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
    this.readyBytes = this.bodyBytes;
    this.delivered = 0;
  }

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

  dropFront(atLeast: number, each: (chunk: number, length: number, position: number) => void): void {
    const { list } = this.table;
    for (let dropped = 0; dropped < atLeast && list.length > 0; ) {
      const piece = list.at(0)!;
      for (let slot = piece.start; slot < piece.end; slot++) {
        const state = piece.states[slot]! & stateMask;
        if (state === EntryState.gone) continue;
        this.forget(piece, slot);
        each(piece.chunks[slot]!, piece.recordBytes(slot), piece.positions[slot]!);
      }
      dropped += piece.live;
      this.table.removeFirstPiece();
    }
  }

  /** The entry is about to go. */
  private forget(piece: Piece, slot: number): void {
    const body = piece.bodyBytes(slot);
    const state = piece.states[slot]! & stateMask;
    this.bodyBytes -= body;
    if (state === EntryState.delivered) this.delivered--;
    else if (state === EntryState.ready) {
      this.ready--;
      this.readyBytes -= body;
    }
  }

  /** A ready entry is ready no longer. */
  private take(piece: Piece, slot: number): void {
    const position = piece.positions[slot]!;
    piece.busy++;
    this.ready--;
    this.readyBytes -= piece.bodyBytes(slot);
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
