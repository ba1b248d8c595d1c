import type { Clock } from '../../base/clock.js';
import type { Replica } from '../map.js';
import type { Tenure } from './liveness.js';

/** What a replica has promised us, by our clock; undefined if it never did. */
export type PromiseOf = (
  node: string,
  boot: number,
) => { readonly promisedSince: number; readonly promisedUntil: number } | undefined;

/** The tenures of one node, each with the earliest end of the promises it rests on. */
export class Tenures {
  private readonly clock: Clock;
  private readonly promiseOf: PromiseOf;
  private readonly held = new Set<PromisedTenure>();

  constructor(clock: Clock, promiseOf: PromiseOf) {
    this.clock = clock;
    this.promiseOf = promiseOf;
  }

  begin(members: readonly Replica[], askedAt?: number): Tenure {
    const tenure = new PromisedTenure(this.clock, this.promiseOf, (ended) => this.held.delete(ended));
    this.held.add(tenure);
    tenure.cover(members, askedAt);
    return tenure;
  }

  /** That boot's promise was renewed, or has run out. */
  changed(node: string, boot: number): void {
    for (const tenure of this.held) tenure.changed(node, boot);
  }
}

class PromisedTenure implements Tenure {
  until = Number.NEGATIVE_INFINITY;
  private members: readonly Replica[] = [];
  private readonly clock: Clock;
  private readonly promiseOf: PromiseOf;
  private readonly ended: (tenure: PromisedTenure) => void;

  constructor(clock: Clock, promiseOf: PromiseOf, ended: (tenure: PromisedTenure) => void) {
    this.clock = clock;
    this.promiseOf = promiseOf;
    this.ended = ended;
  }

  holds(): boolean {
    if (this.clock.now() < this.until) return true;
    this.until = Number.NEGATIVE_INFINITY;
    return false;
  }

  cover(members: readonly Replica[], askedAt: number = Number.POSITIVE_INFINITY): void {
    this.members = [...members];
    this.until = this.earliest(askedAt);
  }

  changed(node: string, boot: number): void {
    // Lapsed stays lapsed. A look at the clock first: it may have run out unseen before this renewal.
    if (this.holds() && this.members.some((member) => member.node === node && member.boot === boot)) {
      this.until = this.earliest(Number.POSITIVE_INFINITY);
    }
  }

  end(): void {
    this.until = Number.NEGATIVE_INFINITY;
    this.members = [];
    this.ended(this);
  }

  private earliest(askedAt: number): number {
    let until = Number.POSITIVE_INFINITY;
    for (const member of this.members) {
      const promise = this.promiseOf(member.node, member.boot);
      if (!promise || promise.promisedSince > askedAt) return Number.NEGATIVE_INFINITY;
      until = Math.min(until, promise.promisedUntil);
    }
    return until;
  }
}
