import type { Entry } from '../queue/message-index.js';
import { IndexCursor } from '../queue/index-cursor.js';
import type { PieceList } from '../queue/piece-list.js';
import { PositionHeap } from '../queue/position-heap.js';

/** So many messages that came back are remembered; with more, all from the first of them on are looked at again. */
const backMax = 65_536;
/** Entries that nobody can be given, passed in one step. */
const passedMax = 8192;

/** How far a reader has come in one lane of a queue, and what has come back behind it. */
export class LaneReading {
  private readonly cursor: IndexCursor;
  private readonly back = new PositionHeap();
  /** What `next` returned had come back. */
  private isBack = false;

  constructor(list: PieceList, after: number) {
    this.cursor = new IndexCursor(list);
    this.cursor.at = after;
  }

  /** Nothing more is there for now. */
  get isAtEnd(): boolean {
    return this.cursor.isAtEnd && this.back.size === 0;
  }

  /** Entries that the last call of `next` has passed, besides the one that it returned. */
  get looked(): number {
    return this.isBack ? 0 : this.cursor.looked;
  }

  /** The ready message that is next; the same again until it is `passed`. */
  next(): Entry | undefined {
    const { back, cursor } = this;
    while (back.size > 0) {
      const entry = cursor.find(back.peek()!);
      if (entry !== undefined) {
        this.isBack = true;
        return entry;
      }
      back.pop();
    }
    this.isBack = false;
    return cursor.next(passedMax);
  }

  /** What `next` returned was looked at. */
  passed(position: number): void {
    if (this.isBack) this.back.pop();
    else this.cursor.at = position;
  }

  /** The message is ready again. */
  returned(position: number): void {
    const { back, cursor } = this;
    if (position > cursor.at || cursor.find(position) === undefined) return;
    if (back.size >= backMax) {
      this.rewind(Math.min(position, back.peek()!));
      back.clear();
    } else back.push(position);
  }

  /** All from that position on is looked at again. */
  rewind(position: number): void {
    this.cursor.at = Math.min(this.cursor.at, position - 1);
  }

  /** The message is in this lane. */
  has(position: number): boolean {
    return this.cursor.find(position) !== undefined;
  }
}
