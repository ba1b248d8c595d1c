import type { Lsn } from '../log/lsn.js';

/** So many are remembered, of a group: those that came back longest ago are forgotten first. */
export const returnsMax = 16_384;

/** One message: its queue's incarnation, its position, how often it came back. */
export type ReturnList = [incarnation: Lsn, position: Lsn, count: number][];

/** One message that came back. */
interface Return {
  readonly incarnation: Lsn;
  readonly position: Lsn;
  readonly count: number;
}

/** How often messages that are in queues came back from clients, where that is counted. */
export class Returns {
  private readonly byQueue = new Map<Lsn, Map<Lsn, Return>>();
  /** Of all queues, as they came back. */
  private readonly all = new Set<Return>();

  get size(): number {
    return this.all.size;
  }

  of(incarnation: Lsn, position: Lsn): number {
    return this.byQueue.get(incarnation)?.get(position)?.count ?? 0;
  }

  /** It came back so often at least. */
  note(incarnation: Lsn, position: Lsn, count: number): void {
    let queue = this.byQueue.get(incarnation);
    if (queue === undefined) {
      queue = new Map();
      this.byQueue.set(incarnation, queue);
    }
    const before = queue.get(position);
    if (before !== undefined) {
      if (before.count >= count) return;
      this.all.delete(before);
    }
    const last: Return = { incarnation, position, count };
    queue.set(position, last);
    this.all.add(last);
    if (this.size > returnsMax) this.forgetFirst();
  }

  forget(incarnation: Lsn, position: Lsn): void {
    const queue = this.byQueue.get(incarnation);
    const known = queue?.get(position);
    if (queue === undefined || known === undefined) return;
    this.all.delete(known);
    queue.delete(position);
    if (queue.size === 0) this.byQueue.delete(incarnation);
  }

  forgetQueue(incarnation: Lsn): void {
    for (const one of this.byQueue.get(incarnation)?.values() ?? []) this.all.delete(one);
    this.byQueue.delete(incarnation);
  }

  /** Those that came back longest ago first. */
  list(): ReturnList {
    return Array.from(this.all, ({ incarnation, position, count }) => [incarnation, position, count]);
  }

  /** Takes over what another replica or a checkpoint knows. */
  merge(list: ReturnList): void {
    for (const [incarnation, position, count] of list) this.note(incarnation, position, count);
  }

  /** Knows what `list` says and nothing else. */
  replace(list: ReturnList): void {
    this.byQueue.clear();
    this.all.clear();
    this.merge(list);
  }

  private forgetFirst(): void {
    for (const { incarnation, position } of this.all) return this.forget(incarnation, position);
  }
}
