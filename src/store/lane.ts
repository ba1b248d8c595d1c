/** What waits to be written for one group, and what one frame takes of it. */
import { BatchKind, batchHeaderBytes, setBatchChecksum, writeBatchHeader } from '../log/batch.js';
import type { Chunk } from '../log/chunk.js';
import type { GroupMeta, JournalOwner } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';

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

export class Lane {
  readonly group: number;
  /** Undefined: the group was found by recovery and nobody registered yet; its meta is carried as it is. */
  owner: JournalOwner | undefined = undefined;
  ranges: Range[] = [];
  /** Last token appended; -1 = none since the last frame. */
  token: Lsn = -1;
  metaDone: (() => void)[] = [];
  metaWanted = false;
  /** In the list of lanes that have something to write. */
  queued = false;
  /** The meta batch last written or found. */
  private saved: Uint8Array | undefined = undefined;

  constructor(group: number) {
    this.group = group;
  }

  /** Takes over the meta that recovery found. */
  adopt(meta: GroupMeta): void {
    this.saved = encodeJson(this.group, BatchKind.meta, meta);
  }

  /** The meta batch to be written now, if there is any meta. */
  encodeMeta(): Uint8Array | undefined {
    if (this.owner !== undefined) this.saved = encodeJson(this.group, BatchKind.meta, this.owner.meta());
    return this.saved;
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
