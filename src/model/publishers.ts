import type { Lsn } from '../log/lsn.js';

/** The last committed publish of one boot. */
export class Publisher {
  readonly boot: number;
  sequence = 0;

  constructor(boot: number) {
    this.boot = boot;
  }
}

/**
 * Last committed sequence per publisher boot (rules 14, 19). One entry for each life of a node that ever published into the
 * group; `forget` those that are over.
 */
export class Publishers {
  private readonly byBoot = new Map<number, Publisher>();
  private latest: Publisher | undefined;

  /** The entry of `boot`, made if there is none. */
  of(boot: number): Publisher {
    const latest = this.latest;
    if (latest !== undefined && latest.boot === boot) return latest;
    let publisher = this.byBoot.get(boot);
    if (publisher === undefined) {
      publisher = new Publisher(boot);
      this.byBoot.set(boot, publisher);
    }
    this.latest = publisher;
    return publisher;
  }

  /** A publish was committed. */
  committed(boot: number, sequence: Lsn): void {
    if (boot === 0) return;
    const publisher = this.of(boot);
    if (sequence > publisher.sequence) publisher.sequence = sequence;
  }

  list(): [boot: number, sequence: number][] {
    const list: [number, number][] = [];
    for (const publisher of this.byBoot.values())
      if (publisher.sequence > 0) list.push([publisher.boot, publisher.sequence]);
    return list;
  }

  /** Takes over what another replica or a checkpoint knows. */
  merge(list: readonly (readonly [boot: number, sequence: number])[]): void {
    for (const [boot, sequence] of list) this.committed(boot, sequence);
  }

  /** The boot is over: it will never publish again. */
  forget(boot: number): void {
    this.byBoot.delete(boot);
    if (this.latest?.boot === boot) this.latest = undefined;
  }
}
