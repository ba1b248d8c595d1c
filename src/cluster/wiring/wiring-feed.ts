/**
 * Fills a node's wiring tables from its replica of the system group: the queue of incarnation 1 there holds the objects, an
 * enqueue is an object's appearance and its dequeue the end of it. Only committed events get here (rule 15).
 */
import type { Logger } from '../../base/logger.js';
import { type Flushable, Phase, type Turn } from '../../base/turn.js';
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView } from '../../log/record.js';
import type { GroupObserver, GroupState, QueueState } from '../../model/group-state.js';
import { decodeObject } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';

/** The queue of the system group that holds the wiring's objects. */
export const wiringIncarnation = 1;

/** Objects read in one turn while loading. */
const loadSlice = 1024;

export class WiringFeed implements GroupObserver, Flushable {
  private readonly state: GroupState;
  private readonly tables: WiringTables;
  private readonly turn: Turn;
  private readonly logger: Logger;
  private readonly listeners: (() => void)[] = [];
  private readonly record = new EnqueueView();
  private dirty = false;

  constructor(state: GroupState, tables: WiringTables, turn: Turn, logger: Logger) {
    this.state = state;
    this.tables = tables;
    this.turn = turn;
    this.logger = logger;
  }

  /** Told whenever the tables contain more than before. */
  onAdvanced(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Reads what recovery left in the state, and follows it from then on. To be awaited before the state changes. */
  async load(): Promise<void> {
    let below: Lsn = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const positions = this.state.positionsDescending(wiringIncarnation, below, loadSlice);
      if (positions.length === 0) break;
      for (const position of positions) await this.loadOne(position);
      below = positions[positions.length - 1]!;
    }
    this.tables.applied(this.state.applied);
    this.state.observers.push(this);
    this.advanced();
  }

  enqueued(_queue: QueueState, position: Lsn, chunk: Chunk, offset: number): void {
    this.appeared(position, chunk, offset);
    // At once: what is routed with the new object must carry a version that contains it.
    if (position > this.tables.version) this.tables.applied(position);
    this.touch();
  }

  dequeued(_queue: QueueState, position: Lsn): void {
    this.tables.gone(position);
    this.touch();
  }

  opened(): void {}
  dropped(): void {}

  flush(): void {
    this.dirty = false;
    this.advanced();
  }

  private touch(): void {
    if (this.dirty) return;
    this.dirty = true;
    this.turn.add(Phase.log, this);
  }

  private advanced(): void {
    this.tables.applied(Math.max(this.tables.version, this.state.applied));
    for (const listener of this.listeners) listener();
  }

  private appeared(position: Lsn, chunk: Chunk, offset: number): void {
    const { bytes, bodyStart, bodyLength } = this.record.set(chunk.bytes!, chunk.view!, offset);
    const object = decodeObject(bytes.subarray(bodyStart, bodyStart + bodyLength));
    if (object !== undefined) this.tables.appeared(position, object);
    else this.logger.warn('an object of the wiring is of a kind that this version does not know', { position });
  }

  private async loadOne(position: Lsn): Promise<void> {
    const entry = this.state.queue(wiringIncarnation)?.index.find(position);
    if (entry === undefined) return;
    const { offset } = entry;
    const chunk = this.state.chunk(entry.chunk);
    if (chunk.bytes !== undefined) return this.appeared(position, chunk, offset);
    await new Promise<void>((resolve, reject) => {
      this.state.chunks.load(chunk, (error) => {
        if (error !== undefined) return reject(error);
        this.appeared(position, chunk, offset);
        resolve();
      });
    });
  }
}
