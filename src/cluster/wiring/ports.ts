/** What carrying wiring operations needs from replication. */
import type { Lsn } from '../../log/lsn.js';
import type { GroupAppender } from '../../model/group-port.js';

/** The system group as its primary sees it, for one epoch. */
export interface SystemLeader {
  readonly epoch: number;
  readonly appender: GroupAppender;
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

/** A replicated group as its primary sees it, for the events that wiring causes in it. */
export interface WiredGroup {
  readonly group: number;
  readonly appender: GroupAppender;
  /** Wiring version of the last open or drop in the group's log, uncommitted ones included (rule 15). */
  readonly wiringVersion: number;
  /** Incarnations of the queues that the group's log has open, uncommitted events included. */
  openQueues(): Iterable<number>;
}

/** Which boots are over for good. */
export interface BootLives {
  isOver(node: string, boot: number): boolean;
}
