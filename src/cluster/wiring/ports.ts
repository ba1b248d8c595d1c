/** What carrying wiring operations needs from replication. */
import type { Lsn } from '../../log/lsn.js';
import type { GroupAppender } from '../../model/group-port.js';

/** The system group as its primary sees it, for one epoch. */
export interface SystemLeader {
  readonly epoch: number;
  readonly appender: GroupAppender;
  /** The log's end when this primary took over, or went on after a pause: what is up to there was asked for and not answered. */
  readonly inherited: Lsn;
  /**
   * Everything up to here is committed and applied by every in-sync member of the system group (rule 15: a member that is
   * left out has no lease). Operations up to here may be answered.
   */
  readonly appliedEverywhere: Lsn;
}

export interface SystemGroup {
  /** Defined while this node leads the system group and has brought its state up to date. */
  leader(): SystemLeader | undefined;
  /** Told when `leader()` has changed or its `appliedEverywhere` has grown. */
  onProgress(listener: () => void): void;
}

/**
 * A group as its primary sees it, for the events that wiring causes in it. Its state contains all that its log had at the
 * takeover (rule 4).
 */
export interface WiredGroup {
  readonly group: number;
  readonly appender: GroupAppender;
  /** Wiring version of the last open or drop in the state (rule 15). */
  readonly wiringVersion: Lsn;
  /** Incarnations of the queues in the state. */
  openQueues(): Iterable<Lsn>;
  /**
   * The opens and drops that wiring up to `version` means for the group are in its log, not after `after`: what was routed with
   * that wiring may go on when that is committed.
   */
  advanceWiring(version: Lsn, after: Lsn): void;
}

/** Which boots are over for good. */
export interface BootLives {
  isOver(node: string, boot: number): boolean;
}
