import { Ring } from '../../base/ring.js';
import type { PublishOwner } from '../../model/broker.js';
import type { ConfirmGate } from './confirm-gate.js';
import type { HeldConfirms } from './held-confirms.js';

/**
 * Who is to be told when a publish is safe, by sequence number: a ring of (owner, tag). Sequences are consecutive and are
 * confirmed in order, so an entry needs no key. It holds what lies between `confirmed` and `last`. What is safe and whose gate is
 * closed (rule 21) goes to `held`.
 */
export class ConfirmRing {
  /** All publishes up to here are safe. */
  confirmed = 0;
  /** The last sequence given out. */
  last = 0;
  private owners: (PublishOwner | undefined)[];
  private tags: Float64Array;
  /** Undefined: one replica is enough. */
  private gates: (ConfirmGate | undefined)[];
  /** What a queue has refused, or may have: it is dealt with, and not promised. */
  private readonly refused = new Set<number>();
  /** Publishes that a queue may refuse, in order; those that are dealt with are at its front. */
  private readonly refusable = new Ring<number>();
  private readonly held: HeldConfirms;
  private mask: number;

  constructor(held: HeldConfirms, capacity = 1024) {
    this.held = held;
    this.owners = new Array<PublishOwner | undefined>(capacity).fill(undefined);
    this.tags = new Float64Array(capacity);
    this.gates = new Array<ConfirmGate | undefined>(capacity).fill(undefined);
    this.mask = capacity - 1;
  }

  get outstanding(): number {
    return this.last - this.confirmed;
  }

  /** Gives the next sequence to a publish. */
  push(owner: PublishOwner, tag: number, gate: ConfirmGate | undefined, mayBeRefused: boolean = false): number {
    if (this.last - this.confirmed > this.mask) this.grow();
    const sequence = ++this.last;
    const at = sequence & this.mask;
    this.owners[at] = owner;
    this.tags[at] = tag;
    this.gates[at] = gate;
    if (mayBeRefused) this.refusable.push(sequence);
    return sequence;
  }

  /** A queue has refused that publish: its owner is told so when it is dealt with. */
  refuse(sequence: number): void {
    if (sequence > this.confirmed && sequence <= this.last) this.refused.add(sequence);
  }

  /**
   * A primary is asked that has, or had from another one, all publishes up to `taken`. Whether a queue has refused one of them is not
   * known: that counts as refused.
   */
  doubt(taken: number): void {
    for (let i = 0; i < this.refusable.length && this.refusable.at(i)! <= taken; i++)
      this.refuse(this.refusable.at(i)!);
  }

  /** Tells the owners of all publishes up to `sequence`, while `inSync` replicas are in sync. They may publish from within. */
  confirmTo(sequence: number, inSync: number): void {
    const end = Math.min(sequence, this.last);
    while (this.refusable.length > 0 && this.refusable.peek()! <= end) this.refusable.shift();
    while (this.confirmed < end) {
      const at = ++this.confirmed & this.mask;
      const owner = this.owners[at];
      this.owners[at] = undefined;
      const gate = this.gates[at];
      if (owner === undefined) continue;
      if (this.refused.size > 0 && this.refused.delete(this.confirmed)) owner.refused(this.tags[at]!);
      else if (gate !== undefined && gate.need > inSync) this.held.add(gate, owner, this.tags[at]!);
      else owner.completed(this.tags[at]!);
    }
  }

  /** The owner is gone: its publishes go on, but nobody is told. */
  forget(owner: PublishOwner): void {
    for (let sequence = this.confirmed + 1; sequence <= this.last; sequence++) {
      const at = sequence & this.mask;
      if (this.owners[at] === owner) this.owners[at] = undefined;
    }
  }

  /** Doubles the ring. Its size is bounded by the publish gate, which closes long before memory is short. */
  private grow(): void {
    const { owners, tags, gates, mask } = this;
    const capacity = (mask + 1) * 2;
    this.owners = new Array<PublishOwner | undefined>(capacity).fill(undefined);
    this.tags = new Float64Array(capacity);
    this.gates = new Array<ConfirmGate | undefined>(capacity).fill(undefined);
    this.mask = capacity - 1;
    for (let sequence = this.confirmed + 1; sequence <= this.last; sequence++) {
      this.owners[sequence & this.mask] = owners[sequence & mask];
      this.tags[sequence & this.mask] = tags[sequence & mask]!;
      this.gates[sequence & this.mask] = gates[sequence & mask];
    }
  }
}
