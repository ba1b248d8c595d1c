/**
 * The in-sync set of a group as its primary must see it (rules 1, 3, 21): the recorded set, and each proposal whose answer
 * is not known. A commit needs every member of all of them, since either may be the one that a successor reads.
 */
import type { Rules } from '../../base/rules.js';
import { type Replica, sameReplica } from '../map.js';

export class InSyncSet {
  /** The set as the coordinator last confirmed it. */
  confirmed: readonly Replica[];
  /** The set a compare-and-set under way would record; its answer is out. */
  proposal: readonly Replica[] | undefined;
  /** The union: whose acks a commit needs, ourselves included. */
  required: readonly Replica[];
  private readonly rules: Rules;

  constructor(confirmed: readonly Replica[], rules: Rules) {
    this.confirmed = confirmed;
    this.required = confirmed;
    this.rules = rules;
  }

  propose(set: readonly Replica[]): void {
    this.proposal = set;
    this.update();
  }

  /** The coordinator has `set` now. */
  confirm(set: readonly Replica[]): void {
    this.confirmed = set;
    this.proposal = undefined;
    this.update();
  }

  includes(replica: Replica): boolean {
    return this.required.some((member) => sameReplica(member, replica));
  }

  /** An entry of the node in any boot: it must be taken out before the node may join (rule 8). */
  includesNode(node: string): boolean {
    return this.required.some((member) => member.node === node);
  }

  /** Members in the smallest set that may be recorded (rule 21). */
  get smallest(): number {
    if (this.proposal === undefined || !this.rules.minSmallestSet) return this.confirmed.length;
    return Math.min(this.confirmed.length, this.proposal.length);
  }

  private update(): void {
    const proposal = this.proposal;
    if (proposal === undefined) this.required = this.confirmed;
    else if (!this.rules.unionInSync)
      // Planted fault: a shrink counts when it is asked for, a growth when it is answered.
      this.required = this.confirmed.filter((member) => proposal.some((other) => sameReplica(member, other)));
    else
      this.required = [
        ...this.confirmed,
        ...proposal.filter((member) => !this.confirmed.some((other) => sameReplica(member, other))),
      ];
  }
}
