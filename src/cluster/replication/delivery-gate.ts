/**
 * Rule 13: a new primary delivers nothing until every live node has attached and named what its clients hold. A node is
 * waited for at most as long as its lease: after that, or when it is proven dead, what its clients held may be given again.
 */
import type { Clock } from '../../base/clock.js';
import type { Rules } from '../../base/rules.js';
import type { ClusterMap } from '../cluster-map.js';
import type { Liveness } from '../liveness/liveness.js';
import type { Member, MovedFrom } from '../map.js';

export interface GateContext {
  readonly clock: Clock;
  readonly rules: Rules;
  readonly map: ClusterMap;
  readonly liveness: Liveness;
  readonly limits: { readonly leaseMs: number };
  readonly self: { readonly node: string };
  /** The boot is proven dead. */
  isDead(boot: number): boolean;
}

export class DeliveryGate {
  isOpen = false;
  private readonly attached: Map<string, number> = new Map();
  private readonly context: GateContext;
  private readonly ready: () => boolean;
  private readonly opened: () => void;
  private readonly deadline: number;
  private readonly movedFrom: MovedFrom | undefined;

  /**
   * @param ready false while there is nothing yet that could deliver
   * @param movedFrom who has given the group away, if it was
   */
  constructor(context: GateContext, ready: () => boolean, opened: () => void, movedFrom?: MovedFrom) {
    this.context = context;
    this.movedFrom = movedFrom;
    this.ready = ready;
    this.opened = opened;
    // The old primary's promises to other nodes ended with it at the latest; a quarter more for clocks that drift.
    this.deadline = context.clock.now() + context.limits.leaseMs * 1.25;
  }

  /** The node has attached and named what it holds. */
  nodeAttached(node: string, boot: number): void {
    this.attached.set(node, boot);
    this.check();
  }

  /**
   * Who gave the group away had promised its nodes that nobody takes what their clients hold. We may have promised them nothing, but
   * that stands for as long as a promise does, unless they are dead.
   */
  private hasPromise({ node, boot }: Member): boolean {
    const isAttached = this.movedFrom?.attached.some(([name, life]) => name === node && life === boot) === true;
    return isAttached && !this.context.isDead(boot);
  }

  /** Opens if nobody needs to be waited for any more. To be called when that may have changed. */
  check(): void {
    if (this.isOpen || !this.ready()) return;
    const { map, liveness, clock, rules } = this.context;
    if (rules.waitReattach && clock.now() < this.deadline) {
      for (const { value: member } of map.members.values()) {
        if (this.attached.get(member.node) === member.boot) continue;
        if (member.node === this.context.self.node || !liveness.mayDepose(member.node, member.boot)) return;
        if (this.hasPromise(member)) return;
      }
    }
    this.isOpen = true;
    this.opened();
  }
}
