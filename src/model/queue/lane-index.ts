/**
 * The index of a queue with priorities: a lane, which is an index by position, for each priority in use. The highest lane goes
 * first. A message is in the lane of its priority, or in the top one if it has more than that (as in RabbitMQ). With `base` lanes
 * begin above that priority (as in Qpid): all up to it are in lane 0.
 */
import type { MessageIndex } from './message-index.js';
import type { Entry } from './piece.js';
import type { PieceList } from './piece-list.js';
import { type PiecePool, QueueIndex } from './queue-index.js';

/** An octet of the basic class's properties (AMQP 0-9-1 §1.8). */
export const priorityMax = 255;

export class LaneIndex implements MessageIndex {
  /** The highest lane. */
  readonly top: number;
  readonly base: number;
  /** See MessageIndex. */
  lists: readonly PieceList[] = [];
  private readonly pool: PiecePool;
  private readonly byPriority = new Map<number, QueueIndex>();
  /** The same, highest first. */
  private lanes: QueueIndex[] = [];
  private levels: number[] = [];
  /** The lane of the entry that was given out last. */
  private current: QueueIndex;

  constructor(pool: PiecePool, top: number, base: number = 0) {
    this.pool = pool;
    this.top = top;
    this.base = base;
    this.current = this.lane(0);
  }

  get ready(): number {
    return this.sum((lane) => lane.ready);
  }
  get delivered(): number {
    return this.sum((lane) => lane.delivered);
  }
  get bodyBytes(): number {
    return this.sum((lane) => lane.bodyBytes);
  }
  get readyBytes(): number {
    return this.sum((lane) => lane.readyBytes);
  }
  get size(): number {
    return this.sum((lane) => lane.size);
  }
  get allocatedBytes(): number {
    return this.sum((lane) => lane.allocatedBytes);
  }

  get first(): number {
    const { used } = this;
    return used.length === 0 ? Number.NaN : Math.min(...used.map((lane) => lane.first));
  }
  get last(): number {
    const { used } = this;
    return used.length === 0 ? Number.NaN : Math.max(...used.map((lane) => lane.last));
  }

  add(
    position: number,
    chunk: number,
    offset: number,
    length: number,
    body: number,
    durable: boolean,
    priority: number,
  ): boolean {
    const level = Math.max(0, Math.min(priority - this.base, this.top));
    return this.lane(level).add(position, chunk, offset, length, body, durable);
  }

  find(position: number): Entry | undefined {
    const recent = this.current.find(position);
    if (recent !== undefined) return recent;
    for (const lane of this.lanes) {
      const entry = lane.find(position);
      if (entry === undefined) continue;
      this.current = lane;
      return entry;
    }
    return undefined;
  }

  nextReady(until: number = Number.POSITIVE_INFINITY): Entry | undefined {
    for (const lane of this.lanes) {
      const entry = lane.nextReady(until);
      if (entry === undefined) continue;
      this.current = lane;
      return entry;
    }
    return undefined;
  }

  /** The ready message that goes out next, if it is the turn of lane `level`: of the lanes from there down, then from the top. */
  nextReadyFrom(level: number): Entry | undefined {
    const { lanes, levels } = this;
    let start = 0;
    while (start < lanes.length && levels[start]! > level) start++;
    for (let i = 0; i < lanes.length; i++) {
      const at = (start + i) % lanes.length;
      const entry = lanes[at]!.nextReady();
      if (entry === undefined) continue;
      this.current = lanes[at]!;
      return entry;
    }
    return undefined;
  }

  leastReady(): Entry | undefined {
    for (let i = this.lanes.length - 1; i >= 0; i--) {
      const entry = this.lanes[i]!.nextReady();
      if (entry === undefined) continue;
      this.current = this.lanes[i]!;
      return entry;
    }
    return undefined;
  }

  /** The lane of the entry. */
  levelOf(entry: Entry): number {
    return this.levels[this.lanes.indexOf(this.of(entry))]!;
  }

  deliver(entry: Entry, holder: number): void {
    this.of(entry).deliver(entry, holder);
  }
  handOver(entry: Entry, holder: number): void {
    this.of(entry).handOver(entry, holder);
  }
  settle(entry: Entry): void {
    this.of(entry).settle(entry);
  }
  giveBack(entry: Entry, redelivered: boolean): void {
    this.of(entry).giveBack(entry, redelivered);
  }
  flag(entry: Entry): void {
    this.of(entry).flag(entry);
  }
  move(entry: Entry, chunk: number, offset: number): void {
    this.of(entry).move(entry, chunk, offset);
  }
  remove(entry: Entry): void {
    this.of(entry).remove(entry);
  }

  /** All lanes go on from where the slowest of them stopped: what is looked at twice has been given back. */
  giveBackOf(
    holder: number,
    redelivered: boolean,
    from: number,
    max: number,
    each?: (position: number) => void,
  ): number {
    return this.least((lane, share) => lane.giveBackOf(holder, redelivered, from, share, each), max);
  }

  handled(
    from: number,
    to: number,
    max: number,
    visit: (position: number, held: boolean, flagged: boolean) => void,
  ): number {
    const seen: [position: number, held: boolean, flagged: boolean][] = [];
    const note = (position: number, held: boolean, flagged: boolean): void => void seen.push([position, held, flagged]);
    const next = this.least((lane, share) => lane.handled(from, to, share, note), max);
    for (const [position, held, flagged] of seen) if (position < next) visit(position, held, flagged);
    return next;
  }

  resetVolatile(): void {
    for (const lane of this.lanes) lane.resetVolatile();
  }

  positionsDescending(below: number, max: number): number[] {
    return this.merge(
      (lane) => lane.positionsDescending(below, max),
      max,
      (a, b) => b - a,
    );
  }
  positionsAscending(above: number, max: number): number[] {
    return this.merge(
      (lane) => lane.positionsAscending(above, max),
      max,
      (a, b) => a - b,
    );
  }

  dropFront(atLeast: number, each: (chunk: number, length: number, position: number) => void): void {
    let left = atLeast;
    for (const lane of this.lanes) {
      const before = lane.size;
      lane.dropFront(left, each);
      left -= before - lane.size;
      if (left <= 0) return;
    }
  }

  /** Moves about `max` messages, which nobody holds, to another index; false: that was all. */
  moveTo(into: MessageIndex, max: number): boolean {
    for (const [priority, lane] of this.byPriority) {
      for (const position of lane.positionsAscending(-1, max)) {
        const entry = lane.find(position)!;
        into.add(position, entry.chunk, entry.offset, entry.length, entry.bodyBytes, entry.durable, priority);
        lane.remove(entry);
      }
      if (lane.size > 0) return true;
    }
    return false;
  }

  /** The one index that it consists of, if no message has a priority. */
  get only(): QueueIndex | undefined {
    return this.lanes.length === 1 ? this.lanes[0] : undefined;
  }

  private lane(priority: number): QueueIndex {
    let lane = this.byPriority.get(priority);
    if (lane === undefined) {
      lane = new QueueIndex(this.pool);
      this.byPriority.set(priority, lane);
      const sorted = [...this.byPriority].sort(([a], [b]) => b - a);
      this.lanes = sorted.map(([, one]) => one);
      this.lists = this.lanes.flatMap((one) => one.lists);
      this.levels = sorted.map(([level]) => level);
    }
    return lane;
  }

  private get used(): QueueIndex[] {
    return this.lanes.filter((lane) => lane.size > 0);
  }

  private of(entry: Entry): QueueIndex {
    if (this.current.has(entry)) return this.current;
    return this.lanes.find((lane) => lane.has(entry))!;
  }

  private sum(of: (lane: QueueIndex) => number): number {
    let sum = 0;
    for (const lane of this.lanes) sum += of(lane);
    return sum;
  }

  private least(walk: (lane: QueueIndex, share: number) => number, max: number): number {
    const share = Math.max(1, Math.floor(max / this.lanes.length));
    return this.lanes.reduce((next, lane) => Math.min(next, walk(lane, share)), Number.POSITIVE_INFINITY);
  }

  private merge(of: (lane: QueueIndex) => number[], max: number, order: (a: number, b: number) => number): number[] {
    if (this.lanes.length === 1) return of(this.lanes[0]!);
    return this.lanes.flatMap(of).sort(order).slice(0, max);
  }
}
