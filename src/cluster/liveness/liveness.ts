/**
 * Who may act, and who may be replaced: rule 11.
 *
 * A primary acts (confirms, delivers) only while its tenure holds. A backup takes over, and a primary gives away what a
 * node's clients hold, only after `depose`. The two never overlap in time for one boot, but for a falsely refused dial
 * (see heartbeats.ts).
 *
 * The order of a take-over: read the record; `learn` its primary; `depose` it, or wait for `gone` and try again; the
 * compare-and-set of the record at the version read, `end` the deposal when its outcome is
 * known. Of a primary that lapsed: wait until the members have promised again, then read the record, then `cover`.
 */
import type { Replica } from '../map.js';

/** `dead`: its process is gone. `lapsed`: what was promised to it has run out; it may come back. */
export type GoneReason = 'dead' | 'lapsed';

export interface LivenessListener {
  /** `mayDepose` has become true. Once for each time it does; a boot that lapsed may be reported dead later. */
  gone(node: string, boot: number, reason: GoneReason): void;
  /** That boot's promise to us ran out: tenures that cover it hold no more, and its link is closed. */
  lapsed(node: string, boot: number): void;
  /** That boot was reported dead and is alive: refused calls are not proof. */
  back(node: string, boot: number): void;
}

/** The right to replace one boot, held over a compare-and-set. While it is held, that boot is promised nothing. */
export interface Deposal {
  /** To be called once, when the compare-and-set has an outcome; if that was unknown, when it can no longer take effect. */
  end(): void;
}

/** A primary's right to act for one group. */
export interface Tenure {
  /**
   * True while every covered replica has promised, by this moment, not to replace us. Ask in the turn of the write; it
   * costs one look at the clock. Once false it stays false until `cover`: a lapsed lease is never revived.
   */
  holds(): boolean;
  /** By our clock: until when it holds if nothing more is heard; -Infinity if it lapsed. */
  readonly until: number;
  /**
   * The replicas that may replace us: the others of the in-sync set and of every proposal not yet answered (rule 3).
   * `askedAt`: by our clock, when the read or compare-and-set was sent that showed us as the record's primary. Promises count
   * only if they stand without a gap since then: a member that promised later may have replaced us in between. It may be left
   * out only by a tenure that holds and whose members' promises are known to be older.
   */
  cover(members: readonly Replica[], askedAt?: number): void;
  /** No longer primary. */
  end(): void;
}

export interface Liveness {
  /** A record names this boot: refusals from now on are evidence about it, later boots of its store prove it dead. */
  learn(replica: Replica): void;
  /** Nothing stands against replacing that boot now. False for our own. */
  mayDepose(node: string, boot: number): boolean;
  /** `mayDepose` and, if true, the promise to make it no promise until the deposal's end; null if it may not be replaced. */
  depose(node: string, boot: number): Deposal | null;
  /** Begins one and covers `members`. */
  tenure(members: readonly Replica[], askedAt?: number): Tenure;
  /** By our clock: until when that boot's promise to us holds; -Infinity if there is none. */
  promisedUntil(node: string, boot: number): number;
  observe(listener: LivenessListener): { close(): void };
  close(): void;
}
