import type { GroupRecord } from '../src/cluster/map.js';

/** The epochs of each group that began because a primary was gone; others began because it gave the group away. */
export class Takeovers {
  private readonly epochs = new Map<number, Set<number>>();

  /** Of a record that is written. */
  note({ group, epoch, movedFrom }: GroupRecord): void {
    if (movedFrom !== undefined) return;
    const known = this.epochs.get(group);
    if (known === undefined) this.epochs.set(group, new Set([epoch]));
    else known.add(epoch);
  }

  /** Has one begun after `after`, up to `until`? */
  isBetween(group: number, after: number, until: number): boolean {
    const known = this.epochs.get(group);
    if (known === undefined) return until > after;
    for (const epoch of known) if (epoch > after && epoch <= until) return true;
    return false;
  }
}
