/** A binary heap of positions, smallest first: what was given back to a queue and is to go out again in its place. */
/** Of all heaps that have nothing: most queues' stay so. */
const none: number[] = [];

export class PositionHeap {
  private items: number[] = none;

  get size(): number {
    return this.items.length;
  }

  /** The smallest position; undefined if there is none. */
  peek(): number | undefined {
    return this.items[0];
  }

  push(position: number): void {
    if (this.items === none) this.items = [];
    const items = this.items;
    let at = items.length;
    items.push(position);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const above = items[parent]!;
      if (above <= position) break;
      items[at] = above;
      at = parent;
    }
    items[at] = position;
  }

  /** Takes out the smallest position. */
  pop(): void {
    const items = this.items;
    const moved = items.pop();
    if (moved === undefined || items.length === 0) return;
    const length = items.length;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= length) break;
      if (child + 1 < length && items[child + 1]! < items[child]!) child++;
      if (items[child]! >= moved) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = moved;
  }

  clear(): void {
    this.items = none;
  }
}
