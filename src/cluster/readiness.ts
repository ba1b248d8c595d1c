import type { Clock, Timer } from '../base/clock.js';
import { type Replica, sameReplica } from './map.js';
import type { GroupReplica } from './replication/group-replica.js';

const pollMs = 10;

/** When a node may let clients in: it has the wiring, and is in sync with it. */
export class Readiness {
  private readonly self: Replica;
  private readonly system: GroupReplica;
  private readonly clock: Clock;
  private timer: Timer | undefined;

  /** @param system the system group's replica */
  constructor(self: Replica, system: GroupReplica, clock: Clock) {
    this.self = self;
    this.system = system;
    this.clock = clock;
  }

  /**
   * Resolves when it is so; never after `close`, or if `isStopped`. @param leads it leads the wiring, if it leads the system group at all
   */
  until(leads: () => boolean, isStopped: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (isStopped()) return;
        if (this.isServing(leads)) return resolve();
        this.timer = this.clock.after(pollMs, check);
      };
      check();
    });
  }

  close(): void {
    this.timer?.cancel();
  }

  private isServing(leads: () => boolean): boolean {
    const { system, self } = this;
    const inSync = system.record?.value.inSync.some((member) => sameReplica(member, self)) === true;
    if (!inSync || system.joining) return false;
    return system.primary === undefined ? system.backup?.following === true : leads();
  }
}
