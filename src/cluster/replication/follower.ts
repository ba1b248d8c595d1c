/** A replica that follows this primary, as the primary sees it: one session over one link. */
import type { Lsn } from '../../log/lsn.js';
import type { Link } from '../link/link.js';
import type { Replica } from '../map.js';

export class Follower {
  readonly replica: Replica;
  readonly link: Link;
  readonly session: number;
  /** Absolute number of the next batch of the log to be sent (see GroupLog.batch). */
  nextNumber = 0;
  /** It shares our log: its acks count. False while it joins. */
  matched: boolean;
  /** What it has on disk, and what it has applied, as acked in this epoch. */
  durable: Lsn = 0;
  applied: Lsn = 0;
  /** The last commit point it was told. */
  toldCommit: Lsn = 0;
  /** When `durable` last grew, or was level with the log's end. */
  progressAt: number;
  /** Set while commits wait for it although it is not in the set yet, so that it can catch up: until then. */
  candidateUntil = 0;
  /** Backfill that was asked for and is not sent yet. */
  backfilling = 0;

  constructor(replica: Replica, link: Link, session: number, matched: boolean, now: number) {
    this.replica = replica;
    this.link = link;
    this.session = session;
    this.matched = matched;
    this.progressAt = now;
  }
}
