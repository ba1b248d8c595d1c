/**
 * Replication's frames. Control frames are JSON (a few per failure); the data path's are fixed layouts, little-endian, that
 * begin with u32 epoch, u32 session. A session is one following of one primary by one replica over one link; frames of an
 * older one are dropped.
 *
 *   batch     8 f64 commit point   16 the batch, as journaled
 *   commit    8 f64 commit point
 *   ack       8 u32 flags  12 u32 boot  16 f64 durable  24 f64 applied
 *   have      8 f64 incarnation  16 f64 high  24 f64 low  32 u32 count  36 u32 0   40 f64 x count, descending
 *   backfill  as have (the positions are those to drop; low = how far down it goes; 36 u32 messages that the primary has there),
 *             then a copy batch or nothing
 *   joinEnd   8 f64 the primary's log end after the last backfill
 *   handOver  0 u32 the next primary's epoch  4 u32 1 if it is the last piece   8 a piece (model/group-service/hand-over.ts)
 */
import { type BatchHeader, parseBatch } from '../../log/group-log.js';
import type { Lsn } from '../../log/lsn.js';
import type { ReplicaOptions } from '../../log/replica-options.js';
import type { OriginList } from '../../model/origins.js';
import type { ReturnList } from '../../model/returns.js';
import { FrameError } from '../link/frame.js';
import type { Link } from '../link/link.js';
import { FrameType } from '../link/frame-types.js';

export interface FollowMessage {
  epoch: number;
  session: number;
  store: string;
  boot: number;
  /** Its join is not finished: it cannot be matched (rule 9). */
  joining: boolean;
  /** It has begun a join, and not finished it: how much it lacks cannot be told from its log. Not said by older programs. */
  partial?: boolean;
  committed: Lsn;
  end: Lsn;
  /** First and last lsn of each batch after `committed`. */
  tail: [Lsn, Lsn][];
}

export interface StartMessage {
  epoch: number;
  session: number;
  /** The common point: the follower cuts what it has after it. */
  match: Lsn;
  commit: Lsn;
}

export interface JoinMessage {
  epoch: number;
  session: number;
  /** The primary's commit point: live batches follow from here, positions up to here are compared. */
  base: Lsn;
  publishers: [boot: number, sequence: number][];
  /** From protocol version 3 on. */
  origins?: OriginList;
  returns?: ReturnList;
  wiringVersion: number;
}

export interface QueuesMessage {
  epoch: number;
  session: number;
  queues: [incarnation: number, options: ReplicaOptions][];
  /** In these queues now. */
  messages: number;
  last: boolean;
}

export interface RefuseMessage {
  epoch: number;
  session: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function sendJson(link: Link, type: FrameType, group: number, message: object): void {
  const json = encoder.encode(JSON.stringify(message));
  const frame = link.beginFrame(type, group, json.length);
  const at = frame.offset;
  frame.bytes.set(json, at);
}

/** Throws a FrameError if it is no JSON. */
export function readJson<T>(bytes: Uint8Array, start: number, end: number): T {
  try {
    return JSON.parse(decoder.decode(bytes.subarray(start, end))) as T;
  } catch (error) {
    throw new FrameError((error as Error).message);
  }
}

/** The header of a batch that came over a link. Throws a FrameError if it is damaged, or of a version above `versionMax`. */
export function readBatch(bytes: Uint8Array, start: number, end: number, versionMax: number): BatchHeader {
  let header: BatchHeader;
  try {
    header = parseBatch(bytes, start, end);
  } catch (error) {
    throw new FrameError((error as Error).message);
  }
  if (header.version > versionMax)
    throw new FrameError(`a batch of protocol version ${header.version}, this node reads up to ${versionMax}`);
  return header;
}

export function sendBatch(
  link: Link,
  group: number,
  epoch: number,
  session: number,
  commit: Lsn,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  const length = 16 + end - start;
  const frame = link.beginFrame(FrameType.batch, group, length);
  const at = frame.offset;
  frame.view.setUint32(at, epoch, true);
  frame.view.setUint32(at + 4, session, true);
  frame.view.setFloat64(at + 8, commit, true);
  frame.bytes.set(bytes.subarray(start, end), at + 16);
}

/** A commit or joinEnd frame. */
export function sendPoint(link: Link, type: FrameType, group: number, epoch: number, session: number, lsn: Lsn): void {
  const frame = link.beginFrame(type, group, 16);
  const at = frame.offset;
  frame.view.setUint32(at, epoch, true);
  frame.view.setUint32(at + 4, session, true);
  frame.view.setFloat64(at + 8, lsn, true);
}

/** A piece of what a primary passes on to the one of `epoch`. */
export function sendHandOver(link: Link, group: number, epoch: number, isLast: boolean, piece: Uint8Array): void {
  const frame = link.beginFrame(FrameType.handOver, group, 8 + piece.length);
  frame.view.setUint32(frame.offset, epoch, true);
  frame.view.setUint32(frame.offset + 4, isLast ? 1 : 0, true);
  frame.bytes.set(piece, frame.offset + 8);
}

export const AckFlag = {
  /** The join is done, on disk: the acks count (rule 9). */
  joined: 1,
} as const;

export function sendAck(
  link: Link,
  group: number,
  epoch: number,
  session: number,
  flags: number,
  boot: number,
  durable: Lsn,
  applied: Lsn,
): void {
  const frame = link.beginFrame(FrameType.ack, group, 32);
  const at = frame.offset;
  const view = frame.view;
  view.setUint32(at, epoch, true);
  view.setUint32(at + 4, session, true);
  view.setUint32(at + 8, flags, true);
  view.setUint32(at + 12, boot, true);
  view.setFloat64(at + 16, durable, true);
  view.setFloat64(at + 24, applied, true);
}

/** A slice of positions of one queue, from `high` down to `low`, both included. */
export interface Slice {
  incarnation: number;
  high: Lsn;
  low: Lsn;
  positions: Lsn[];
  /** Messages that the primary has there; 0 in what a joiner says. */
  compared: number;
}

export function sendSlice(
  link: Link,
  type: FrameType,
  group: number,
  epoch: number,
  session: number,
  slice: Slice,
  copies: Uint8Array | undefined,
): void {
  const length = 40 + slice.positions.length * 8 + (copies?.length ?? 0);
  const frame = link.beginFrame(type, group, length);
  const at = frame.offset;
  const view = frame.view;
  view.setUint32(at, epoch, true);
  view.setUint32(at + 4, session, true);
  view.setFloat64(at + 8, slice.incarnation, true);
  view.setFloat64(at + 16, slice.high, true);
  view.setFloat64(at + 24, slice.low, true);
  view.setUint32(at + 32, slice.positions.length, true);
  view.setUint32(at + 36, slice.compared, true);
  let to = at + 40;
  for (const position of slice.positions) {
    view.setFloat64(to, position, true);
    to += 8;
  }
  if (copies !== undefined) frame.bytes.set(copies, to);
}

/** Returns the slice and where the copies begin. Throws a FrameError if it is cut short. */
export function readSlice(view: DataView, start: number, end: number): { slice: Slice; copiesStart: number } {
  const count = view.getUint32(start + 32, true);
  if (count * 8 > end - start - 40) throw new FrameError(`a slice of ${count} positions is cut short`);
  const positions = new Array<Lsn>(count);
  for (let i = 0; i < count; i++) positions[i] = view.getFloat64(start + 40 + i * 8, true);
  return {
    slice: {
      incarnation: view.getFloat64(start + 8, true),
      high: view.getFloat64(start + 16, true),
      low: view.getFloat64(start + 24, true),
      positions,
      compared: view.getUint32(start + 36, true),
    },
    copiesStart: start + 40 + count * 8,
  };
}
