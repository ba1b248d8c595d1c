/**
 * The termini of a group's queues whose links can be resumed, with what is unsettled of each: on every replica, from the records of the
 * queue of termini as they come, in whatever order. So whoever becomes primary knows them.
 */
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import type { GroupObserver } from '../group-state.js';
import { terminiIncarnation } from '../queue/outbox.js';
import type { QueueState } from '../queue/queue-state.js';
import type { TerminusInfo, UnsettledKey } from './operations.js';
import { TerminusEntry, terminusRecordAt } from './terminus-record.js';

export class TerminusState {
  readonly id: string;
  /** Position of its record; 0 = that has not come yet, or is gone. */
  record: Lsn = 0;
  info: TerminusInfo | undefined;
  attach = '';
  /** Wall milliseconds; 0 = it is attached. */
  detachedAt = 0;
  /** Deliveries that are not settled, with the positions of their records. */
  readonly unsettled: Map<UnsettledKey, Lsn> = new Map();
  /** Records of deliveries whose tags were used again before they were settled. */
  readonly replaced: Set<Lsn> = new Set();

  constructor(id: string) {
    this.id = id;
  }
}

/** Told of records that have left. */
export interface TerminusWatcher {
  recordLeft(record: Lsn): void;
  /** Of a delivery. */
  settled(terminus: TerminusState, key: UnsettledKey): void;
  /** It was the last one of the terminus. */
  forgotten(terminus: TerminusState): void;
}

export class TerminusTable implements GroupObserver {
  watcher: TerminusWatcher | undefined = undefined;
  private readonly byId = new Map<string, TerminusState>();
  private readonly records = new Map<Lsn, TerminusState>();
  /** Of deliveries. */
  private readonly entries = new Map<Lsn, readonly [terminus: TerminusState, key: UnsettledKey]>();

  get(id: string): TerminusState | undefined {
    return this.byId.get(id);
  }

  values(): Iterable<TerminusState> {
    return this.byId.values();
  }

  // ---- GroupObserver ----

  enqueued(queue: QueueState, position: Lsn, chunk: Chunk, offset: number): void {
    if (queue.incarnation !== terminiIncarnation) return;
    const { kind, id, attach, key, info, detachedAt } = terminusRecordAt(chunk, offset);
    let terminus = this.byId.get(id);
    if (terminus === undefined) {
      terminus = new TerminusState(id);
      this.byId.set(id, terminus);
    }
    if (kind !== TerminusEntry.terminus) {
      const before = terminus.unsettled.get(key);
      if (before !== undefined && before !== position) terminus.replaced.add(Math.min(before, position));
      terminus.unsettled.set(key, Math.max(before ?? 0, position));
      this.entries.set(position, [terminus, key]);
      return;
    }
    this.records.set(position, terminus);
    if (position > terminus.record) {
      terminus.record = position;
      terminus.info = info;
      terminus.attach = attach;
      terminus.detachedAt = detachedAt;
    }
  }

  dequeued(queue: QueueState, position: Lsn): void {
    if (queue.incarnation !== terminiIncarnation) return;
    this.watcher?.recordLeft(position);
    const entry = this.entries.get(position);
    if (entry !== undefined) {
      const [terminus, key] = entry;
      this.entries.delete(position);
      terminus.replaced.delete(position);
      if (terminus.unsettled.get(key) === position) {
        terminus.unsettled.delete(key);
        this.watcher?.settled(terminus, key);
      }
      this.forgetIfOver(terminus);
      return;
    }
    const terminus = this.records.get(position);
    this.records.delete(position);
    // A newer one may have taken its place.
    if (terminus === undefined || terminus.record !== position) return;
    terminus.record = 0;
    this.forgetIfOver(terminus);
  }

  opened(): void {}

  dropped(queue: QueueState): void {
    if (queue.incarnation !== terminiIncarnation) return;
    this.byId.clear();
    this.records.clear();
    this.entries.clear();
  }

  private forgetIfOver(terminus: TerminusState): void {
    if (terminus.record !== 0 || terminus.unsettled.size + terminus.replaced.size > 0) return;
    this.byId.delete(terminus.id);
    this.watcher?.forgotten(terminus);
  }
}
