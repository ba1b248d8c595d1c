/** Which of the last publishes are confirmed, in whatever order and in whatever ranges a broker says so. */
export class ConfirmWindow {
  /** Tags up to here are all confirmed. */
  private low = 0;
  private last = 0;
  private readonly flags: Uint8Array;
  private readonly mask: number;
  private early = 0;

  /** @param size publishes that may be out at once. */
  constructor(size: number) {
    let capacity = 1;
    while (capacity < size) capacity *= 2;
    this.flags = new Uint8Array(capacity);
    this.mask = capacity - 1;
  }

  /** Publishes without a confirm. */
  get open(): number {
    return this.last - this.low - this.early;
  }

  /** Publishes that still fit. A confirm that is missing holds back those behind it. */
  get room(): number {
    return this.mask + 1 - (this.last - this.low);
  }

  published(count: number): void {
    this.last += count;
  }

  /** Returns how many publishes this confirms that were not confirmed before. */
  confirm(tag: number, multiple: boolean): number {
    const before = this.open;
    if (tag > this.last || tag <= this.low) return 0;
    if (multiple) while (this.low < tag) this.advance();
    else if (this.flags[tag & this.mask] === 0) {
      this.flags[tag & this.mask] = 1;
      this.early++;
    }
    while (this.low < this.last && this.flags[(this.low + 1) & this.mask] === 1) this.advance();
    return before - this.open;
  }

  private advance(): void {
    this.low++;
    const at = this.low & this.mask;
    this.early -= this.flags[at]!;
    this.flags[at] = 0;
  }
}
