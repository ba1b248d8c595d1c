/** What waits to be written for one group, and what one frame takes of it. */
import { BatchKind, batchHeaderBytes, setBatchChecksum, writeBatchHeader } from '../log/batch.js';
import type { Chunk } from '../log/chunk.js';
import type { GroupMeta, JournalOwner } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';
import { isBefore, type Place } from './place.js';

/** Whole batches in bytes [start, end) of a chunk, pinned until they are on disk. */
export class Range {
  readonly chunk: Chunk;
  readonly start: number;
  end: number;
  /** Called when they are on disk: a copy of compaction, or (written is enough) a spilled chunk's last range. */
  readonly done: (() => void) | undefined;

  constructor(chunk: Chunk, start: number, end: number, done?: () => void) {
    this.chunk = chunk;
    this.start = start;
    this.end = end;
    this.done = done;
  }

  get byteLength(): number {
    return this.end - this.start;
  }
}

/** A group's meta as the journal keeps it. */
export interface StoredMeta extends GroupMeta {
  /** What lies before this place is of an earlier stay of the group on this node: it counts no more. */
  begins?: Place;
  /** The group has left this node. */
  left?: boolean;
}

export const noMeta: GroupMeta = {
  record: '',
  epoch: 0,
  joining: false,
  voids: [],
  publishers: [],
  wiringVersion: 0,
  applied: 0,
};

export class Lane {
  readonly group: number;
  /** Undefined: the group has left, or was found by recovery and nobody registered yet: then its meta is carried as it is. */
  owner: JournalOwner | undefined = undefined;
  ranges: Range[] = [];
  /** Last token appended; -1 = none since the last frame. */
  token: Lsn = -1;
  metaDone: (() => void)[] = [];
  metaWanted = false;
  /** In the list of lanes that have something to write. */
  queued = false;
  /** What lies before this counts no more. */
  begins: Place | undefined = undefined;
  /** The group has left: `begins` is to be the place of the next frame. */
  beginsAnew = false;
  private left = false;
  /** The meta batch last written or found. */
  private saved: Uint8Array | undefined = undefined;

  constructor(group: number) {
    this.group = group;
  }

  /** Takes over the meta that recovery found. */
  adopt(meta: StoredMeta): void {
    this.begins = meta.begins;
    this.left = meta.left === true;
    this.saved = encodeJson(this.group, BatchKind.meta, meta);
  }

  join(owner: JournalOwner): void {
    this.owner = owner;
    this.left = false;
  }

  /** The group leaves, and what was to be written for it is given back. */
  leave(): Range[] {
    this.owner = undefined;
    this.left = true;
    this.beginsAnew = true;
    this.token = -1;
    return this.ranges.splice(0);
  }

  /** Does what lies at this place count? */
  counts(segment: number, offset: number): boolean {
    return !this.beginsAnew && (this.begins === undefined || !isBefore(segment, offset, this.begins));
  }

  /** The meta batch to be written now, if there is any meta. */
  encodeMeta(): Uint8Array | undefined {
    if (this.owner !== undefined) this.saved = this.encode(this.owner.meta());
    else if (this.left) this.saved = this.encode({ ...noMeta, left: true });
    return this.saved;
  }

  private encode(meta: StoredMeta): Uint8Array {
    const stored = this.begins === undefined ? meta : { ...meta, begins: this.begins };
    return encodeJson(this.group, BatchKind.meta, stored);
  }
}

/** A batch whose content is JSON. */
export function encodeJson(group: number, kind: BatchKind, value: unknown): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(value));
  const bytes = new Uint8Array(batchHeaderBytes + json.length);
  const view = new DataView(bytes.buffer);
  writeBatchHeader(view, 0, bytes.length, group, kind, true, 0, 0, 0);
  bytes.set(json, batchHeaderBytes);
  setBatchChecksum(bytes, view, 0, bytes.length);
  return bytes;
}

/** Reads what `encodeJson` wrote, from a batch whose checksum fits. */
export function decodeJson(bytes: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(new TextDecoder().decode(bytes.subarray(start + batchHeaderBytes, end)));
}
