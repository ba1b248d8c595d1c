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
  /**
   * Of the system group's: the commit point when it was found to have all of that on disk. It routes as soon as it is in the set, so
   * it must have applied this before; and the wiring that comes after is complete only when it has that, too (rule 15).
   */
  routesFrom: Lsn | undefined = undefined;
  /** The last commit point it was told. */
  toldCommit: Lsn = 0;
  /** What our own disk had at this time, it has as well: how far it lags behind us, in time. */
  levelAt: number;
  /** What our disk had at `aimedAt`: when that is acked, the follower is level with that time. */
  private aim: Lsn;
  private aimedAt: number;
  /** It joins, and was away for a short time: it lacks little, and is to be in sync again soon. */
  wasBrieflyAway = false;
  /** Set while commits wait for it although it is not in the set yet, so that it can catch up: until then. */
  candidateUntil = 0;
  /**
   * Batches go to it: to a joiner only when all queues were named to it, for it passes over messages of queues that it does not
   * have.
   */
  isStreaming: boolean;

  /** @param ourDisk how far our own disk has the log now. */
  constructor(replica: Replica, link: Link, session: number, matched: boolean, ourDisk: Lsn, now: number) {
    this.replica = replica;
    this.link = link;
    this.session = session;
    this.matched = matched;
    this.isStreaming = matched;
    this.levelAt = now;
    this.aim = ourDisk;
    this.aimedAt = now;
  }

  /** Compares what it has with what our own disk has now. To be called for every ack, and now and then. */
  measure(ourDisk: Lsn, now: number): void {
    if (this.durable >= ourDisk) this.levelAt = now;
    else if (this.durable >= this.aim) this.levelAt = Math.max(this.levelAt, this.aimedAt);
    else return;
    this.aim = ourDisk;
    this.aimedAt = now;
  }
}
