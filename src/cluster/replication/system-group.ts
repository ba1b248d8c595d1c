/**
 * The system group's replica on this node, as the wiring's users need it: its state, one queue whose messages are declarations,
 * feeds this node's wiring tables (rule 15: committed wiring only, since the state changes at commit only).
 */
import type { Chunk } from '../../log/chunk.js';
import { epochOf, type Lsn } from '../../log/lsn.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../../log/record.js';
import type { GroupObserver, QueueState } from '../../model/group-state.js';
import { decodeObject } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { SystemGroup, SystemLeader } from '../wiring/ports.js';
import type { GroupReplica } from './group-replica.js';
import type { Primary } from './primary.js';

/** The queue of the system group that holds the declarations. */
export const wiringIncarnation = 1;

const nothing = new MessageParts();

/** Objects read per turn when a recovered state is loaded. */
const loadSlice = 500;

export class SystemReplica implements SystemGroup, GroupObserver {
  private readonly tables: WiringTables;
  private readonly view = new EnqueueView();
  private readonly listeners: (() => void)[] = [];
  private readonly versionListeners: (() => void)[] = [];
  private replica: GroupReplica | undefined;
  private loaded = false;

  constructor(tables: WiringTables) {
    this.tables = tables;
  }

  /**
   * Begins to feed the tables from the replica, with what recovery found first. Resolves when all of that is in the tables.
   * Rejects if a declaration cannot be read.
   */
  async attach(replica: GroupReplica): Promise<void> {
    this.replica = replica;
    const { state } = replica;
    state.observers.push(this);
    const index = state.queue(wiringIncarnation)!.index;
    let above: Lsn = 0;
    for (;;) {
      const positions = index.positionsAscending(above, state.slices.size(loadSlice));
      if (positions.length === 0) break;
      for (const position of positions) await this.load(replica, position);
      above = positions[positions.length - 1]!;
    }
    this.loaded = true;
    this.committed(replica);
  }

  /** Puts one declaration into the tables, wherever a compaction has moved it by the time that it can be read. */
  private async load({ state, context }: GroupReplica, position: Lsn): Promise<void> {
    const index = state.queue(wiringIncarnation)!.index;
    for (;;) {
      const entry = index.find(position);
      if (entry === undefined) return;
      const chunk = state.chunk(entry.chunk);
      if (chunk.bytes !== undefined) return this.appear(position, chunk, entry.offset);
      const isThere = await new Promise<boolean>((resolve, reject) =>
        context.chunks.load(chunk, (error) => {
          const now = index.find(position);
          if (now?.chunk !== chunk.id) return resolve(false);
          if (error !== undefined) return reject(error);
          // At once: later its bytes may be gone again.
          this.appear(position, chunk, now.offset);
          resolve(true);
        }),
      );
      if (isThere) return;
    }
  }

  private appear(position: Lsn, chunk: Chunk, offset: number): void {
    const { bytes, bodyStart, bodyLength } = this.view.set(chunk.bytes!, chunk.view!, offset);
    const object = decodeObject(bytes.subarray(bodyStart, bodyStart + bodyLength));
    if (object !== undefined) this.tables.appeared(position, object);
  }

  // ---- GroupObserver ----

  enqueued(queue: QueueState, position: Lsn, chunk: Chunk, offset: number): void {
    if (queue.incarnation === wiringIncarnation) this.appear(position, chunk, offset);
  }

  dequeued(queue: QueueState, position: Lsn): void {
    if (queue.incarnation === wiringIncarnation) this.tables.gone(position);
  }

  opened(): void {}
  dropped(): void {}

  /**
   * Batches were applied, a join is done, or we lead: the tables are at the replica's commit point. Not so what a restart left
   * us: it lacks the declarations that are not durable, until we have joined or were elected.
   */
  committed(replica: GroupReplica): void {
    if (!this.loaded || replica.joining || replica.mustJoin || replica.log.committed === this.tables.version) return;
    this.tables.applied(replica.log.committed);
    for (const listener of this.versionListeners) listener();
    this.progressed();
  }

  /**
   * We lead in a new epoch: an event without content, so that the version of the wiring is beyond all versions of older epochs.
   * The last events of those may be lost, if they were not durable, and operations that were routed with them must not wait
   * for versions that never come.
   */
  begin(primary: Primary): void {
    if (epochOf(primary.replica.log.end) === primary.epoch) return;
    primary.reserve(enqueueLength(nothing, 0));
    const { bytes, view } = primary.chunk;
    primary.append(encodeEnqueue(bytes!, view!, primary.offset, nothing, [], true, 0, 0));
  }

  /**
   * The tables have what the replica has: not so while a restart's are being read, nor before a new primary has committed what it
   * found. What is not in them may be all the same.
   */
  get isCurrent(): boolean {
    const { loaded, replica } = this;
    if (!loaded || replica === undefined || replica.joining || replica.mustJoin) return false;
    return replica.primary === undefined || replica.log.committed >= replica.primary.servesFrom;
  }

  /** Told when the tables have reached a new version. */
  onVersion(listener: () => void): void {
    this.versionListeners.push(listener);
  }

  // ---- SystemGroup ----

  leader(): SystemLeader | undefined {
    const primary = this.replica?.primary;
    if (!this.loaded || primary === undefined || primary.paused) return undefined;
    const { epoch, servesFrom } = primary;
    if (this.replica!.log.committed < servesFrom) return undefined;
    const appliedEverywhere = primary.mayAct() ? primary.appliedEverywhere : 0;
    return { epoch, appender: primary, inherited: servesFrom, appliedEverywhere };
  }

  onProgress(listener: () => void): void {
    this.listeners.push(listener);
  }

  progressed(): void {
    for (const listener of this.listeners) listener();
  }
}
