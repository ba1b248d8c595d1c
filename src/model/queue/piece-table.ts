/**
 * The entries of one queue's index, in pieces: adding, finding and removing them, and keeping the pieces dense.
 *
 * Memory: 25 bytes an entry, in pieces of 512 (small ones for small queues). Removal in order lets whole pieces go. Removal
 * in the middle merges neighbouring pieces as they empty: two inner neighbours together keep more than 11/16 of one piece, so
 * the worst pattern of removals costs 25 / 0.34 = 74 bytes for each message left, less than the queue had before.
 */
import { Entry, EntryState, entryBytes, Piece, pieceEntries, pieceEntriesMin, stateMask } from './piece.js';
import { PieceList, type PiecePool } from './piece-list.js';

/** A table that has become empty keeps its piece if it is no larger than this. */
const keptEntries = 32;
const mergedEntriesMax = (pieceEntries * 3) / 4;

/** Stands for "no piece". */
export const noPiece: Piece = new Piece(0, 0);

export class PieceTable {
  /** Entries that are not gone. */
  size = 0;
  readonly list: PieceList = new PieceList();
  private readonly pool: PiecePool;
  private readonly found = new Entry(noPiece);
  /** The last piece, or `noPiece`. */
  private tail = noPiece;
  private spare: Piece | undefined;
  /** Most entries since the table was empty: how large a piece it begins with. */
  private peak = 0;

  constructor(pool: PiecePool) {
    this.pool = pool;
  }

  /** Position of the first entry; NaN if there is none. */
  get first(): number {
    return (this.list.at(0) ?? noPiece).first;
  }

  /** Position of the last entry; NaN if there is none. */
  get last(): number {
    return this.tail.last;
  }

  /** Bytes allocated for entries. */
  get allocatedBytes(): number {
    let entries = this.spare?.capacity ?? 0;
    for (let i = 0; i < this.list.length; i++) entries += this.list.at(i)!.capacity;
    return entries * entryBytes;
  }

  /** Adds a ready entry in its place. Returns false, and changes nothing, if it is there already. */
  add(position: number, chunk: number, offset: number, length: number, body: number, flags: number): boolean {
    let piece = this.tail;
    if (piece.live > 0 && position <= piece.positions[piece.end - 1]!) {
      if (!this.insert(position, chunk, offset, length, body, flags)) return false;
    } else {
      if (piece.end === piece.capacity) piece = this.roomAtEnd();
      piece.fill(piece.end++, position, chunk, offset, length, body, flags);
    }
    if (++this.size > this.peak) this.peak = this.size;
    return true;
  }

  /** The entry at `position`; undefined if it is not there. Valid until the table changes or this is called again. */
  find(position: number): Entry | undefined {
    const entry = this.found;
    let piece = entry.piece;
    let slot = entry.slot + 1;
    if (piece.table !== this || slot >= piece.end || slot < piece.start || piece.positions[slot] !== position) {
      if (piece.table !== this || !(position >= piece.first && position <= piece.last)) {
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

  /** Takes out the entry at `slot` of `piece`. */
  remove(piece: Piece, slot: number): void {
    const { states } = piece;
    if ((states[slot]! & stateMask) !== EntryState.ready) piece.busy--;
    states[slot] = EntryState.gone;
    this.size--;
    if (--piece.live === 0) {
      this.letGo(this.list.floor(piece.positions[piece.start]!));
      return;
    }
    if (slot === piece.start) while ((states[piece.start]! & stateMask) === EntryState.gone) piece.start++;
    else if (slot === piece.end - 1) while ((states[piece.end - 1]! & stateMask) === EntryState.gone) piece.end--;
    if (piece.live * 2 <= piece.capacity && piece.live % 32 === 0) this.mergeAround(piece);
  }

  /** Takes out the first piece with all that is in it. */
  removeFirstPiece(): void {
    this.size -= this.list.at(0)!.live;
    this.letGo(0);
  }

  /** Lets the piece at `index` go. */
  private letGo(index: number): void {
    const piece = this.list.at(index)!;
    this.list.remove(index);
    if (piece === this.tail) this.tail = this.list.at(this.list.length - 1) ?? noPiece;
    this.discard(piece);
    if (this.list.length === 0 && piece.capacity <= keptEntries) this.spare = piece;
  }

  /** The piece is in the list no longer; another queue may get it. */
  private discard(piece: Piece): void {
    piece.letGo();
    this.pool.give(piece);
  }

  /** A last piece with room at its end. */
  private roomAtEnd(): Piece {
    const old = this.tail;
    if (old !== noPiece && old.capacity < pieceEntries) {
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
    if (piece !== undefined) {
      piece.table = this;
    } else {
      piece = this.newPiece(old !== noPiece || this.peak * 2 > pieceEntries ? pieceEntries : pieceEntriesMin, 0);
      if (old === noPiece) this.peak = 0;
    }
    this.list.insert(this.list.length, piece);
    this.tail = piece;
    return piece;
  }

  private newPiece(capacity: number, at: number): Piece {
    const piece = capacity === pieceEntries ? this.pool.take(at) : new Piece(capacity, at);
    piece.table = this;
    return piece;
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
  private insert(
    position: number,
    chunk: number,
    offset: number,
    length: number,
    body: number,
    flags: number,
  ): boolean {
    const index = this.list.floor(position);
    if (index < 0 || position > this.list.at(index)!.last) {
      let piece = this.list.at(index + 1)!;
      if (piece.start === 0) piece = this.roomBefore(index + 1);
      piece.fill(--piece.start, position, chunk, offset, length, body, flags);
      return true;
    }
    const piece = this.list.at(index)!;
    let slot = piece.lowerBound(position);
    if (piece.positions[slot] === position) {
      if ((piece.states[slot]! & stateMask) !== EntryState.gone) return false;
    } else {
      if (piece.start === 0 && piece.end === piece.capacity && !hasGone(piece, slot)) {
        this.makeRoom(index);
        return this.insert(position, chunk, offset, length, body, flags);
      }
      slot = openSlot(piece, slot);
    }
    piece.fill(slot, position, chunk, offset, length, body, flags);
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
      const upper = this.newPiece(pieceEntries, 0);
      old.copyLive(middle, old.end, upper);
      const lower = this.newPiece(pieceEntries, 0);
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
      const merged = this.newPiece(pieceEntries, 0);
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
