import type { Lsn } from '../../log/lsn.js';
import type { Consumer } from './consumer.js';
import type { Reader } from './reader.js';

/** Messages that one queue's readers look at in a turn, and one of them at a time. */
const turnMax = 512;
const shareMin = 32;
/** What it costs to look at a message, in deliveries (Dispatcher). */
const lookCost = 4;
/** Positions that came back, kept until all readers were told. */
const backMax = 65_536;

/** The readers of a queue: most have none. They go before its consumers, one after the other. */
export class Readers {
  private readonly all: Reader[] = [];
  /** Whose turn it is. */
  private turn = 0;
  /** Positions that came back, and how many there were before them. */
  private back: Lsn[] = [];
  private backBefore = 0;

  get hasDemand(): boolean {
    return this.all.some((reader) => reader.wants);
  }

  add(reader: Reader): void {
    reader.toldBack = this.backEnd;
    reader.readers = this;
    this.all.push(reader);
  }

  /** Without the consumer's; undefined: there are none any more. */
  without({ reader }: Consumer): Readers | undefined {
    const at = reader === undefined ? -1 : this.all.indexOf(reader);
    if (at >= 0) this.all.splice(at, 1);
    return this.all.length === 0 ? undefined : this;
  }

  get backEnd(): number {
    return this.backBefore + this.back.length;
  }

  /** Some came back while the queue was dispatched. */
  get isDue(): boolean {
    return this.all.some((reader) => reader.wants && reader.isBehind);
  }

  /** The message is in its place again. */
  returned(position: Lsn): void {
    this.back.push(position);
    if (this.back.length <= backMax) return;
    const first = this.back.reduce((least, one) => Math.min(least, one));
    const end = this.backEnd;
    for (const reader of this.all) {
      if (reader.toldBack < end) reader.rewind(first);
      reader.toldBack = end;
    }
    this.forget();
  }

  /** Has them look at messages. Returns what that was, in deliveries, about `max` at most. @param later there is more to be looked at */
  run(max: number, later: () => void): number {
    const most = Math.min(Math.ceil(max / lookCost), turnMax);
    const waiting = this.all.length;
    const share = Math.max(shareMin, most / waiting);
    let left = most;
    let hasMore = false;
    for (let i = 0; i < waiting; i++) {
      const reader = this.all[this.turn % waiting];
      if (left <= 0 && reader?.wants === true) {
        // It is the first in the next turn.
        hasMore = true;
        break;
      }
      this.turn++;
      if (reader?.wants !== true) continue;
      this.tell(reader);
      const limit = Math.min(share, left);
      const cost = reader.run(limit);
      left -= cost;
      if (cost >= limit) hasMore = true;
    }
    if (hasMore) later();
    return Math.ceil((most - left) * lookCost);
  }

  private tell(reader: Reader): void {
    const { back, backBefore } = this;
    for (let i = reader.toldBack - backBefore; i < back.length; i++) reader.returned(back[i]!);
    reader.toldBack = this.backEnd;
    if (back.length > 0 && this.all.every((one) => one.toldBack === reader.toldBack)) this.forget();
  }

  private forget(): void {
    this.backBefore += this.back.length;
    this.back = [];
  }
}
