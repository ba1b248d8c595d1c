/**
 * What the index of a queue's messages offers, whatever the order in which they go out: `QueueIndex` by position, `LaneIndex` by
 * priority first. Entries that it returns are flyweights, valid until the index changes or is asked again.
 */
import type { Entry } from './piece.js';
import type { PieceList } from './piece-list.js';

export type { Entry } from './piece.js';

export interface MessageIndex {
  /** Its entries: a list for each lane, the one that goes first first. */
  readonly lists: readonly PieceList[];
  /** Messages that may be delivered. */
  readonly ready: number;
  /** Messages that a client holds. */
  readonly delivered: number;
  /** Bytes of the bodies of all messages, and of those that may be delivered. */
  readonly bodyBytes: number;
  readonly readyBytes: number;
  /** Messages in the queue, whatever their state. */
  readonly size: number;
  /** Smallest position; NaN if there is none. */
  readonly first: number;
  /** Highest position; NaN if there is none. */
  readonly last: number;
  /** Bytes allocated for entries. */
  readonly allocatedBytes: number;
  /**
   * Adds a ready message in its place. `chunk`, `offset`, `length`: where its record lies, of which `body` bytes are the message's
   * body. Returns false, and changes nothing, if it is there already.
   */
  add(
    position: number,
    chunk: number,
    offset: number,
    length: number,
    body: number,
    durable: boolean,
    priority: number,
  ): boolean;
  /** The message at `position`; undefined if it is not there. */
  find(position: number): Entry | undefined;
  /** The ready message that goes out next, of those at positions up to `until`. It stays until `deliver` or `settle`. */
  nextReady(until?: number): Entry | undefined;
  /** The ready message that can be spared first: the oldest one of those with the lowest priority. It stays as with `nextReady`. */
  leastReady(): Entry | undefined;
  /** A ready message is handed to `holder` (1..65535). */
  deliver(entry: Entry, holder: number): void;
  /** Another holder has a delivered message. */
  handOver(entry: Entry, holder: number): void;
  /** The dequeue of a ready or delivered message is on its way into the log. */
  settle(entry: Entry): void;
  /** A delivered message goes back to its place. `redelivered`: a client has seen it, or may have. */
  giveBack(entry: Entry, redelivered: boolean): void;
  /**
   * What `holder` holds goes back to its place: from position `from` on, until about `max` entries were looked at. Returns
   * where to go on, or Infinity when that was all. What comes and goes between two calls does no harm. `each` is told of each.
   */
  giveBackOf(
    holder: number,
    redelivered: boolean,
    from: number,
    max: number,
    each?: (position: number) => void,
  ): number;
  /** It comes flagged when it is handed out. */
  flag(entry: Entry): void;
  /**
   * Visits messages at positions from `from` up to `to` that a client holds or that would come again flagged, until about `max`
   * entries were looked at. Returns where to go on, or Infinity when that was all.
   */
  handled(
    from: number,
    to: number,
    max: number,
    visit: (position: number, held: boolean, flagged: boolean) => void,
  ): number;
  /** The message's record lies elsewhere from now on. */
  move(entry: Entry, chunk: number, offset: number): void;
  /** Takes a message out, whatever its state. */
  remove(entry: Entry): void;
  /** Nobody holds anything, nothing is being dequeued: as on a replica that is not the primary. */
  resetVolatile(): void;
  /** Up to `max` positions below `below`, descending. Whatever changes between two calls, the next one goes on from there. */
  positionsDescending(below: number, max: number): number[];
  /** Up to `max` positions above `above`, ascending. */
  positionsAscending(above: number, max: number): number[];
  /** Takes out messages in large portions, `atLeast` if there are so many, and tells of each one's record. */
  dropFront(atLeast: number, each: (chunk: number, length: number, position: number) => void): void;
}
