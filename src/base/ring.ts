/**
 * Ring queues: first in, first out in constant time. `Array.shift` moves every element; a ring moves an index.
 * Both double when they are full; whoever fills one bounds it.
 */

/** A queue of objects. */
export class Ring<T> {
  /** Elements in the ring. */
  length = 0;
  private items: (T | undefined)[];
  private head = 0;
  private mask: number;

  /** @param capacity a power of two. */
  constructor(capacity = 16) {
    this.items = new Array<T | undefined>(capacity).fill(undefined);
    this.mask = capacity - 1;
  }

  push(item: T): void {
    if (this.length > this.mask) this.grow();
    this.items[(this.head + this.length++) & this.mask] = item;
  }

  /** Takes the oldest element; undefined if there is none. */
  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.items[this.head];
    this.items[this.head] = undefined;
    this.head = (this.head + 1) & this.mask;
    this.length--;
    return item;
  }

  /** The oldest element, which stays. */
  peek(): T | undefined {
    return this.items[this.head];
  }

  /** The element `index` places after the oldest. */
  at(index: number): T | undefined {
    return index < this.length ? this.items[(this.head + index) & this.mask] : undefined;
  }

  /** Takes out all elements for which `keep` is false; the order of the others stays. */
  filter(keep: (item: T) => boolean): void {
    const count = this.length;
    for (let i = 0; i < count; i++) {
      const item = this.shift()!;
      if (keep(item)) this.push(item);
    }
  }

  clear(): void {
    this.items.fill(undefined);
    this.length = 0;
  }

  private grow(): void {
    const { items, head, mask } = this;
    this.items = new Array<T | undefined>((mask + 1) * 2).fill(undefined);
    for (let i = 0; i < this.length; i++) this.items[i] = items[(head + i) & mask];
    this.head = 0;
    this.mask = this.items.length - 1;
  }
}

/** A queue of pairs of numbers, such as (lsn, count). */
export class PairRing {
  /** Pairs in the ring. */
  length = 0;
  private pairs: Float64Array;
  private head = 0;
  private mask: number;

  /** @param capacity a power of two. */
  constructor(capacity = 16) {
    this.pairs = new Float64Array(capacity * 2);
    this.mask = capacity - 1;
  }

  push(first: number, second: number): void {
    if (this.length > this.mask) this.grow();
    const at = ((this.head + this.length++) & this.mask) * 2;
    this.pairs[at] = first;
    this.pairs[at + 1] = second;
  }

  /** First number of the oldest pair; there must be one. */
  get first(): number {
    return this.pairs[this.head * 2]!;
  }

  /** Second number of the oldest pair; there must be one. */
  get second(): number {
    return this.pairs[this.head * 2 + 1]!;
  }

  /** Drops the oldest pair; there must be one. */
  drop(): void {
    this.head = (this.head + 1) & this.mask;
    this.length--;
  }

  clear(): void {
    this.length = 0;
  }

  private grow(): void {
    const { pairs, head, mask } = this;
    this.pairs = new Float64Array((mask + 1) * 4);
    for (let i = 0; i < this.length; i++) {
      const from = ((head + i) & mask) * 2;
      this.pairs[i * 2] = pairs[from]!;
      this.pairs[i * 2 + 1] = pairs[from + 1]!;
    }
    this.head = 0;
    this.mask = mask * 2 + 1;
  }
}
