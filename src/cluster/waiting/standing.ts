import type { Lsn } from '../../log/lsn.js';
import type { Replica } from '../map.js';
import type { GroupReplica } from '../replication/group-replica.js';

/** What one node has of a group: what would be served if that node led it. */
export interface Standing {
  group: number;
  /** Highest epoch that it acted in; 0: it has nothing of the group. */
  epoch: number;
  /** Everything of the group's log up to here is in its state. */
  committed: Lsn;
  /** It was being made equal to another replica, and that was not finished: it may lack messages, and have some that were consumed. */
  joining: boolean;
  /** Its journal is damaged: anything may be missing. */
  damaged: boolean;
  queues: number;
}

/** A node that is up, with what it has. */
export interface Candidate extends Standing {
  replica: Replica;
}

export function standingOf(replica: GroupReplica): Standing {
  const { group, epoch, log, joining, state, context } = replica;
  const { journalIntact } = context;
  return { group, epoch, committed: log.committed, joining, damaged: !journalIntact, queues: state.queueCount };
}

/** The one that has most comes first: whole ones, then by epoch and log; who has nothing is last. */
export function byWorth(a: Candidate, b: Candidate): number {
  const flaws = (one: Candidate): number => (one.epoch === 0 ? 3 : Number(one.joining) + Number(one.damaged));
  return (
    flaws(a) - flaws(b) || b.epoch - a.epoch || b.committed - a.committed || (a.replica.node < b.replica.node ? -1 : 1)
  );
}
