import type { Lsn } from '../log/lsn.js';
import type { Origin } from '../log/record.js';

/** What one outbox has sent here. */
class Seen {
  /** Everything before this position is done with: it comes no more, or came late. */
  done: Lsn = 0;
  /** Positions from there on that are here. */
  readonly positions = new Set<Lsn>();
}

/** One outbox: its group, `done`, and the positions from there on that are here. */
export type OriginList = [group: number, done: Lsn, positions: Lsn[]][];

/**
 * Which messages that other groups' outboxes owe this group are here (rule 16). They come in no particular order, again after a failure,
 * and through several nodes. An outbox says with each of them how far it is done, so that little is remembered: what it has in hand.
 */
export class Origins {
  private readonly byGroup = new Map<number, Seen>();

  has({ group, position }: Origin): boolean {
    const seen = this.byGroup.get(group);
    return seen !== undefined && (position < seen.done || seen.positions.has(position));
  }

  add({ group, position, done }: Origin): void {
    let seen = this.byGroup.get(group);
    if (seen === undefined) {
      seen = new Seen();
      this.byGroup.set(group, seen);
    }
    if (position >= seen.done) seen.positions.add(position);
    if (done <= seen.done) return;
    seen.done = done;
    for (const other of seen.positions) if (other < done) seen.positions.delete(other);
  }

  list(): OriginList {
    return [...this.byGroup].map(([group, { done, positions }]) => [group, done, [...positions]]);
  }

  /** Takes over what another replica or a checkpoint knows. */
  merge(list: OriginList): void {
    for (const [group, done, positions] of list) {
      this.add({ group, position: -1, done });
      for (const position of positions) this.add({ group, position, done });
    }
  }

  /** Knows what `list` says and nothing else. */
  replace(list: OriginList): void {
    this.byGroup.clear();
    this.merge(list);
  }
}
