/**
 * A group's log as one replica holds it in memory: the end that may still change.
 *
 *   committed                     end
 *      │  sealed batches (tail)    │ open batch (primary only)
 *   ───┴───────────────────────────┴──────────
 *
 * Everything up to `committed` is in the group's state; the tail is kept so that it can be sent to backups and, on a
 * backup, applied or cut. Batches are the unit of everything: their boundaries are the same on every replica, so two
 * logs are compared batch by batch (rule 6).
 */
import { crc32 } from 'node:zlib';
import { BatchFlag, BatchKind, batchHeaderBytes, batchMagic, batchVersion, setBatchVersion } from './batch.js';
import { type Chunk, type Chunks, chunkBytes } from './chunk.js';
import { epochStart, type Lsn } from './lsn.js';
import { RecordFlag, recordHeaderBytes, setLsn, versionOf } from './record.js';

/** A sealed batch of the tail; bytes [start, end) of the chunk, header included. Pins its chunk while it is in the tail. */
export class Batch {
  readonly chunk: Chunk;
  readonly start: number;
  readonly end: number;
  readonly previous: Lsn;
  readonly first: Lsn;
  readonly last: Lsn;
  /** It goes to the disk. */
  readonly durable: boolean;
  /** It may count before it is there. */
  readonly relaxed: boolean;

  constructor(
    chunk: Chunk,
    start: number,
    end: number,
    previous: Lsn,
    first: Lsn,
    last: Lsn,
    durable: boolean,
    relaxed: boolean,
  ) {
    this.chunk = chunk;
    this.start = start;
    this.end = end;
    this.previous = previous;
    this.first = first;
    this.last = last;
    this.durable = durable;
    this.relaxed = relaxed;
  }

  get byteLength(): number {
    return this.end - this.start;
  }
}

/** Applies one committed record. */
export type Apply = (chunk: Chunk, offset: number) => void;

export class GroupLog {
  readonly group: number;
  /** Everything up to here was applied. */
  committed: Lsn = 0;
  /** The last lsn of the last sealed batch. */
  end: Lsn = 0;
  /** Bytes of batches in the tail. */
  tailBytes = 0;
  private readonly chunks: Chunks;
  private batches: Batch[] = [];
  private head = 0;
  /** Absolute number of `batches[head]`: followers remember how far they were sent by number. */
  private headNumber = 0;
  private chunk: Chunk | undefined;
  private offset = 0;
  private batchStart = -1;
  private batchCount = 0;
  private batchDurable = false;
  /** What its newest kind of record needs. */
  private batchVersion = 1;
  private batchRelaxed = true;
  private isTogether = false;
  private nextLsn: Lsn = 0;
  private epochEnd: Lsn = 0;

  constructor(group: number, chunks: Chunks) {
    this.group = group;
    this.chunks = chunks;
  }

  // ---- the primary's side ----

  /** The primary of a new epoch appends from this epoch's first number on. */
  beginEpoch(epoch: number): void {
    if (epochStart(epoch) < this.end) throw new Error(`epoch ${epoch} is older than the log's end ${this.end}`);
    this.nextLsn = epochStart(epoch) + 1;
    this.epochEnd = epochStart(epoch + 1);
  }

  /** Numbers that the epoch has left: an epoch must end before they do. */
  get numbersLeft(): number {
    return this.epochEnd - this.nextLsn;
  }

  get openChunk(): Chunk {
    return this.chunk!;
  }
  get openOffset(): number {
    return this.offset;
  }
  get hasOpenBatch(): boolean {
    return this.batchStart >= 0;
  }

  /** Makes room for a record; may seal the open batch first, which `sealed` then receives. */
  reserve(bytes: number, sealed: (batch: Batch) => void): void {
    const needed = bytes + (this.batchStart < 0 ? batchHeaderBytes : 0);
    if (this.isTogether && this.batchStart >= 0 && this.offset + needed > this.chunk!.capacity) this.moveBatch(bytes);
    if (this.chunk === undefined || this.offset + needed > this.chunk.capacity) {
      const batch = this.seal(true);
      if (batch !== undefined) sealed(batch);
      this.closeChunk();
      this.openNewChunk(bytes + batchHeaderBytes);
    }
    if (this.batchStart < 0) {
      this.batchStart = this.offset;
      this.batchCount = 0;
      this.batchDurable = false;
      this.batchVersion = 1;
      this.batchRelaxed = true;
      this.offset += batchHeaderBytes;
    }
  }

  /** All that `run` appends comes into one batch. */
  together(run: () => void): void {
    this.isTogether = true;
    try {
      run();
    } finally {
      this.isTogether = false;
    }
  }

  /** The open batch goes on in a larger chunk: nobody refers to its records yet. */
  private moveBatch(bytes: number): void {
    const from = this.chunk!;
    const batch = from.bytes!.subarray(this.batchStart, this.offset);
    this.openNewChunk(2 * (batch.length + bytes));
    this.chunk!.bytes!.set(batch);
    this.batchStart = 0;
    this.offset = batch.length;
    this.chunks.unpin(from);
  }

  /** Takes the record encoded at openChunk/openOffset. Returns its lsn. */
  append(length: number): Lsn {
    const chunk = this.chunk!;
    const lsn = this.nextLsn++;
    setLsn(chunk.view!, this.offset, lsn);
    const flags = chunk.bytes![this.offset + 5]!;
    if ((flags & RecordFlag.durable) !== 0) {
      this.batchDurable = true;
      if ((flags & RecordFlag.relaxed) === 0) this.batchRelaxed = false;
    }
    const version = versionOf(chunk.bytes!, this.offset);
    if (version > this.batchVersion) this.batchVersion = version;
    this.offset += length;
    this.batchCount++;
    return lsn;
  }

  /** Closes the open batch, if there is one. `checksum`: it will leave this process' memory. */
  seal(checksum: boolean): Batch | undefined {
    if (this.batchStart < 0) return undefined;
    const chunk = this.chunk!;
    const start = this.batchStart;
    this.batchStart = -1;
    if (this.batchCount === 0) {
      this.offset = start;
      return undefined;
    }
    const last = this.nextLsn - 1;
    const first = last - this.batchCount + 1;
    writeHeader(
      chunk,
      start,
      this.offset,
      this.group,
      BatchKind.log,
      (this.batchDurable ? BatchFlag.durable : 0) | (this.batchRelaxed ? BatchFlag.relaxed : 0),
      this.batchCount,
      this.end,
      first,
    );
    setBatchVersion(chunk.bytes!, start, this.batchVersion);
    if (checksum) writeChecksum(chunk, start, this.offset);
    chunk.used = this.offset;
    const batch = new Batch(chunk, start, this.offset, this.end, first, last, this.batchDurable, this.batchRelaxed);
    this.end = last;
    this.push(batch);
    this.letGoOfLarge();
    return batch;
  }

  // ---- a follower's side ----

  /** Takes over a received log batch: a copy of bytes [start, end), whose header was checked by `parseBatch`. */
  receive(bytes: Uint8Array, start: number, end: number, header: BatchHeader): Batch {
    const { chunk, offset } = this.store(bytes, start, end);
    const batch = new Batch(
      chunk,
      offset,
      offset + (end - start),
      header.previous,
      header.first,
      header.first + header.count - 1,
      header.durable,
      header.relaxed,
    );
    this.end = batch.last;
    this.push(batch);
    this.letGoOfLarge();
    return batch;
  }

  /** Copies bytes that have no place in the log (a copy batch) into a chunk of this group. */
  store(bytes: Uint8Array, start: number, end: number): { chunk: Chunk; offset: number } {
    const length = end - start;
    if (this.chunk === undefined || this.offset + length > this.chunk.capacity) {
      this.closeChunk();
      this.openNewChunk(length);
    }
    const chunk = this.chunk!;
    const offset = this.offset;
    chunk.bytes!.set(bytes.subarray(start, end), offset);
    this.offset += length;
    chunk.used = this.offset;
    return { chunk, offset };
  }

  /** Drops all batches after `lsn` (rule 6: the new primary's log wins). Returns the lsn ranges that were cut, descending. */
  truncateAfter(lsn: Lsn): [Lsn, Lsn][] {
    const cut: [Lsn, Lsn][] = [];
    while (this.batches.length > this.head && this.batches[this.batches.length - 1]!.last > lsn) {
      const batch = this.batches.pop()!;
      this.tailBytes -= batch.byteLength;
      this.chunks.unpin(batch.chunk);
      this.end = batch.previous;
      cut.push([batch.first, batch.last]);
    }
    return cut;
  }

  /** Forgets the tail and stands at `lsn`: a joiner's base, or what recovery found. */
  resetTo(lsn: Lsn): void {
    this.truncateAfter(-1);
    this.committed = lsn;
    this.end = lsn;
  }

  // ---- both ----

  /** Applies all batches up to `lsn`, which must be the end of one. */
  commitTo(lsn: Lsn, apply: Apply): void {
    let number = this.numberAfter(this.committed);
    for (; number < this.endNumber; number++) {
      const batch = this.batch(number)!;
      if (batch.last > lsn) break;
      forEachRecord(batch, apply);
      this.committed = batch.last;
    }
  }

  /** Batches `number` (absolute) from this up are not kept any longer; uncommitted ones always are. */
  release(number: number): void {
    while (this.headNumber < number && this.head < this.batches.length) {
      const batch = this.batches[this.head]!;
      if (batch.last > this.committed) return;
      this.head++;
      this.headNumber++;
      this.tailBytes -= batch.byteLength;
      this.chunks.unpin(batch.chunk);
    }
    if (this.head > 256 && this.head * 2 > this.batches.length) {
      this.batches.splice(0, this.head);
      this.head = 0;
    }
  }

  /** Absolute number that the next sealed batch will have. */
  get endNumber(): number {
    return this.headNumber + this.batches.length - this.head;
  }

  batch(number: number): Batch | undefined {
    return this.batches[this.head + number - this.headNumber];
  }

  /** Number of the first batch that begins after `lsn`. */
  numberAfter(lsn: Lsn): number {
    let low = this.head;
    let high = this.batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.batches[middle]!.first > lsn) high = middle;
      else low = middle + 1;
    }
    return this.headNumber + low - this.head;
  }

  /** Closes the chunk of a large message, which is full with it: an open one stays in memory, however long nothing follows. */
  letGoOfLarge(): void {
    if (this.chunk !== undefined && this.chunk.capacity > chunkBytes) this.letGoOf(this.chunk);
  }

  /** If `chunk` is the open one, the next batch begins in a new one. */
  letGoOf(chunk: Chunk): void {
    if (this.chunk === chunk && this.batchStart < 0) this.closeChunk();
  }

  /** The log's open chunk is given back; for a replica that goes away. */
  close(): void {
    this.seal(false);
    this.truncateAfter(-1);
    this.closeChunk();
  }

  private push(batch: Batch): void {
    this.chunks.pin(batch.chunk);
    this.batches.push(batch);
    this.tailBytes += batch.byteLength;
  }

  private openNewChunk(bytes: number): void {
    this.chunk = this.chunks.open(this.group, Math.max(bytes, chunkBytes));
    this.offset = 0;
  }

  private closeChunk(): void {
    if (this.chunk === undefined) return;
    const chunk = this.chunk;
    this.chunk = undefined;
    this.chunks.unpin(chunk);
  }
}

/** Calls `apply` for every record of the batch. */
export function forEachRecord(batch: Batch, apply: Apply): void {
  const view = batch.chunk.view!;
  for (let at = batch.start + batchHeaderBytes; at < batch.end; at += view.getUint32(at, true)) apply(batch.chunk, at);
}

export interface BatchHeader {
  group: number;
  kind: number;
  durable: boolean;
  /** The protocol version needed to read it. */
  version: number;
  relaxed: boolean;
  count: number;
  previous: Lsn;
  first: Lsn;
}

/** Reads and checks the header and checksum of the batch in bytes [start, end). Throws if it is damaged. */
export function parseBatch(bytes: Uint8Array, start: number, end: number): BatchHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  if (end - start < batchHeaderBytes + recordHeaderBytes || view.getUint32(0, true) !== batchMagic)
    throw new Error('not a batch');
  if (view.getUint32(4, true) !== end - start) throw new Error('batch length does not fit');
  if (crc32(bytes.subarray(start + 12, end)) !== view.getUint32(8, true))
    throw new Error('batch checksum does not fit');
  return {
    group: view.getUint16(12, true),
    kind: view.getUint8(14),
    durable: (view.getUint8(15) & BatchFlag.durable) !== 0,
    version: batchVersion(bytes, start),
    relaxed: (view.getUint8(15) & BatchFlag.relaxed) !== 0,
    count: view.getUint32(16, true),
    previous: view.getFloat64(24, true),
    first: view.getFloat64(32, true),
  };
}

function writeHeader(
  chunk: Chunk,
  start: number,
  end: number,
  group: number,
  kind: BatchKind,
  flags: number,
  count: number,
  previous: Lsn,
  first: Lsn,
): void {
  const view = chunk.view!;
  view.setUint32(start, batchMagic, true);
  view.setUint32(start + 4, end - start, true);
  view.setUint32(start + 8, 0, true);
  view.setUint16(start + 12, group, true);
  view.setUint8(start + 14, kind);
  view.setUint8(start + 15, flags);
  view.setUint32(start + 16, count, true);
  view.setUint32(start + 20, 0, true);
  view.setFloat64(start + 24, previous, true);
  view.setFloat64(start + 32, first, true);
}

function writeChecksum(chunk: Chunk, start: number, end: number): void {
  chunk.view!.setUint32(start + 8, crc32(chunk.bytes!.subarray(start + 12, end)), true);
}

/** Bytes of a copy batch around ready records, durable: what compaction and joins write. */
export function encodeCopyBatch(group: number, records: readonly Uint8Array[], lsn: Lsn): Uint8Array {
  let length = batchHeaderBytes;
  let version = 1;
  for (const record of records) {
    length += record.length;
    version = Math.max(version, versionOf(record, 0));
  }
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, batchMagic, true);
  view.setUint32(4, length, true);
  view.setUint16(12, group, true);
  view.setUint8(14, BatchKind.copy);
  view.setUint8(15, BatchFlag.durable);
  view.setUint32(16, records.length, true);
  setBatchVersion(bytes, 0, version);
  view.setFloat64(24, lsn, true);
  view.setFloat64(32, lsn, true);
  let at = batchHeaderBytes;
  for (const record of records) {
    bytes.set(record, at);
    at += record.length;
  }
  view.setUint32(8, crc32(bytes.subarray(12)), true);
  return bytes;
}

/** A batch that was sealed to stay in memory gets its checksum when it leaves after all. */
export function ensureChecksum(batch: Batch): void {
  if (batch.chunk.view!.getUint32(batch.start + 8, true) === 0) writeChecksum(batch.chunk, batch.start, batch.end);
}
