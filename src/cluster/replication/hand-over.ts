/**
 * A primary gives its group to another in-sync member (rule 20):
 *
 *   pause ─ drain ─ write down what was handed out ─ compare-and-set ─┬─ done: the record deposes us; pass on, end marks
 *                                                                     └─ not made, or somebody else's: go on as before
 *
 * Nothing is accepted from the pause on, so whatever comes then is said again to the next primary, or done late if the group stays.
 * A compare-and-set whose outcome is unknown is made again against the same version until that is told, so it can never happen
 * after we have gone on.
 */
import type { Timer } from '../../base/clock.js';
import { type GroupRecord, type Replica, sameReplica, systemGroup } from '../map.js';
import { sendHandOver } from './frames.js';
import type { Primary } from './primary.js';

/** Longer than this nobody is kept waiting for what is under way: the group stays, and is given away another time. */
const drainMsMax = 250;
const pollMs = 1;

export class HandOver {
  readonly to: Replica;
  private readonly primary: Primary;
  private readonly swap: (value: GroupRecord) => Promise<void>;
  private readonly kept: () => void;
  private readonly since: number;
  private poll: Timer | undefined;
  private pieces: readonly Uint8Array[] = [];
  private isOver = false;

  /**
   * Pauses the group. @param swap the compare-and-set; resolves when its outcome is known and, if it was made, acted on.
   * @param kept called if the group stays here.
   */
  constructor(primary: Primary, to: Replica, swap: (value: GroupRecord) => Promise<void>, kept: () => void) {
    this.primary = primary;
    this.to = to;
    this.swap = swap;
    this.kept = kept;
    this.since = this.context.clock.now();
  }

  start(): void {
    const { service, replica } = this.primary;
    // Opens and drops of queues stop as well.
    this.context.released(replica.group);
    if (replica.group === systemGroup) this.context.systemProgressed();
    service?.pause();
    this.primary.wake();
    this.poll = this.context.clock.every(pollMs, () => this.drain());
  }

  private get context() {
    return this.primary.replica.context;
  }

  private drain(): void {
    if (this.context.clock.now() - this.since > drainMsMax) return this.keep();
    if (this.context.rules.moveDrained && !this.isDrained) return;
    this.poll?.cancel();
    const { service, replica } = this.primary;
    if (replica.group === systemGroup || service === undefined) return this.give();
    service.writeHandOver((pieces) => {
      this.pieces = pieces;
      if (!this.isOver) this.give();
    });
  }

  private get isDrained(): boolean {
    const { replica, service } = this.primary;
    const { log } = replica;
    if (log.hasOpenBatch || log.committed !== log.end) return false;
    return replica.group === systemGroup || service?.isDrained === true;
  }

  private give(): void {
    const { node, boot } = this.context.self;
    const record = this.primary.record.value;
    const attached = this.primary.service?.attachedNodes() ?? [];
    const next = { ...record, epoch: this.primary.epoch + 1, primary: this.to, movedFrom: { node, boot, attached } };
    void this.swap(next).then(() => {
      if (!this.isOver) this.keep();
    });
  }

  /** The group stays. */
  private keep(): void {
    this.close();
    const { service, replica } = this.primary;
    this.primary.handOver = undefined;
    this.primary.servesFrom = replica.log.end;
    service?.resume();
    if (service !== undefined) this.context.leading(replica);
    if (replica.group === systemGroup) this.context.systemProgressed();
    this.kept();
  }

  /** We are deposed by `record`: its primary is told all if it has the group from us. */
  deposedBy(record: GroupRecord): void {
    this.close();
    const { epoch, replica } = this.primary;
    if (record.epoch !== epoch + 1 || !sameReplica(record.primary, this.to) || record.movedFrom === undefined) return;
    const link = this.context.link(this.to.node, this.to.boot);
    if (link === undefined || !this.context.rules.movePassesOn) return;
    this.pieces.forEach((piece, i) =>
      sendHandOver(link, replica.group, record.epoch, i === this.pieces.length - 1, piece),
    );
  }

  close(): void {
    this.isOver = true;
    this.poll?.cancel();
  }
}
