import type { Lsn } from '../../log/lsn.js';
import type { QueueObject } from './objects.js';

/** Changes remembered per group; who is further behind compares whole sets. */
export const queueChangesMax = 1024;

/** A queue of a group has come or gone, in the wiring version `version`. */
export interface QueueChange {
  readonly version: Lsn;
  readonly kind: 'appeared' | 'gone';
  readonly queue: QueueObject;
}

/** The queues whose messages one group holds, and the last changes among them. */
export class GroupQueues {
  /** By incarnation. */
  readonly queues: Map<Lsn, QueueObject> = new Map();
  private changes: QueueChange[] = [];
  /** Changes whose version is not known yet: applied since the last `stamp`. */
  private fresh: { kind: 'appeared' | 'gone'; queue: QueueObject }[] = [];
  /** Changes of this version and older ones have been forgotten. */
  private forgotten: Lsn = 0;
  private overflow = false;

  appeared(queue: QueueObject): void {
    this.queues.set(queue.position, queue);
    this.note('appeared', queue);
  }

  gone(queue: QueueObject): void {
    this.queues.delete(queue.position);
    this.note('gone', queue);
  }

  private note(kind: 'appeared' | 'gone', queue: QueueObject): void {
    if (this.fresh.length < queueChangesMax) this.fresh.push({ kind, queue });
    else this.overflow = true;
  }

  /** Everything noted since the last call belongs to `version`. */
  stamp(version: Lsn): void {
    if (this.overflow) {
      this.changes = [];
      this.forgotten = version;
    } else {
      for (const { kind, queue } of this.fresh) this.changes.push({ version, kind, queue });
      const surplus = this.changes.length - queueChangesMax;
      // In blocks, so that the array is not moved at every change.
      if (surplus >= queueChangesMax) {
        this.forgotten = this.changes[surplus - 1]!.version;
        this.changes = this.changes.slice(surplus);
      }
    }
    this.fresh = [];
    this.overflow = false;
  }

  /** The changes after `version`, oldest first; undefined if they are not all remembered. */
  since(version: Lsn): readonly QueueChange[] | undefined {
    if (version < this.forgotten) return undefined;
    let first = this.changes.length;
    while (first > 0 && this.changes[first - 1]!.version > version) first--;
    return this.changes.slice(first);
  }
}
