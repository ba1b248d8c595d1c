import { Piece, pieceEntries } from './piece.js';

/** Of all lists that have nothing: those of idle queues. */
const none: (Piece | undefined)[] = [];

/** The pieces of an index in order of position. Cheap at both ends; the front moves with the queue's consumers. */
export class PieceList {
  private pieces: (Piece | undefined)[] = none;
  private head = 0;

  get length(): number {
    return this.pieces.length - this.head;
  }

  at(index: number): Piece | undefined {
    return this.pieces[this.head + index];
  }

  /** Index of the last piece whose first position is not above `position`; -1 if there is none. */
  floor(position: number): number {
    const pieces = this.pieces;
    let low = this.head;
    let high = pieces.length;
    if (high > low && position >= pieces[high - 1]!.first) return high - 1 - low;
    if (high > low + 1 && position < pieces[low + 1]!.first) high = low + 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (pieces[middle]!.first <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1 - this.head;
  }

  set(index: number, piece: Piece): void {
    this.pieces[this.head + index] = piece;
  }

  insert(index: number, piece: Piece): void {
    if (this.pieces === none) this.pieces = [];
    if (index === this.length) {
      this.pieces.push(piece);
      return;
    }
    if (index > 0) {
      this.pieces.splice(this.head + index, 0, piece);
      return;
    }
    if (this.head === 0) {
      const room = Math.max(16, this.pieces.length);
      this.pieces = new Array<Piece | undefined>(room).fill(undefined).concat(this.pieces);
      this.head = room;
    }
    this.pieces[--this.head] = piece;
  }

  remove(index: number): void {
    if (index > 0) {
      this.pieces.splice(this.head + index, 1);
      return;
    }
    this.pieces[this.head++] = undefined;
    if (this.head === this.pieces.length || (this.head > 64 && this.head * 2 > this.pieces.length)) {
      this.pieces.splice(0, this.head);
      this.head = 0;
    }
  }

  clear(): void {
    this.pieces = none;
    this.head = 0;
  }
}

/** Full-size pieces that are not in use, shared by the queues of a group: a busy queue takes and leaves one every few turns. */
export class PiecePool {
  private readonly spare: Piece[] = [];
  private readonly max: number;

  constructor(max = 16) {
    this.max = max;
  }

  /** @param at where the first entry will be. */
  take(at: number): Piece {
    const piece = this.spare.pop();
    if (piece === undefined) return new Piece(pieceEntries, at);
    piece.start = at;
    piece.end = at;
    return piece;
  }

  /** Takes a piece that nobody uses any more. */
  give(piece: Piece): void {
    if (piece.capacity === pieceEntries && this.spare.length < this.max) this.spare.push(piece);
  }
}
