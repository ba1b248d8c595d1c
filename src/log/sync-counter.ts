/**
 * How far a replica's own disk has a log: the end of the longest prefix in which every durable batch is synced (rule 7).
 * Batches that need no disk, or need not wait for it, count at receipt, unless one that must is before them and not synced yet.
 */
import type { Batch } from './group-log.js';
import type { Lsn } from './lsn.js';

export class SyncCounter {
  /** The longest synced prefix. */
  value: Lsn = 0;
  private end: Lsn = 0;
  /** Durable batches that are not synced: last lsn of each, and the lsn before it. */
  private lasts: Lsn[] = [];
  private befores: Lsn[] = [];
  private head = 0;

  reset(lsn: Lsn): void {
    this.value = lsn;
    this.end = lsn;
    this.lasts = [];
    this.befores = [];
    this.head = 0;
  }

  /** A batch was added to the log; `isAwaited`: it is on its way to the disk, and counts when it is there. */
  added(batch: Batch, isAwaited: boolean): void {
    if (isAwaited) {
      this.lasts.push(batch.last);
      this.befores.push(batch.previous);
    } else if (this.head === this.lasts.length) {
      this.value = batch.last;
    }
    this.end = batch.last;
  }

  /** Everything up to the batch that ends with `token` is synced. Returns whether the counter moved. */
  durable(token: Lsn): boolean {
    const before = this.value;
    while (this.head < this.lasts.length && this.lasts[this.head]! <= token) this.head++;
    if (this.head === this.lasts.length) {
      this.value = this.end;
      this.lasts = [];
      this.befores = [];
      this.head = 0;
    } else {
      this.value = this.befores[this.head]!;
    }
    return this.value !== before;
  }

  /** The log was cut after `lsn`. What was under way to the disk there no longer counts. */
  truncateAfter(lsn: Lsn): void {
    while (this.lasts.length > this.head && this.lasts[this.lasts.length - 1]! > lsn) {
      this.lasts.pop();
      this.befores.pop();
    }
    this.end = lsn;
    if (this.head === this.lasts.length || this.value > lsn) this.value = lsn;
  }
}
