/**
 * A record of what a client has noted of a message that it gave back (`annotated`, since version 3):
 *
 *   16 f64 incarnation   24 f64 position   32 u32 how often it came back   36 u32 revision   40 annotations: maps of AMQP 1.0, encoded, back to back
 */
import { RecordFlag } from './record-flag.js';
import { RecordKind } from './record-kind.js';

const headerBytes = 40;

/** What clients have noted of a message. */
export interface Annotated {
  /** The higher one holds. */
  readonly revision: number;
  /** Encoded maps of AMQP 1.0, back to back; later ones outweigh earlier ones. */
  readonly annotations: Uint8Array;
}

export function annotatedLength({ annotations }: Annotated): number {
  return headerBytes + annotations.length;
}

/** Writes the record (lsn unset), and returns its length. Not before its version is in use. */
export function encodeAnnotated(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  incarnation: number,
  position: number,
  count: number,
  { revision, annotations }: Annotated,
  durable: boolean,
): number {
  const length = headerBytes + annotations.length;
  view.setUint32(at, length, true);
  bytes[at + 4] = RecordKind.annotated;
  bytes[at + 5] = durable ? RecordFlag.durable : 0;
  view.setUint16(at + 6, 1, true);
  view.setFloat64(at + 8, 0, true);
  view.setFloat64(at + 16, incarnation, true);
  view.setFloat64(at + 24, position, true);
  view.setUint32(at + 32, count, true);
  view.setUint32(at + 36, revision, true);
  bytes.set(annotations, at + headerBytes);
  return length;
}

/** What the record at `at` says; a copy. */
export function annotatedAt(
  bytes: Uint8Array,
  view: DataView,
  at: number,
): { incarnation: number; position: number; count: number; annotated: Annotated } {
  const end = at + view.getUint32(at, true);
  return {
    incarnation: view.getFloat64(at + 16, true),
    position: view.getFloat64(at + 24, true),
    count: view.getUint32(at + 32, true),
    annotated: { revision: view.getUint32(at + 36, true), annotations: bytes.slice(at + headerBytes, end) },
  };
}
