/** A group as simple as it can be: one queue of messages known by position, one batch per operation, committed when durable. */
import { BatchKind, batchHeaderBytes, setBatchChecksum, writeBatchHeader } from '../../../src/log/batch.js';
import type { Chunk } from '../../../src/log/chunk.js';
import type { GroupMeta, JournalOwner, RecoveryVisitor } from '../../../src/log/journal.js';
import type { Lsn } from '../../../src/log/lsn.js';
import {
  EnqueueView,
  encodeDequeue,
  encodeEnqueue,
  enqueueLength,
  forEachDequeued,
  MessageParts,
  RecordKind,
  setLsn,
} from '../../../src/log/record.js';
import type { Store } from '../../../src/store/store.js';

interface Place {
  chunk: Chunk;
  offset: number;
  length: number;
}

export const emptyMeta: GroupMeta = {
  record: '',
  epoch: 1,
  joining: false,
  voids: [],
  publishers: [],
  wiringVersion: 0,
  applied: 0,
};

export class TestGroup implements JournalOwner {
  readonly group: number;
  /** Live messages. */
  readonly index: Map<Lsn, Place> = new Map();
  voids: [Lsn, Lsn][] = [];
  /** Everything up to here is acknowledged. */
  durableTo: Lsn = 0;
  applied: Lsn = 0;
  next: Lsn = 1;
  record = '';
  metaRead: GroupMeta | undefined;
  private store: Store | undefined;
  private chunk: Chunk | undefined;
  /** Dequeues wait for their commit. */
  private waiting: { lsn: Lsn; chunk: Chunk; apply: () => void }[] = [];
  private readonly view = new EnqueueView();
  private readonly graves = new Map<Lsn, Lsn>();
  private readonly asOfs = new Map<Lsn, Lsn>();

  constructor(group: number) {
    this.group = group;
  }

  /** Begins to write; after recovery. */
  join(store: Store): void {
    this.store = store;
    this.next = Math.max(this.next, this.durableTo + 1);
    store.journal.register(this);
  }

  /** Writes without a journal: for messages that are not durable. */
  useUnregistered(store: Store): void {
    this.store = store;
  }

  durable(lsn: Lsn): void {
    this.durableTo = lsn;
    while (this.waiting.length > 0 && this.waiting[0]!.lsn <= lsn) {
      const { chunk, apply } = this.waiting.shift()!;
      apply();
      this.store!.chunks.unpin(chunk);
    }
    this.applied = lsn;
  }

  meta(): GroupMeta {
    return { ...emptyMeta, record: this.record, voids: this.voids, applied: this.applied };
  }

  copyRecord(chunk: Chunk, offset: number): Uint8Array | undefined {
    if (!this.isLive(chunk, offset)) return undefined;
    return chunk.bytes!.slice(offset, offset + chunk.view!.getUint32(offset, true));
  }

  private isLive(chunk: Chunk, offset: number): boolean {
    const place = this.index.get(chunk.view!.getFloat64(offset + 8, true));
    return place !== undefined && place.chunk === chunk && place.offset === offset;
  }

  moved(from: Chunk, fromOffset: number, to: Chunk, toOffset: number): boolean {
    if (!this.isLive(from, fromOffset)) return false;
    const lsn = from.view!.getFloat64(fromOffset + 8, true);
    const length = this.index.get(lsn)!.length;
    this.index.set(lsn, { chunk: to, offset: toOffset, length });
    this.store!.chunks.retain(to, length);
    this.store!.chunks.release(from, length);
    return true;
  }

  closeChunk(chunk: Chunk): void {
    if (this.chunk !== chunk) return;
    this.chunk = undefined;
    this.store!.chunks.unpin(chunk);
  }

  /** The group leaves this node, and lets go of all that it had. */
  leave(): void {
    for (const position of [...this.index.keys()]) this.forget(position);
    for (const { chunk } of this.waiting.splice(0)) this.store!.chunks.unpin(chunk);
    if (this.chunk !== undefined) this.closeChunk(this.chunk);
    this.store!.journal.unregister(this);
  }

  /** Another stay of it on this node, with nothing of this one; its numbers go on. */
  comeBack(): TestGroup {
    const again = new TestGroup(this.group);
    again.next = this.next;
    again.durableTo = this.durableTo;
    again.join(this.store!);
    return again;
  }

  /** Enqueues a message whose body has `bodyBytes` bytes made from its position; returns the position. */
  enqueue(bodyBytes: number, durable = true): Lsn {
    const lsn = this.next;
    const parts = new MessageParts();
    parts.bodyBytes = bodyOf(lsn, bodyBytes);
    parts.bodyLength = bodyBytes;
    const length = enqueueLength(parts, 1);
    const chunk = this.room(length + batchHeaderBytes);
    const start = chunk.used;
    const at = start + batchHeaderBytes;
    encodeEnqueue(chunk.bytes!, chunk.view!, at, parts, [1], durable, 1, lsn);
    this.finish(chunk, start, length, durable, () => {
      this.index.set(lsn, { chunk, offset: at, length });
      this.store!.chunks.retain(chunk, length);
    });
    return lsn;
  }

  dequeue(positions: readonly Lsn[], durable = true): void {
    const chunk = this.room(positions.length * 8 + 64 + batchHeaderBytes);
    const start = chunk.used;
    const at = start + batchHeaderBytes;
    const length = encodeDequeue(chunk.bytes!, chunk.view!, at, 1, positions, positions.length, durable);
    this.finish(chunk, start, length, durable, () => {
      for (const position of positions) this.forget(position);
    });
  }

  /** Writes the message again in a copy batch, as a join does; nobody refers to that. */
  copy(position: Lsn): void {
    const parts = new MessageParts();
    const length = enqueueLength(parts, 1);
    const chunk = this.room(length + batchHeaderBytes);
    const start = chunk.used;
    const at = start + batchHeaderBytes;
    encodeEnqueue(chunk.bytes!, chunk.view!, at, parts, [1], true, 1, position);
    setLsn(chunk.view!, at, position);
    const end = at + length;
    writeBatchHeader(chunk.view!, start, end - start, this.group, BatchKind.copy, true, 1, position, position);
    setBatchChecksum(chunk.bytes!, chunk.view!, start, end);
    chunk.used = end;
    this.store!.journal.append(this, chunk, start, end, 0);
  }

  /** Removes without a record: what a message that is not durable allows. */
  forget(position: Lsn): void {
    const place = this.index.get(position);
    if (place === undefined) return;
    this.index.delete(position);
    this.store!.chunks.release(place.chunk, place.length);
  }

  /** Checks the message's bytes, reading them back if need be. */
  check(position: Lsn): Promise<void> {
    const place = this.index.get(position)!;
    return new Promise((resolve, reject) => {
      const look = (error?: Error) => {
        if (error !== undefined) return reject(error);
        const { chunk, offset } = this.index.get(position) ?? place;
        if (chunk.bytes === undefined) return reject(new Error('the chunk is not resident'));
        const message = this.view.set(chunk.bytes, chunk.view!, offset);
        const body = message.bytes.subarray(message.bodyStart, message.bodyStart + message.bodyLength);
        if (message.lsn !== position) return reject(new Error(`lsn ${message.lsn} where ${position} should be`));
        if (Buffer.compare(body, bodyOf(position, message.bodyLength)) !== 0)
          return reject(new Error(`wrong body of ${position}`));
        resolve();
      };
      if (place.chunk.bytes === undefined) this.store!.chunks.load(place.chunk, look);
      else look();
    });
  }

  // ---- recovery ----

  recover(store: Store, chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void {
    this.store = store;
    const view = chunk.view!;
    const length = view.getUint32(offset, true);
    this.durableTo = Math.max(this.durableTo, lsn);
    const kind = chunk.bytes![offset + 4]!;
    if (kind === RecordKind.enqueue) {
      this.asOfs.set(lsn, Math.max(asOf, this.asOfs.get(lsn) ?? 0));
      if (this.index.has(lsn)) return;
      this.index.set(lsn, { chunk, offset, length });
      store.chunks.retain(chunk, length);
    } else if (kind === RecordKind.dequeue) {
      forEachDequeued(chunk.bytes!, view, offset, (position) => {
        this.graves.set(position, Math.max(lsn, this.graves.get(position) ?? 0));
      });
    }
  }

  recovered(): void {
    for (const [position, lsn] of this.graves) if (lsn >= (this.asOfs.get(position) ?? 0)) this.forget(position);
    this.applied = this.durableTo;
    this.next = this.durableTo + 1;
  }

  private room(bytes: number): Chunk {
    if (this.chunk !== undefined && this.chunk.used + bytes > this.chunk.capacity) this.closeChunk(this.chunk);
    this.chunk ??= this.store!.chunks.open(this.group, bytes);
    return this.chunk;
  }

  private finish(chunk: Chunk, start: number, length: number, durable: boolean, apply: () => void): void {
    const lsn = this.next++;
    const view = chunk.view!;
    const end = start + batchHeaderBytes + length;
    setLsn(view, start + batchHeaderBytes, lsn);
    writeBatchHeader(view, start, end - start, this.group, BatchKind.log, durable, 1, lsn - 1, lsn);
    if (durable) setBatchChecksum(chunk.bytes!, view, start, end);
    chunk.used = end;
    if (!durable) {
      apply();
      return;
    }
    this.store!.chunks.pin(chunk);
    this.waiting.push({ lsn, chunk, apply });
    this.store!.journal.append(this, chunk, start, end, lsn);
  }
}

/** A body that tells its position. */
export function bodyOf(position: Lsn, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (position * 31 + i * 7) & 0xff;
  return bytes;
}

/** Recovers into fresh test groups. */
export class TestVisitor implements RecoveryVisitor {
  readonly groups: Map<number, TestGroup> = new Map();
  private readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  of(group: number): TestGroup {
    let found = this.groups.get(group);
    if (found === undefined) {
      found = new TestGroup(group);
      this.groups.set(group, found);
    }
    return found;
  }

  meta(group: number, meta: GroupMeta): void {
    const target = this.of(group);
    target.metaRead = meta;
    target.voids = meta.voids;
    target.record = meta.record;
    target.durableTo = Math.max(target.durableTo, meta.applied);
  }

  record(group: number, chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void {
    this.of(group).recover(this.store, chunk, offset, lsn, asOf);
  }

  done(): void {
    for (const group of this.groups.values()) group.recovered();
  }
}
