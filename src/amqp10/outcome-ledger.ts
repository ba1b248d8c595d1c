import type { PublishOwner } from '../model/broker.js';
import { type AmqpError, Condition, AmqpError as Failure } from './codec/index.js';
import { toAmqpError } from './errors.js';

/** What became of a publish. */
export const PublishOutcome = { accepted: 0, released: 1, rejected: 2 } as const;
export type PublishOutcome = (typeof PublishOutcome)[keyof typeof PublishOutcome];

/** Whose a publish was. */
export interface PublishSource {
  /** Its outcome was told. */
  publishSettled(): void;
}

/** Deliveries `first` to `last` have the outcome. */
export type OutcomeWriter = (
  first: number,
  last: number,
  outcome: PublishOutcome,
  error: AmqpError | undefined,
) => void;

const initialCapacity = 64;
/** The outcome was told; the slot waits for those before it. */
const told = 255;

/**
 * The unsettled publishes of a session: of each its delivery id, how many of its parts are not safe yet, and its outcome, in rings. Outcomes
 * are gathered and leave once a turn: neighbours with the same outcome are one disposition.
 */
export class OutcomeLedger implements PublishOwner {
  private ids: Uint32Array = new Uint32Array(initialCapacity);
  private missing: Uint16Array = new Uint16Array(initialCapacity);
  private outcomes: Uint8Array = new Uint8Array(initialCapacity);
  private sources: (PublishSource | null)[] = new Array<PublishSource | null>(initialCapacity).fill(null);
  private mask: number = initialCapacity - 1;
  private head = 0;
  private next = 0;
  /** Complete, and not told yet. */
  private ready: number[] = [];
  private readonly errors = new Map<number, AmqpError>();
  private readonly onDirty: () => void;

  /** @param onDirty called once when there is something to flush, until it is flushed */
  constructor(onDirty: () => void) {
    this.onDirty = onDirty;
  }

  /** The tag that the next publish must use. */
  get nextTag(): number {
    return this.next;
  }

  /** Takes the publish `nextTag`, which went out in `parts` parts; if they are none its outcome is known: see `answer`. */
  opened(deliveryId: number, source: PublishSource, parts: number): void {
    if (this.next - this.head > this.mask) this.grow();
    const tag = this.next++;
    const slot = tag & this.mask;
    this.ids[slot] = deliveryId;
    this.missing[slot] = parts;
    this.outcomes[slot] = PublishOutcome.accepted;
    this.sources[slot] = source;
    if (parts === 0) this.complete(tag);
  }

  /** A publish that went nowhere. */
  answer(deliveryId: number, source: PublishSource, outcome: PublishOutcome, error?: AmqpError): void {
    const tag = this.next;
    this.opened(deliveryId, source, 0);
    this.outcomes[tag & this.mask] = outcome;
    if (error !== undefined) this.errors.set(tag, error);
  }

  completed(tag: number): void {
    const slot = tag & this.mask;
    const left = this.missing[slot]! - 1;
    this.missing[slot] = left;
    if (left === 0) this.complete(tag);
  }

  refused(tag: number): void {
    this.reject(
      tag,
      new Failure(Condition.preconditionFailed, 'a queue refuses it, or has too few replicas: it may be in others'),
    );
    this.completed(tag);
  }

  /** By a route that was not known: it leads nowhere. */
  unroutable(tag: number): void {
    this.outcomes[tag & this.mask] = PublishOutcome.released;
  }

  failed(tag: number, error: Error): void {
    this.reject(tag, toAmqpError(error));
    this.completed(tag);
  }

  /** Writes all outcomes that are due. */
  flush(write: OutcomeWriter): void {
    const { ready } = this;
    this.ready = [];
    for (let i = 0; i < ready.length; ) {
      const tag = ready[i]!;
      const outcome = this.outcomes[tag & this.mask]! as PublishOutcome;
      const error = this.errors.size > 0 ? this.errors.get(tag) : undefined;
      const first = this.ids[tag & this.mask]!;
      let last = first;
      for (i++; error === undefined && i < ready.length && this.follows(ready[i]!, last, outcome); i++)
        last = (last + 1) >>> 0;
      write(first, last, outcome, error);
    }
    for (const tag of ready) this.tell(tag);
    while (this.head < this.next && this.outcomes[this.head & this.mask] === told) this.head++;
  }

  private follows(tag: number, last: number, outcome: PublishOutcome): boolean {
    const slot = tag & this.mask;
    if (this.ids[slot] !== (last + 1) >>> 0 || this.outcomes[slot] !== outcome) return false;
    return this.errors.size === 0 || !this.errors.has(tag);
  }

  private tell(tag: number): void {
    const slot = tag & this.mask;
    const source = this.sources[slot]!;
    this.outcomes[slot] = told;
    this.sources[slot] = null;
    if (this.errors.size > 0) this.errors.delete(tag);
    source.publishSettled();
  }

  private reject(tag: number, error: AmqpError): void {
    this.outcomes[tag & this.mask] = PublishOutcome.rejected;
    this.errors.set(tag, error);
  }

  private complete(tag: number): void {
    this.ready.push(tag);
    if (this.ready.length === 1) this.onDirty();
  }

  private grow(): void {
    const { ids, missing, outcomes, sources, mask } = this;
    const capacity = (mask + 1) * 2;
    this.ids = new Uint32Array(capacity);
    this.missing = new Uint16Array(capacity);
    this.outcomes = new Uint8Array(capacity);
    this.sources = new Array<PublishSource | null>(capacity).fill(null);
    this.mask = capacity - 1;
    for (let tag = this.head; tag < this.next; tag++) {
      const from = tag & mask;
      const to = tag & this.mask;
      this.ids[to] = ids[from]!;
      this.missing[to] = missing[from]!;
      this.outcomes[to] = outcomes[from]!;
      this.sources[to] = sources[from]!;
    }
  }
}
