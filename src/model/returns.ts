import type { Lsn } from '../log/lsn.js';

/** So many are remembered, of a group: those that came back longest ago are forgotten first. */
const returnsMax = 16_384;

/** One message: its queue's incarnation, its position, how often it came back. */
export type ReturnList = [incarnation: Lsn, position: Lsn, count: number][];

/** How often messages that are in queues came back from clients, where that is counted. */
export class Returns {
  size = 0;
  private readonly byQueue = new Map<Lsn, Map<Lsn, number>>();

  of(incarnation: Lsn, position: Lsn): number {
    return this.byQueue.get(incarnation)?.get(position) ?? 0;
  }

  /** It came back so often at least. */
  note(incarnation: Lsn, position: Lsn, count: number): void {
    let queue = this.byQueue.get(incarnation);
    if (queue === undefined) {
      queue = new Map();
      this.byQueue.set(incarnation, queue);
    }
    const before = queue.get(position);
    if (before === undefined) this.size++;
    else if (before >= count) return;
    queue.delete(position);
    queue.set(position, count);
    if (this.size > returnsMax) this.forgetFirst();
  }

  forget(incarnation: Lsn, position: Lsn): void {
    const queue = this.byQueue.get(incarnation);
    if (queue?.delete(position) !== true) return;
    this.size--;
    if (queue.size === 0) this.byQueue.delete(incarnation);
  }

  forgetQueue(incarnation: Lsn): void {
    this.size -= this.byQueue.get(incarnation)?.size ?? 0;
    this.byQueue.delete(incarnation);
  }

  list(): ReturnList {
    const list: ReturnList = [];
    for (const [incarnation, queue] of this.byQueue)
      for (const [position, count] of queue) list.push([incarnation, position, count]);
    return list;
  }

  /** Takes over what another replica or a checkpoint knows. */
  merge(list: ReturnList): void {
    for (const [incarnation, position, count] of list) this.note(incarnation, position, count);
  }

  /** Knows what `list` says and nothing else. */
  replace(list: ReturnList): void {
    this.byQueue.clear();
    this.size = 0;
    this.merge(list);
  }

  private forgetFirst(): void {
    for (const [incarnation, queue] of this.byQueue)
      for (const position of queue.keys()) return this.forget(incarnation, position);
  }
}
