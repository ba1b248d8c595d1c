/**
 * Publishes of this node's clients that are committed, and whose confirms wait for more replicas in sync (rule 21). They are in the
 * log and may be consumed already; only their publishers are not told.
 */
import type { Clock, Timer } from '../../base/clock.js';
import { nobody, type PublishOwner } from '../../model/broker.js';
import type { ConfirmGate } from './confirm-gate.js';

/** What waits at one gate, oldest first. */
class Waiting {
  readonly owners: PublishOwner[] = [];
  readonly tags: number[] = [];
  readonly since: number[] = [];
  head = 0;

  get length(): number {
    return this.owners.length - this.head;
  }
}

/** Time-outs are found after this at the latest; policies that ask for less, and queues that are gone, with the primary's next word. */
const lookMs = 100;

export class HeldConfirms {
  private readonly clock: Clock;
  private readonly gates = new Map<ConfirmGate, Waiting>();
  /** Owners that are gone and may have something waiting here. */
  private readonly gone = new Set<PublishOwner>();
  private timer: Timer | undefined;
  private inSync = 0;
  private lookedAt = 0;
  private count = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get length(): number {
    return this.count;
  }

  add(gate: ConfirmGate, owner: PublishOwner, tag: number): void {
    if (owner === nobody) return;
    let waiting = this.gates.get(gate);
    if (waiting === undefined) {
      waiting = new Waiting();
      this.gates.set(gate, waiting);
    }
    waiting.owners.push(owner);
    waiting.tags.push(tag);
    waiting.since.push(this.clock.now());
    this.count++;
    this.timer ??= this.clock.every(lookMs, () => this.expire());
  }

  /**
   * So many replicas are in sync now; 0 = nobody knows. Confirms what has waited for it: only then, since the primary says it under
   * its lease.
   */
  level(inSync: number): void {
    const rises = inSync > this.inSync;
    this.inSync = inSync;
    if (this.count > 0 && (rises || this.clock.now() - this.lookedAt >= lookMs)) this.release();
  }

  /** The owner is gone: nobody is to be told. */
  forget(owner: PublishOwner): void {
    if (this.count > 0) this.gone.add(owner);
  }

  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.gates.clear();
    this.gone.clear();
    this.count = 0;
  }

  private release(): void {
    this.lookedAt = this.clock.now();
    for (const [gate, waiting] of this.gates)
      if (gate.need <= this.inSync) this.end(waiting, Number.POSITIVE_INFINITY, true);
    this.tidy();
  }

  private expire(): void {
    const now = this.clock.now();
    for (const [gate, waiting] of this.gates) if (gate.timeoutMs > 0) this.end(waiting, now - gate.timeoutMs, false);
    this.tidy();
  }

  private tidy(): void {
    for (const [gate, waiting] of this.gates) if (waiting.length === 0) this.gates.delete(gate);
    if (this.count === 0) this.close();
  }

  /** Answers what has waited since `until` or longer. */
  private end(waiting: Waiting, until: number, confirmed: boolean): void {
    const { owners, tags, since } = waiting;
    while (waiting.head < owners.length && since[waiting.head]! <= until) {
      const at = waiting.head++;
      this.count--;
      const owner = owners[at]!;
      if (this.gone.has(owner)) continue;
      if (confirmed) owner.completed(tags[at]!);
      else owner.refused(tags[at]!);
    }
    if (waiting.head < 1024 || waiting.head * 2 < owners.length) return;
    for (const list of [owners, tags, since]) list.splice(0, waiting.head);
    waiting.head = 0;
  }
}
