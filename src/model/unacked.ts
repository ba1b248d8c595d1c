import type { Holder, SettlementOwner } from './broker.js';

/** What a client says of a delivery. */
export const Outcome = {
  ack: 0,
  /** Back to its place, flagged redelivered. */
  requeue: 1,
  /** Refused for good. */
  reject: 2,
  /** As requeue, but that it came back does not count. */
  putBack: 3,
} as const;
export type Outcome = (typeof Outcome)[keyof typeof Outcome];

/** Whose a delivery is. */
export interface Recipient {
  /** The client settled one of its deliveries. */
  settled(): void;
}

/** Many channels only publish. */
const initialCapacity = 4;

/**
 * The deliveries of a channel or session that its client owes an answer for, in order of delivery tag: a ring of parallel arrays.
 * Tags may have gaps (deliveries without acknowledgement share the channel's numbers) and slots may be empty (settled out
 * of order), so a tag is found by a direct guess and, failing that, by halving. A ring that is full and mostly empty slots
 * is packed instead of grown: one message held for long does not make it grow.
 */
export class Unacked {
  private tags: Float64Array = new Float64Array(initialCapacity);
  private positions: Float64Array = new Float64Array(initialCapacity);
  /** Null: the slot is empty. */
  private holders: (Holder | null)[] = new Array<Holder | null>(initialCapacity).fill(null);
  /** Null: the message was fetched with basic.get. */
  private consumers: (Recipient | null)[] = new Array<Recipient | null>(initialCapacity).fill(null);
  private mask: number = initialCapacity - 1;
  private head = 0;
  /** Slots in use, empty ones in between included; the first is never empty. */
  private slots = 0;
  private live = 0;

  /** Deliveries that are not settled. */
  get size(): number {
    return this.live;
  }

  /** Adds a delivery; its tag is above all before it. */
  push(tag: number, position: number, holder: Holder, consumer: Recipient | null): void {
    if (this.slots > this.mask) {
      if (this.live * 2 <= this.slots) this.pack();
      else this.grow();
    }
    const slot = (this.head + this.slots) & this.mask;
    this.tags[slot] = tag;
    this.positions[slot] = position;
    this.holders[slot] = holder;
    this.consumers[slot] = consumer;
    this.slots++;
    this.live++;
  }

  /** Whether one of the oldest has such a holder; `max` slots are looked at. */
  someOldest(max: number, is: (holder: Holder) => boolean): boolean {
    const end = Math.min(max, this.slots);
    for (let i = 0; i < end; i++) {
      const holder = this.holders[(this.head + i) & this.mask];
      if (holder && is(holder)) return true;
    }
    return false;
  }

  /**
   * Settles the delivery `tag`, with `multiple` all up to it; tag 0 with `multiple` means all (§1.8.3.13).
   * @returns false, and nothing is settled, if `tag` is not outstanding.
   */
  settle(tag: number, multiple: boolean, outcome: Outcome): boolean {
    let last: number;
    if (tag === 0 && multiple) {
      last = this.slots - 1;
    } else {
      last = this.indexOf(tag);
      if (last < 0) return false;
    }
    let first = multiple ? 0 : last;
    for (; first <= last; first++) this.settleSlot((this.head + first) & this.mask, outcome);
    this.trim();
    return true;
  }

  /**
   * Settles those of the deliveries `first` to `last` that are outstanding; returns how many.
   * @param owner is told when what is acknowledged or refused is safe, by its tag
   */
  settleRange(first: number, last: number, outcome: Outcome, owner?: SettlementOwner): number {
    const before = this.live;
    for (let index = this.indexFrom(first); index < this.slots; index++) {
      const slot = (this.head + index) & this.mask;
      if (this.tags[slot]! > last) break;
      this.settleSlot(slot, outcome, owner);
    }
    this.trim();
    return before - this.live;
  }

  /** Takes all deliveries of one recipient out, for whoever settles them. @param keeps which are to stay */
  takeAllOf(
    recipient: Recipient,
    taken: (holder: Holder, position: number) => void,
    keeps?: (tag: number) => boolean,
  ): void {
    for (let index = 0; index < this.slots; index++) {
      const slot = (this.head + index) & this.mask;
      const holder = this.holders[slot];
      if (!holder || this.consumers[slot] !== recipient || keeps?.(this.tags[slot]!)) continue;
      const position = this.positions[slot]!;
      this.emptySlot(slot);
      taken(holder, position);
    }
    this.trim();
  }

  has(tag: number): boolean {
    return this.indexOf(tag) >= 0;
  }

  /** Tags of the deliveries up to `tag`, in order. */
  tagsUpTo(tag: number): number[] {
    const tags: number[] = [];
    for (let i = 0; i < this.slots; i++) {
      const slot = (this.head + i) & this.mask;
      if (this.tags[slot]! > tag) break;
      if (this.holders[slot]) tags.push(this.tags[slot]!);
    }
    return tags;
  }

  /** Visits those of the deliveries `first` to `last` that are outstanding. Nothing may be settled meanwhile. */
  forEachIn(first: number, last: number, visit: (tag: number) => void): void {
    for (let index = this.indexFrom(first); index < this.slots; index++) {
      const slot = (this.head + index) & this.mask;
      if (this.tags[slot]! > last) break;
      if (this.holders[slot]) visit(this.tags[slot]!);
    }
  }

  /** Takes the delivery `tag` out, for whoever settles it. */
  take(tag: number, taken: (holder: Holder, position: number) => void): void {
    const index = this.indexOf(tag);
    if (index < 0) return;
    const slot = (this.head + index) & this.mask;
    taken(this.holders[slot]!, this.positions[slot]!);
    this.emptySlot(slot)?.settled();
    this.trim();
  }

  /** Visits every delivery in order. */
  forEach(visit: (holder: Holder, position: number) => void): void {
    for (let i = 0; i < this.slots; i++) {
      const slot = (this.head + i) & this.mask;
      const holder = this.holders[slot];
      if (holder) visit(holder, this.positions[slot]!);
    }
  }

  private settleSlot(slot: number, outcome: Outcome, owner?: SettlementOwner): void {
    const holder = this.holders[slot];
    if (!holder) return;
    const position = this.positions[slot]!;
    const consumer = this.emptySlot(slot);
    if (outcome === Outcome.requeue) holder.requeue(position);
    else if (outcome === Outcome.putBack) holder.putBack(position);
    else if (owner !== undefined) holder.settleTold(position, outcome === Outcome.reject, owner, this.tags[slot]!);
    else if (outcome === Outcome.ack) holder.ack(position);
    else holder.reject(position);
    if (consumer) consumer.settled();
  }

  /** Returns whose it was. */
  private emptySlot(slot: number): Recipient | null {
    const consumer = this.consumers[slot]!;
    this.holders[slot] = null;
    this.consumers[slot] = null;
    this.live--;
    return consumer;
  }

  /** The first slot is never empty. */
  private trim(): void {
    while (this.slots > 0 && this.holders[this.head] === null) {
      this.head = (this.head + 1) & this.mask;
      this.slots--;
    }
  }

  /** Index from the head of the outstanding delivery `tag`; -1 if there is none. */
  private indexOf(tag: number): number {
    if (this.slots === 0) return -1;
    const { tags, head, mask } = this;
    let index = tag - tags[head]!;
    if (index < 0) return -1;
    if (index >= this.slots || tags[(head + index) & mask] !== tag) {
      let low = 0;
      let high = Math.min(index, this.slots - 1);
      while (low < high) {
        const middle = (low + high) >> 1;
        if (tags[(head + middle) & mask]! < tag) low = middle + 1;
        else high = middle;
      }
      if (tags[(head + low) & mask] !== tag) return -1;
      index = low;
    }
    return this.holders[(head + index) & mask] ? index : -1;
  }

  /** Index of the first slot whose tag is `tag` or above. */
  private indexFrom(tag: number): number {
    const { tags, head, mask } = this;
    let low = 0;
    let high = this.slots;
    // Mostly tags have no gaps.
    const guess = this.slots === 0 ? 0 : tag - tags[head]!;
    if (guess <= 0) return 0;
    if (guess < this.slots && tags[(head + guess) & mask] === tag) return guess;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tags[(head + middle) & mask]! < tag) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Moves the filled slots together. */
  private pack(): void {
    const { head, mask } = this;
    let kept = 0;
    for (let i = 0; i < this.slots; i++) {
      const from = (head + i) & mask;
      const holder = this.holders[from];
      if (!holder) continue;
      const to = (head + kept) & mask;
      kept++;
      if (to === from) continue;
      this.tags[to] = this.tags[from]!;
      this.positions[to] = this.positions[from]!;
      this.holders[to] = holder;
      this.consumers[to] = this.consumers[from]!;
      this.holders[from] = null;
      this.consumers[from] = null;
    }
    this.slots = kept;
  }

  private grow(): void {
    const capacity = (this.mask + 1) * 2;
    const tags = new Float64Array(capacity);
    const positions = new Float64Array(capacity);
    const holders = new Array<Holder | null>(capacity).fill(null);
    const consumers = new Array<Recipient | null>(capacity).fill(null);
    for (let i = 0; i < this.slots; i++) {
      const from = (this.head + i) & this.mask;
      tags[i] = this.tags[from]!;
      positions[i] = this.positions[from]!;
      holders[i] = this.holders[from]!;
      consumers[i] = this.consumers[from]!;
    }
    this.tags = tags;
    this.positions = positions;
    this.holders = holders;
    this.consumers = consumers;
    this.mask = capacity - 1;
    this.head = 0;
  }
}
