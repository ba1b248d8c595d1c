import { Entry, EntryState, stateMask } from './piece.js';
import type { PieceList } from './piece-list.js';
import { noPiece } from './piece-table.js';

/** Goes through the entries of an index in order of position, past those that are not ready. It takes nothing. */
export class IndexCursor {
  /** Entries up to here were passed. */
  at = -1;
  /** `next` came to the end. */
  isAtEnd = false;
  /** Entries that the last call of `next` has looked at. */
  looked = 0;
  private readonly list: PieceList;
  private readonly entry = new Entry(noPiece);

  constructor(list: PieceList) {
    this.list = list;
  }

  /**
   * The first ready entry behind `at`, of `max` that are looked at; those before it are passed, it itself is not. Undefined: there is
   * none, if `isAtEnd`. A flyweight, valid until the index changes.
   */
  next(max: number): Entry | undefined {
    const { list, entry } = this;
    this.looked = 0;
    this.isAtEnd = false;
    for (let i = Math.max(0, list.floor(this.at)); i < list.length; i++) {
      const piece = list.at(i)!;
      for (let slot = piece.lowerBound(this.at + 1); slot < piece.end; slot++) {
        if ((piece.states[slot]! & stateMask) === EntryState.ready) {
          entry.piece = piece;
          entry.slot = slot;
          return entry;
        }
        this.at = piece.positions[slot]!;
        if (++this.looked >= max) return undefined;
      }
    }
    this.isAtEnd = true;
    return undefined;
  }

  /** The entry at `position`, if it is ready. */
  find(position: number): Entry | undefined {
    const { list, entry } = this;
    const piece = list.at(Math.max(0, list.floor(position)));
    if (piece === undefined) return undefined;
    const slot = piece.lowerBound(position);
    if (slot >= piece.end || piece.positions[slot] !== position) return undefined;
    if ((piece.states[slot]! & stateMask) !== EntryState.ready) return undefined;
    entry.piece = piece;
    entry.slot = slot;
    return entry;
  }
}
