/**
 * What travels between a group's client and its service on another node. The frame's header names the group; every payload
 * begins with the attachment's number. Integers are little-endian; offsets are from the payload's start.
 *
 * from the client
 *   attach       0 u32 attachment   4 u8 1 = last piece, 5 u8 x 3 free   8 f64 epoch   16 f64 confirmed sequence
 *                24 held messages of 20 bytes: f64 incarnation, f64 position, u32 subscriber
 *   publish      0 u32 attachment   4 u32 free   8 f64 wiring version   16 enqueue records, back to back
 *   settle       0 u32 attachment   4 settlements of 17 bytes: u8 kind, f64 incarnation, f64 position
 *   subscribe    0 u32 attachment   4 u32 subscriber   8 f64 incarnation   16 f64 wiring version   24 f64 credit
 *                32 JSON of the other options
 *   grant        0 u32 attachment   4 u32 subscriber   8 f64 count
 *   unsubscribe  0 u32 attachment   4 u32 subscriber
 *   browseFrom   0 u32 attachment   4 u32 subscriber   8 f64 position (version 3)
 *   get          0 u32 attachment   4 u32 request      8 f64 incarnation   16 f64 wiring version   24 u8 1 = no acks
 *   count        0 u32 attachment   4 u32 request      8 f64 incarnation   16 f64 wiring version   24 u8 1 = it is a use (version 3)
 *   purge        as count, but for the last: 24 JSON of where messages are to go (DeadLettering, version 3); none: nowhere
 *   transact     0 u32 attachment   4 u32 free   8 f64 wiring version   16 a unit (model/unit.ts); since version 3, in the order of publishes
 *   bodyRead     0 u32 attachment   4 u32 reader   8 u32 boot   12 u32 first part   16 f64 upload   24 u32 parts, 4 free (version 3)
 *   bodyHold     0 u32 attachment   4 u32 free     8 u32 boot   12 u32 free   16 f64 upload; bodyDone is the same (version 3)
 *   openUploads  0 u32 attachment   4 u32 free     8 f64 last upload   16 n x (f64 upload that may be open, f64 sequence of its end) (version 3)
 *   modify       0 u32 attachment   4 u32 1 = it counts   8 f64 incarnation   16 f64 position   24 annotations, encoded maps of AMQP 1.0
 *                (version 3; among the settlements, in their order)
 *   drain        0 u32 attachment   4 u32 subscriber (version 3)
 *   terminus     as count, but for the last: 24 JSON of a TerminusOperation (version 3)
 *
 * from the service
 *   attached     0 u32 attachment   4 u32 free   8 f64 epoch   16 f64 publishes taken before (version 3)
 *   refused      0 u32 attachment   4 u32 free   8 f64 epoch known there: higher than the one asked for; or the same, when an
 *                attachment that was accepted is broken
 *   confirmed    0 u32 attachment   4 u32 replicas in sync (0 = not said)   8 f64 sequence
 *   rejected     0 u32 attachment   4 u32 free   8 f64 x n sequences, before they are confirmed (version 3)
 *   flow         0 u32 attachment   4 u32 1 = publishers to these queues wait, 2 = those to all others of the group go on   8 f64 x n
 *                incarnations (version 3)
 *   settled      0 u32 attachment   4 u32 free   8 f64 count
 *   deliver      0 u32 attachment   4 u32 subscriber, highest bit = redelivered   8 f64 incarnation   16 enqueue record
 *   deliverCounted   0 u32 attachment   4 u32 subscriber   8 f64 incarnation   16 u32 how often it came back, 4 free   24 enqueue record
 *                (version 3; redelivered)
 *   subscribed   0 u32 attachment   4 u32 subscriber   8 UTF-8 refusal
 *   unsubscribed 0 u32 attachment   4 u32 subscriber
 *   cancelled    0 u32 attachment   4 u32 subscriber   8 UTF-8 reason
 *   drained      0 u32 attachment   4 u32 subscriber (version 3)
 *   got          0 u32 attachment   4 u32 request      8 f64 incarnation   16 u32 remaining   20 u8 1 = redelivered, 1 free
 *                22 u16 how often it came back (version 3)
 *                24 enqueue record
 *   gotNothing   0 u32 attachment   4 u32 request      8 UTF-8 refusal
 *   counted      0 u32 attachment   4 u32 request      8 f64 ready   16 f64 unacknowledged   24 f64 consumers
 *   purged       0 u32 attachment   4 u32 request      8 f64 count   16 UTF-8 refusal
 *   bodyPart     0 u32 attachment   4 u32 reader   8 u32 index   12 u32 free   16 the part's bytes (version 3)
 *   bodyGone     0 u32 attachment   4 u32 reader (version 3)
 *   terminusAnswered   0 u32 attachment   4 u32 request   8 JSON of a TerminusAnswer (version 3)
 */
import type { BodyId } from '../../log/large.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';

export const heldBytes = 20;
export const settlementBytes = 17;
/** Held messages in one attach frame, settlements in one settle frame. */
export const piecesMax = 4096;

export const redeliveredBit = 0x8000_0000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return start === end ? '' : decoder.decode(bytes.subarray(start, end));
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** (attachment, id), for frames that carry no more. */
export function sendId(link: Link, type: FrameType, group: number, attachment: number, id: number): void {
  const out = link.beginFrame(type, group, 8);
  out.view.setUint32(out.offset, attachment, true);
  out.view.setUint32(out.offset + 4, id, true);
}

/** (attachment, id, value). */
export function sendIdValue(
  link: Link,
  type: FrameType,
  group: number,
  attachment: number,
  id: number,
  value: number,
): void {
  const out = link.beginFrame(type, group, 16);
  out.view.setUint32(out.offset, attachment, true);
  out.view.setUint32(out.offset + 4, id, true);
  out.view.setFloat64(out.offset + 8, value, true);
}

/** (attachment, id, text). */
export function sendIdText(
  link: Link,
  type: FrameType,
  group: number,
  attachment: number,
  id: number,
  text: string,
): void {
  const encoded = encodeText(text);
  const out = link.beginFrame(type, group, 8 + encoded.length);
  out.view.setUint32(out.offset, attachment, true);
  out.view.setUint32(out.offset + 4, id, true);
  out.bytes.set(encoded, out.offset + 8);
}

const nothing = new Uint8Array(0);

/** (attachment, request, incarnation, wiring version, and whether it is a use, or a text): count, purge. */
export function sendQuestion(
  link: Link,
  type: FrameType,
  group: number,
  attachment: number,
  request: number,
  incarnation: number,
  wiringVersion: number,
  isUse: boolean = false,
  text: Uint8Array = nothing,
): void {
  const out = link.beginFrame(type, group, isUse ? 25 : 24 + text.length);
  out.view.setUint32(out.offset, attachment, true);
  out.view.setUint32(out.offset + 4, request, true);
  out.view.setFloat64(out.offset + 8, incarnation, true);
  out.view.setFloat64(out.offset + 16, wiringVersion, true);
  if (isUse) out.bytes[out.offset + 24] = 1;
  else out.bytes.set(text, out.offset + 24);
}

/** (attachment, body): bodyHold, bodyDone. */
export function sendBody(link: Link, type: FrameType, group: number, attachment: number, id: BodyId): void {
  const out = link.beginFrame(type, group, 24);
  out.view.setUint32(out.offset, attachment, true);
  out.view.setUint32(out.offset + 4, 0, true);
  putBody(out, id);
}

/** The body that a frame is about, at its place. */
export function putBody({ view, offset }: { view: DataView; offset: number }, { boot, upload }: BodyId): void {
  view.setUint32(offset + 8, boot, true);
  view.setUint32(offset + 12, 0, true);
  view.setFloat64(offset + 16, upload, true);
}

export function bodyIn(view: DataView, start: number): BodyId {
  return { boot: view.getUint32(start + 8, true), upload: view.getFloat64(start + 16, true) };
}

export { FrameType };
