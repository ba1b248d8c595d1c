/**
 * A batch: the events that one turn of a primary made for one group. It is the unit of journaling, replication,
 * log matching and commit; its boundaries never change, so a batch is known by its first lsn.
 *
 *   0 u32 magic    4 u32 length with header    8 u32 crc32 of bytes 12..length
 *  12 u16 group   14 u8 kind   15 u8 flags   16 u32 record count   20 u8 version, 3 reserved
 *  24 f64 previous lsn (the log's end before this batch; tells epoch and number)   32 f64 first lsn
 *  40 records
 *
 * The version is the protocol's that is needed to read all of its records; 0 stands for 1. Who speaks less must not pass over it.
 *
 * Within a batch the lsns are consecutive. Copies (compaction, backfill) carry records of any lsn and no place in the log; their
 * "previous" and "first" lsn are the commit point as of which the records were there (see RecoveryVisitor).
 */
import { crc32 } from 'node:zlib';
import type { Lsn } from './lsn.js';

export const batchMagic = 0x3142_4455; // "UDB1"
export const batchHeaderBytes = 40;
const versionOffset = 20;

export const BatchKind = {
  /** Events in log order. */
  log: 0,
  /** Records written again by compaction or received as backfill; their lsns are their first ones. */
  copy: 1,
  /** JSON of a group's meta data: see GroupMeta. */
  meta: 2,
  /** JSON of the segments that the journal consists of. Group 0xffff. */
  manifest: 3,
} as const;
export type BatchKind = (typeof BatchKind)[keyof typeof BatchKind];

export const BatchFlag = {
  /** It must go to the disk. */
  durable: 1,
  /** None of its records must be there before it counts. */
  relaxed: 2,
} as const;

/** The protocol version needed to read the batch at `start`. */
export function batchVersion(bytes: Uint8Array, start: number): number {
  return bytes[start + versionOffset] || 1;
}

/** Notes what its records need, in a header that is written already. */
export function setBatchVersion(bytes: Uint8Array, start: number, version: number): void {
  bytes[start + versionOffset] = version === 1 ? 0 : version;
}

/** Does a whole batch with a right checksum lie at `start`, ending at `end` at most? */
export function batchIsSound(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
  if (end - start < batchHeaderBytes || view.getUint32(start, true) !== batchMagic) return false;
  const length = view.getUint32(start + 4, true);
  if (length < batchHeaderBytes || length > end - start) return false;
  return crc32(bytes.subarray(start + 12, start + length)) === view.getUint32(start + 8, true);
}

/** Computes and sets the checksum of the batch in bytes [start, end). */
export function setBatchChecksum(bytes: Uint8Array, view: DataView, start: number, end: number): void {
  view.setUint32(start + 8, crc32(bytes.subarray(start + 12, end)), true);
}

/** The batch header of 40 bytes, checksum unset. */
export function writeBatchHeader(
  view: DataView,
  start: number,
  length: number,
  group: number,
  kind: BatchKind,
  durable: boolean,
  count: number,
  previous: Lsn,
  first: Lsn,
): void {
  view.setUint32(start, batchMagic, true);
  view.setUint32(start + 4, length, true);
  view.setUint32(start + 8, 0, true);
  view.setUint16(start + 12, group, true);
  view.setUint8(start + 14, kind);
  view.setUint8(start + 15, durable ? BatchFlag.durable : 0);
  view.setUint32(start + 16, count, true);
  view.setUint32(start + 20, 0, true);
  view.setFloat64(start + 24, previous, true);
  view.setFloat64(start + 32, first, true);
}
