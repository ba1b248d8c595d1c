import { LaneIndex } from '../queue/lane-index.js';
import type { Entry, MessageIndex } from '../queue/message-index.js';

/**
 * Which priority is next in a queue that gives each its share: messages of a level go out until its share is used up or it has none
 * left, then it is the turn of the next lower level that has some, and after the lowest of the highest again. Known on the primary
 * only: the next one begins with the highest level.
 */
export class FairShares {
  /** Whose turn it is, and how many it has had in a row. */
  private level = Number.POSITIVE_INFINITY;
  private count = 0;
  /** It is the level's turn anew, with the message that was found last. */
  private isFresh = true;

  /** The message that goes out next. The same one, until `took` is called or messages come or go. */
  next(index: MessageIndex, shares: readonly number[]): Entry | undefined {
    if (!(index instanceof LaneIndex)) return index.nextReady();
    const share = shares[this.level] ?? 0;
    const isUsedUp = share > 0 && this.count >= share;
    const entry = index.nextReadyFrom(isUsedUp ? this.level - 1 : this.level);
    if (entry !== undefined) this.isFresh = isUsedUp || index.levelOf(entry) !== this.level;
    return entry;
  }

  /** The message that was found last goes out; before it leaves its place. */
  took(index: MessageIndex, entry: Entry): void {
    if (!(index instanceof LaneIndex)) return;
    this.level = index.levelOf(entry);
    this.count = this.isFresh ? 1 : this.count + 1;
  }
}
