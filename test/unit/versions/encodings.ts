/** Each encoding of protocol version 1 that outlives a process or leaves it, made from fixed values: what `protocol-1.test.ts` pins. */
import { Chunk } from '../../../src/log/chunk.js';
import { encodeCopyBatch, GroupLog } from '../../../src/log/group-log.js';
import { encodeDrop, encodeOpen } from '../../../src/log/open-record.js';
import { encodeDequeue, encodeEnqueue, enqueueLength, MessageParts, setLsn } from '../../../src/log/record.js';
import { FrameHeader } from '../../../src/store/frame.js';
import { encodeHello } from '../../../src/cluster/link/hello.js';
import { FrameOutput } from '../../../src/cluster/link/frame-output.js';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import type { Link } from '../../../src/cluster/link/link.js';
import {
  AckFlag,
  sendAck,
  sendBatch,
  sendJson,
  sendPoint,
  sendSlice,
} from '../../../src/cluster/replication/frames.js';
import { sendId, sendIdText, sendIdValue, sendQuestion } from '../../../src/cluster/client/frames.js';
import { TestChunks } from '../model-queue/support.js';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export function message(): MessageParts {
  const parts = new MessageParts();
  parts.persistent = true;
  parts.priority = 7;
  parts.expiresAt = 1_800_000_000_000;
  parts.metaBytes = new Uint8Array([1, 0x65, 2, 0x6b, 0x31]);
  parts.metaLength = parts.metaBytes.length;
  parts.headerBytes = new Uint8Array([0x10, 0x00, 2]);
  parts.headerLength = parts.headerBytes.length;
  parts.bodyBytes = text('body');
  parts.bodyLength = 4;
  return parts;
}

/** An enqueue for two queues by publisher (boot 5, sequence 9). */
export function enqueue(): Uint8Array {
  const parts = message();
  const bytes = new Uint8Array(enqueueLength(parts, 2));
  encodeEnqueue(bytes, new DataView(bytes.buffer), 0, parts, [4_294_967_297, 3], true, 5, 9);
  return bytes;
}

/** A dequeue of positions that are not all neighbours. */
export function dequeue(): Uint8Array {
  const bytes = new Uint8Array(64);
  const length = encodeDequeue(bytes, new DataView(bytes.buffer), 0, 3, [10, 11, 300, 70_000], 4, true);
  return bytes.slice(0, length);
}

function withLsn(record: Uint8Array, lsn: number): Uint8Array {
  setLsn(new DataView(record.buffer, record.byteOffset), 0, lsn);
  return record;
}

/** The bytes of a batch with these records, the first of epoch 2. */
export function batchOf(records: readonly Uint8Array[]): Uint8Array {
  const log = new GroupLog(4, new TestChunks());
  log.resetTo(4_294_967_300);
  log.beginEpoch(2);
  for (const record of records) {
    log.reserve(record.length, () => {});
    log.openChunk.bytes!.set(record, log.openOffset);
    log.append(record.length);
  }
  const { chunk, start, end } = log.seal(true)!;
  return (chunk satisfies Chunk).bytes!.slice(start, end);
}

/** Frames as they leave, header included. */
function frames(send: (link: Link) => void): Uint8Array {
  const output = new FrameOutput();
  const link = {
    beginFrame(type: number, group: number, bytes: number, version: number = 1): FrameOutput {
      output.begin(type, version, group, bytes);
      return output;
    },
  };
  send(link as unknown as Link);
  return output.bytes.slice(0, output.pendingBytes);
}

const self = { cluster: 'c', node: 'n1', store: 's1', boot: 3, ordinal: 1, address: 'h:1', amqp: 'h:2', http: '' };
const follow = { epoch: 2, session: 7, store: 's1', boot: 3, joining: false, committed: 9, end: 12, tail: [[10, 12]] };

export function encodings(): Record<string, string> {
  const header = new FrameHeader();
  Object.assign(header, { length: 100, flags: 1, number: 8, segment: 2, offset: 4096 });
  Object.assign(header, { syncedSegment: 1, syncedOffset: 77 });
  const records = [enqueue(), dequeue(), encodeOpen(3, 8, { durable: true }), encodeDrop(3, 9)];
  const slice = { incarnation: 3, high: 20, low: 0, positions: [20, 4], compared: 2 };
  const copy = encodeCopyBatch(4, [withLsn(enqueue(), 6)], 8);
  return {
    enqueue: hex(withLsn(enqueue(), 6)),
    dequeue: hex(withLsn(dequeue(), 7)),
    open: hex(withLsn(encodeOpen(3, 8, { durable: true }), 8)),
    drop: hex(withLsn(encodeDrop(3, 9), 9)),
    batch: hex(batchOf(records)),
    copyBatch: hex(copy),
    journalFrame: hex(header.encode({ low: 0x1122_3344, high: 0x5566_7788 })),
    hello: hex(encodeHello(self, { min: 1, max: 1 })),
    follow: hex(frames((link) => sendJson(link, FrameType.follow, 4, follow))),
    batchFrame: hex(frames((link) => sendBatch(link, 4, 2, 7, 9, copy, 0, copy.length))),
    commitFrame: hex(frames((link) => sendPoint(link, FrameType.commit, 4, 2, 7, 12))),
    ack: hex(frames((link) => sendAck(link, 4, 2, 7, AckFlag.joined, 3, 12, 11))),
    have: hex(frames((link) => sendSlice(link, FrameType.have, 4, 2, 7, slice, undefined))),
    backfill: hex(frames((link) => sendSlice(link, FrameType.backfill, 4, 2, 7, slice, copy))),
    unsubscribe: hex(frames((link) => sendId(link, FrameType.unsubscribe, 4, 6, 1))),
    grant: hex(frames((link) => sendIdValue(link, FrameType.grant, 4, 6, 1, 100))),
    cancelled: hex(frames((link) => sendIdText(link, FrameType.cancelled, 4, 6, 1, 'gone'))),
    purge: hex(frames((link) => sendQuestion(link, FrameType.purge, 4, 6, 2, 3, 9))),
  };
}
