/**
 * The index of one queue on one replica: where each message's record lies, and, on the primary, who holds it.
 *
 *   pieces   [gone gone held held|ready ready ...]  ...  [ready ready ready|      ]
 *                                ^ passed                                  ^ append
 *
 * Messages go out in order of position. `passed` divides those that were looked at from those that never were; what is
 * given back lies before it and is found by a heap of positions, so the smallest ready position always goes first.
 *
 * Memory: 23 bytes an entry, in pieces of 512 (small ones for small queues). Removal in order lets whole pieces go. Removal
 * in the middle merges neighbouring pieces as they empty: two inner neighbours together keep more than 11/16 of one piece, so
 * that the worst pattern of removals costs 23 / 0.34 = 68 bytes for each message left, less than the queue had before.
 *
 * Flyweights: `find` and `nextReady` return one object each, valid until the index changes or they are called again.
 */
import { Entry, EntryFlag, EntryState, entryBytes, Piece, pieceEntries, pieceEntriesMin, stateMask } from './piece.js';
import { PieceList, PiecePool } from './piece-list.js';
import { PositionHeap } from './position-heap.js';

export type { Entry } from './piece.js';
export { EntryState } from './piece.js';
export { PiecePool } from './piece-list.js';

/** An index that has become empty keeps its piece if it is no larger than this. */
const keptEntries = 32;
const mergedEntriesMax = (pieceEntries * 3) / 4;

/** Stands for "no piece". */
const nothing = new Piece(0, 0);

export class QueueIndex {
  /** Messages in the queue, whatever their state. */
  size = 0;
  /** Messages that may be delivered. */
  ready = 0;
  /** Messages that a client holds. */
  delivered = 0;
  private readonly pool: PiecePool;
  private readonly list = new PieceList();
  private readonly heap = new PositionHeap();
  private readonly found = new Entry(nothing);
  private readonly next = new Entry(nothing);
  /** The last piece, or `nothing`. */
  private tail = nothing;
  private spare: Piece | undefined;
  /** Most messages since the index was empty: how large a piece it begins with. */
  private peak = 0;
  /** Entries up to here were looked at; the first one after it is at `cursorSlot` of `cursor`, or is to be searched. */
  private passed = -1;
  private cursor = nothing;
  private cursorSlot = 0;
  /** Position of the first ready entry after `passed`, if that is known. */
  private upNext = Number.NaN;

  constructor(pool: PiecePool = new PiecePool()) {
    this.pool = pool;
  }

  /** Position of the first message; undefined if there is none. */
  get first(): number | undefined {
    return this.list.at(0)?.first;
  }

  /** Position of the last message; undefined if there is none. */
  get last(): number | undefined {
    return this.tail === nothing ? undefined : this.tail.last;
  }

  /** Bytes allocated for entries. */
  get allocatedBytes(): number {
    let entries = this.spare?.capacity ?? 0;
    for (let i = 0; i < this.list.length; i++) entries += this.list.at(i)!.capacity;
    return entries * entryBytes;
  }

  /**
   * Adds a ready message at the back, or in its place if it is not the last.
   * `chunk`, `offset`, `length`: where its record lies. Returns false, and changes nothing, if it is there already.
   */
  add(position: number, chunk: number, offset: number, length: number, durable: boolean): boolean {
    const flags = durable ? EntryFlag.durable : 0;
    let piece = this.tail;
    if (piece.live > 0 && position <= piece.positions[piece.end - 1]!) {
      if (!this.insert(position, chunk, offset, length, flags)) return false;
      if (position <= this.passed) this.heap.push(position);
    } else {
      if (piece.end === piece.capacity) piece = this.roomAtEnd();
      piece.fill(piece.end++, position, chunk, offset, length, flags);
      if (position <= this.passed) this.heap.push(position);
    }
    this.ready++;
    if (++this.size > this.peak) this.peak = this.size;
    return true;
  }

  /** The message at `position`; undefined if it is not there. */
  find(position: number): Entry | undefined {
    const entry = this.found;
    let piece = entry.piece;
    let slot = entry.slot + 1;
    if (slot >= piece.end || slot < piece.start || piece.positions[slot] !== position) {
      if (!(position >= piece.first && position <= piece.last)) {
        const index = this.list.floor(position);
        if (index < 0) return undefined;
        piece = this.list.at(index)!;
      }
      slot = search(piece, position);
      if (slot < 0) return undefined;
    }
    entry.piece = piece;
    entry.slot = slot;
    return (piece.states[slot]! & stateMask) === EntryState.gone ? undefined : entry;
  }

  /** The ready message with the smallest position; undefined if there is none. It stays until `deliver` or `settle`. */
  nextReady(): Entry | undefined {
    if (this.ready === 0) return undefined;
    while (this.heap.size > 0) {
      const entry = this.find(this.heap.peek()!);
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

  /** All that `holder` holds goes back to its place. Returns how many there were. */
  giveBackAllOf(holder: number, redelivered: boolean): number {
    const before = this.delivered;
    for (let i = 0; i < this.list.length && this.delivered > 0; i++) {
      const piece = this.list.at(i)!;
      if (piece.busy === 0) continue;
      this.found.piece = piece;
      for (let slot = piece.start; slot < piece.end; slot++) {
        if (piece.holders[slot] !== holder || (piece.states[slot]! & stateMask) !== EntryState.delivered) continue;
        this.found.slot = slot;
        this.giveBack(this.found, redelivered);
      }
    }
    return before - this.delivered;
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
    if (state === EntryState.ready) {
      this.ready--;
    } else {
      piece.busy--;
      if (state === EntryState.delivered) this.delivered--;
    }
    this.size--;
    piece.states[slot] = EntryState.gone;
    if (--piece.live === 0) this.letGo(this.list.floor(piece.positions[piece.start]!));
    else if (slot === piece.start) while ((piece.states[piece.start]! & stateMask) === EntryState.gone) piece.start++;
    else if (slot === piece.end - 1) while ((piece.states[piece.end - 1]! & stateMask) === EntryState.gone) piece.end--;
    if (piece.live > 0 && piece.live * 2 <= piece.capacity && piece.live % 32 === 0) this.mergeAround(piece);
  }

  /** Nobody holds anything, nothing is being dequeued: as on a replica that is not the primary. */
  resetVolatile(): void {
    for (let i = 0; i < this.list.length; i++) {
      const piece = this.list.at(i)!;
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
    let index = this.list.length === 0 ? -1 : this.list.floor(below);
    for (; index >= 0; index--) {
      const piece = this.list.at(index)!;
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
    for (let index = Math.max(0, this.list.floor(above)); index < this.list.length; index++) {
      const piece = this.list.at(index)!;
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
    for (let dropped = 0; dropped < atLeast && this.list.length > 0; ) {
      const piece = this.list.at(0)!;
      for (let slot = piece.start; slot < piece.end; slot++) {
        const state = piece.states[slot]! & stateMask;
        if (state === EntryState.gone) continue;
        if (state === EntryState.ready) this.ready--;
        else if (state === EntryState.delivered) this.delivered--;
        each(piece.chunks[slot]!, piece.lengths[slot]!);
      }
      dropped += piece.live;
      this.size -= piece.live;
      this.letGo(0);
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
      piece.live > 0 &&
      slot >= piece.start &&
      slot < piece.end &&
      piece.positions[slot]! > this.passed &&
      (slot > piece.start ? piece.positions[slot - 1]! <= this.passed : piece === this.list.at(0))
    );
  }

  /** Points `next` at the first ready entry after `passed`. */
  private advance(): boolean {
    if (!this.cursorFits()) {
      const index = Math.max(0, this.list.floor(this.passed));
      this.cursor = this.list.at(index)!;
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
      const following = piece.live === 0 ? undefined : this.list.at(this.list.floor(piece.last) + 1);
      if (following === undefined) return false;
      this.cursor = following;
      this.cursorSlot = following.start;
    }
  }

  // ---- pieces ----

  /** Lets the piece at `index` go. */
  private letGo(index: number): void {
    const piece = this.list.at(index)!;
    this.list.remove(index);
    if (piece === this.tail) this.tail = this.list.at(this.list.length - 1) ?? nothing;
    this.discard(piece);
    if (this.list.length === 0 && piece.capacity <= keptEntries) this.spare = piece;
  }

  /** The piece is in the list no longer; another queue may get it, so nothing here may remember it. */
  private discard(piece: Piece): void {
    piece.letGo();
    if (this.found.piece === piece) this.found.piece = nothing;
    if (this.next.piece === piece) this.next.piece = nothing;
    if (this.cursor === piece) this.cursor = nothing;
    this.pool.give(piece);
  }

  /** A last piece with room at its end. */
  private roomAtEnd(): Piece {
    const old = this.tail;
    if (old !== nothing && old.capacity < pieceEntries) {
      if (old.start * 2 >= old.capacity) {
        old.move(old.start, old.end, -old.start);
        old.end -= old.start;
        old.start = 0;
      } else {
        this.replace(this.list.length - 1, this.newPiece(old.capacity * 2, 0));
      }
      return this.tail;
    }
    let piece = this.spare;
    this.spare = undefined;
    if (piece === undefined) {
      piece = this.newPiece(old !== nothing || this.peak * 2 > pieceEntries ? pieceEntries : pieceEntriesMin, 0);
      if (old === nothing) this.peak = 0;
    }
    this.list.insert(this.list.length, piece);
    this.tail = piece;
    return piece;
  }

  private newPiece(capacity: number, at: number): Piece {
    return capacity === pieceEntries ? this.pool.take(at) : new Piece(capacity, at);
  }

  /** Puts the live entries of the piece at `index` into `piece`, which takes its place. */
  private replace(index: number, piece: Piece): void {
    const old = this.list.at(index)!;
    old.copyLive(old.start, old.end, piece);
    this.list.set(index, piece);
    if (old === this.tail) this.tail = piece;
    this.discard(old);
  }

  /** Adds an entry before the last one. Pieces that grow downwards are filled from their end. */
  private insert(position: number, chunk: number, offset: number, length: number, flags: number): boolean {
    this.upNext = Number.NaN;
    const index = this.list.floor(position);
    if (index < 0 || position > this.list.at(index)!.last) {
      let piece = this.list.at(index + 1)!;
      if (piece.start === 0) piece = this.roomBefore(index + 1);
      piece.fill(--piece.start, position, chunk, offset, length, flags);
      return true;
    }
    const piece = this.list.at(index)!;
    let slot = piece.lowerBound(position);
    if (piece.positions[slot] === position) {
      if ((piece.states[slot]! & stateMask) !== EntryState.gone) return false;
    } else {
      if (piece.start === 0 && piece.end === piece.capacity && !hasGone(piece, slot)) {
        this.makeRoom(index);
        return this.insert(position, chunk, offset, length, flags);
      }
      slot = openSlot(piece, slot);
    }
    piece.fill(slot, position, chunk, offset, length, flags);
    return true;
  }

  /** A piece with room at its start, before the entries of the one at `index`. */
  private roomBefore(index: number): Piece {
    const old = this.list.at(index)!;
    if (old.capacity < pieceEntries) {
      const capacity = old.capacity * 2;
      this.replace(index, this.newPiece(capacity, capacity - old.live));
      return this.list.at(index)!;
    }
    const piece = this.newPiece(pieceEntriesMin, pieceEntriesMin);
    this.list.insert(index, piece);
    return piece;
  }

  /** Makes room inside the full piece at `index`: drops what is gone, grows or splits it. */
  private makeRoom(index: number): void {
    const old = this.list.at(index)!;
    if (old.live * 4 <= old.capacity * 3) {
      this.replace(index, this.newPiece(old.capacity, 0));
    } else if (old.capacity < pieceEntries) {
      this.replace(index, this.newPiece(old.capacity * 2, old.capacity >>> 1));
    } else {
      const middle = old.capacity >>> 1;
      const upper = this.pool.take(0);
      old.copyLive(middle, old.end, upper);
      const lower = this.pool.take(0);
      old.copyLive(0, middle, lower);
      this.list.set(index, lower);
      this.list.insert(index + 1, upper);
      if (old === this.tail) this.tail = upper;
      this.discard(old);
    }
  }

  /**
   * Puts a piece that has become sparse together with a neighbour. The first and the last piece are left alone: the one is
   * about to be consumed, the other is being filled.
   */
  private mergeAround(piece: Piece): void {
    const index = this.list.floor(piece.first);
    const inner = this.list.length - 1;
    if (index < 1 || index >= inner) return;
    for (const at of [index - 1, index]) {
      if (at < 1 || at + 1 >= inner) continue;
      const one = this.list.at(at)!;
      const two = this.list.at(at + 1)!;
      if (one.live + two.live > mergedEntriesMax) continue;
      const merged = this.pool.take(0);
      one.copyLive(one.start, one.end, merged);
      two.copyLive(two.start, two.end, merged);
      this.list.set(at, merged);
      this.list.remove(at + 1);
      this.discard(one);
      this.discard(two);
      return;
    }
  }
}

/** The slot of `position` in `piece`, gone or not; -1 if it was never there. */
function search(piece: Piece, position: number): number {
  // Where nothing else is in between, the distance tells the slot.
  const guess = piece.start + (position - piece.positions[piece.start]!);
  if (guess < piece.end && piece.positions[guess] === position) return guess;
  const slot = piece.lowerBound(position);
  return slot < piece.end && piece.positions[slot] === position ? slot : -1;
}

/** Is a slot beside the place before `slot` free for another entry? */
function hasGone(piece: Piece, slot: number): boolean {
  return (
    (piece.states[slot]! & stateMask) === EntryState.gone || (piece.states[slot - 1]! & stateMask) === EntryState.gone
  );
}

/** Makes a free slot for an entry that belongs before `slot`; the piece has room somewhere. */
function openSlot(piece: Piece, slot: number): number {
  if (slot < piece.end && (piece.states[slot]! & stateMask) === EntryState.gone) return slot;
  if (slot > piece.start && (piece.states[slot - 1]! & stateMask) === EntryState.gone) return slot - 1;
  if (piece.start > 0) {
    piece.move(piece.start, slot, -1);
    piece.start--;
    return slot - 1;
  }
  piece.move(slot, piece.end, 1);
  piece.end++;
  return slot;
}
