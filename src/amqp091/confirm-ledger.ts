import type { PublishOwner } from '../model/broker.js';

/** Writes one basic.ack to the client. */
export type AckWriter = (deliveryTag: number, multiple: boolean) => void;
/** Writes one basic.nack to the client. */
export type NackWriter = (deliveryTag: number) => void;

const initialCapacity = 64;

/**
 * The publishes of a channel in confirm mode that are not confirmed yet: a counter of missing parts each, in a ring.
 * Confirms are gathered and leave once a turn: one ack(multiple) for everything before the first gap, single acks for
 * what lies behind it. Publishes complete out of order when they go to different groups. One of which a part was refused is
 * nacked once all its parts are answered, before an ack could cover it.
 *
 * Tags count from 1, as the client counts them (confirm.select).
 */
export class ConfirmLedger implements PublishOwner {
  /** Missing parts of publish `tag` at `tag & mask`; 0 = complete. */
  private missing: Uint16Array = new Uint16Array(initialCapacity);
  private mask: number = initialCapacity - 1;
  /** The next publish's tag. */
  private next = 1;
  /** First tag that is not complete. */
  private head = 1;
  /** Everything below was acked with the prefix. */
  private acked = 1;
  /** Complete since the last flush, behind a gap at that time. */
  private readonly behindGap: number[] = [];
  /** Of some of their parts nothing is promised. */
  private readonly refusals = new Set<number>();
  private nacks: number[] = [];
  private readonly onDirty: () => void;
  private dirty = false;

  /** @param onDirty called once when there is something to flush, until it is flushed. */
  constructor(onDirty: () => void) {
    this.onDirty = onDirty;
  }

  /** The tag that the next publish must use. */
  get nextTag(): number {
    return this.next;
  }

  /** Publishes taken and not confirmed to the client. */
  get outstanding(): number {
    return this.next - this.acked;
  }

  /** Takes the publish `nextTag`, which went out in `parts` parts; none are missing if it reached no queue. */
  opened(parts: number): void {
    const tag = this.next;
    if (tag - this.acked > this.mask) this.grow();
    this.next = tag + 1;
    this.missing[tag & this.mask] = parts;
    if (parts === 0) this.complete(tag);
  }

  completed(tag: number): void {
    const index = tag & this.mask;
    const left = this.missing[index]! - 1;
    this.missing[index] = left;
    if (left === 0) this.complete(tag);
  }

  refused(tag: number): void {
    this.refusals.add(tag);
    this.completed(tag);
  }

  /** Writes all answers that are due. */
  flush(write: AckWriter, writeNack: NackWriter): void {
    this.dirty = false;
    if (this.nacks.length > 0) {
      for (const tag of this.nacks) writeNack(tag);
      this.nacks = [];
    }
    const { head, acked, behindGap } = this;
    if (head > acked) {
      write(head - 1, head - acked > 1);
      this.acked = head;
    }
    if (behindGap.length === 0) return;
    for (const tag of behindGap) if (tag >= head) write(tag, false);
    behindGap.length = 0;
  }

  private complete(tag: number): void {
    const isRefused = this.refusals.size > 0 && this.refusals.delete(tag);
    if (isRefused) this.nacks.push(tag);
    if (tag === this.head) {
      let head = tag + 1;
      while (head < this.next && this.missing[head & this.mask] === 0) head++;
      this.head = head;
    } else if (!isRefused) {
      this.behindGap.push(tag);
    }
    if (!this.dirty) {
      this.dirty = true;
      this.onDirty();
    }
  }

  private grow(): void {
    const old = this.missing;
    const oldMask = this.mask;
    this.missing = new Uint16Array(old.length * 2);
    this.mask = this.missing.length - 1;
    for (let tag = this.acked; tag < this.next; tag++) this.missing[tag & this.mask] = old[tag & oldMask]!;
  }
}
