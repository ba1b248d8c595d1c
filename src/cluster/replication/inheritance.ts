/**
 * What a new primary waits for before it serves a group that was given to it (rule 20): its predecessor's last word on what
 * may have been handed out. If that does not come, it takes everything of older epochs for handed out, as after a failure.
 */
import { SlicedWalk } from '../../base/slices.js';
import { HandOver } from '../../model/group-service/hand-over.js';
import { type GroupRecord, systemGroup } from '../map.js';
import type { GroupReplica } from './group-replica.js';

/** A predecessor that lives says it within milliseconds of the record's change. */
const waitMsMax = 1000;
/** Entries brought into the state in one turn. */
const applySlice = 4096;

/** Pieces that have come for an epoch, perhaps before the record that begins it. */
export class PassedOn {
  readonly epoch: number;
  readonly handOver: HandOver = new HandOver();
  isComplete = false;

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  add(piece: Uint8Array, isLast: boolean): void {
    this.handOver.add(piece);
    this.isComplete ||= isLast;
  }
}

export class Inheritance {
  /** What was passed on, once it is in the state. */
  handOver: HandOver | undefined;
  private readonly replica: GroupReplica;
  private readonly epoch: number;
  private readonly from: GroupRecord['movedFrom'];
  private readonly since: number;
  private state: 'waiting' | 'applying' | 'settled';

  constructor(replica: GroupReplica, { epoch, movedFrom }: GroupRecord) {
    this.replica = replica;
    this.epoch = epoch;
    this.from = movedFrom;
    this.since = replica.context.clock.now();
    this.state = movedFrom === undefined || replica.group === systemGroup ? 'settled' : 'waiting';
  }

  /**
   * The state has everything that the predecessor's log had. True: the group can be served, with `handOver` or without.
   * Otherwise `changed` is called when that may have changed; to be asked again as time goes by, and when links are lost.
   */
  isSettled(changed: () => void): boolean {
    if (this.state !== 'waiting') return this.state === 'settled';
    const { passedOn } = this.replica;
    if (passedOn?.epoch === this.epoch && passedOn.isComplete) {
      this.state = 'applying';
      const { handOver } = passedOn;
      this.replica.passedOn = undefined;
      new SlicedWalk(handOver.apply(this.replica.state), applySlice, this.replica.state.slices, () => {
        this.state = 'settled';
        this.handOver = handOver;
        changed();
      });
      // It may be done by now; then `changed` has been called.
      return false;
    }
    if (!this.isLost) return false;
    if (passedOn?.epoch === this.epoch) this.replica.passedOn = undefined;
    this.replica.logger.warn('what the last primary has handed out is not known: all is flagged', { ...this.from });
    this.state = 'settled';
    return true;
  }

  private get isLost(): boolean {
    const { clock, link } = this.replica.context;
    if (clock.now() - this.since > waitMsMax) return true;
    return link(this.from!.node, this.from!.boot) === undefined;
  }
}
