/**
 * What a transaction does in one group, as bytes: kept by the client's node until it is safe, and sent to the group's primary among its
 * publishes, with a number of its own (rule 14). It begins as a record does, though no log ever holds one.
 *
 *   0 u32 length of all    4 u8 unitKind   5 u8 0   6 u16 0   8 f64 0
 *  16 u32 publisher boot  20 u32 number of settlements   24 f64 publisher sequence
 *  32 settlements of 17 bytes: u8 1 = reject, 0 = ack; f64 incarnation; f64 position
 *     enqueue records without number, back to back
 */
import { encodeEnqueue, enqueueLength, type MessageParts } from '../log/record.js';

/** No kind of record. */
export const unitKind = 0x80;
export const unitHeaderBytes = 32;
const settlementBytes = 17;

export interface UnitMessage {
  readonly parts: MessageParts;
  readonly incarnations: readonly number[];
  readonly durable: boolean;
}

export interface UnitSettlement {
  readonly incarnation: number;
  readonly position: number;
  readonly rejects: boolean;
}

export function isUnit(bytes: Uint8Array, start: number): boolean {
  return bytes[start + 4] === unitKind;
}

export function unitLength(messages: readonly UnitMessage[], settlements: readonly UnitSettlement[]): number {
  let length = unitHeaderBytes + settlements.length * settlementBytes;
  for (const { parts, incarnations } of messages) length += enqueueLength(parts, incarnations.length);
  return length;
}

/** Writes a unit at `start`. */
export function encodeUnit(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  messages: readonly UnitMessage[],
  settlements: readonly UnitSettlement[],
  boot: number,
  sequence: number,
): void {
  bytes.fill(0, start, start + unitHeaderBytes);
  bytes[start + 4] = unitKind;
  view.setUint32(start + 16, boot, true);
  view.setUint32(start + 20, settlements.length, true);
  view.setFloat64(start + 24, sequence, true);
  let at = start + unitHeaderBytes;
  for (const { incarnation, position, rejects } of settlements) {
    bytes[at] = rejects ? 1 : 0;
    view.setFloat64(at + 1, incarnation, true);
    view.setFloat64(at + 9, position, true);
    at += settlementBytes;
  }
  for (const { parts, incarnations, durable } of messages)
    at += encodeEnqueue(bytes, view, at, parts, incarnations, durable, 0, 0);
  view.setUint32(start, at - start, true);
}

/** Visits the settlements of the unit at `start`. */
export function forEachSettlement(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  visit: (incarnation: number, position: number, rejects: boolean) => void,
): void {
  const end = messagesStart(view, start);
  for (let at = start + unitHeaderBytes; at < end; at += settlementBytes)
    visit(view.getFloat64(at + 1, true), view.getFloat64(at + 9, true), bytes[at] === 1);
}

/** Where the enqueue records of the unit at `start` begin; they end where it does. */
export function messagesStart(view: DataView, start: number): number {
  return start + unitHeaderBytes + view.getUint32(start + 20, true) * settlementBytes;
}
