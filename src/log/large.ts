/**
 * Large messages: their body lies beside them, in parts, each a record of its own in the group's queue of parts (`partsIncarnation`). So no
 * record is large, and what journals, replicates, joins, spills and compacts messages does the same with parts.
 *
 *   part  part  part ...  message        all of one upload: (boot of the node that sends them, its number there)
 *
 * a part: an enqueue record with the number of its publish and no meta
 *   header   0 f64 upload   8 u32 index, from 0   12 u32 0; 1: the upload is given up (then without a body, and never enqueued)
 *   body     the bytes; all parts but the last have `partBytes` of whoever sent them
 *
 * the message: an enqueue record with the flag `large`, behind its last part in the log; in place of the body its manifest
 *   0 f64 bytes of the body   8 u32 boot   12 u32 number of parts   16 f64 upload   24 f64 0
 *
 * A message that goes on within its group (dead letters, delays) keeps its manifest, and with it its parts.
 */
import { bodyAt } from './record.js';

export const manifestBytes = 32;
export const partHeaderBytes = 16;

/** Where the body of a large message is. */
export interface BodyId {
  /** Of the node that has sent its parts, and its number for that. */
  readonly boot: number;
  readonly upload: number;
}

/** What stands in place of a large message's body. */
export interface Manifest extends BodyId {
  /** Bytes of the body. */
  readonly size: number;
  /** Number of its parts. */
  readonly count: number;
}

export function encodeManifest({ boot, upload, size, count }: Manifest): Uint8Array {
  const bytes = new Uint8Array(manifestBytes);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, size, true);
  view.setUint32(8, boot, true);
  view.setUint32(12, count, true);
  view.setFloat64(16, upload, true);
  return bytes;
}

/** The manifest at `at`. */
export function manifestAt(view: DataView, at: number): Manifest {
  return {
    size: view.getFloat64(at, true),
    boot: view.getUint32(at + 8, true),
    count: view.getUint32(at + 12, true),
    upload: view.getFloat64(at + 16, true),
  };
}

/** The manifest of the large message whose enqueue record is at `start`. */
export function manifestOf(view: DataView, start: number): Manifest {
  return manifestAt(view, bodyAt(view, start));
}

/** The header of a part; `isEnd`: the upload is given up. */
export function encodePartHeader(upload: number, index: number, isEnd: boolean = false): Uint8Array {
  const bytes = new Uint8Array(partHeaderBytes);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, upload, true);
  view.setUint32(8, index, true);
  view.setUint32(12, isEnd ? 1 : 0, true);
  return bytes;
}

/** Whether the enqueue record at `start` has the header of a part. */
export function isPart(view: DataView, start: number): boolean {
  return view.getUint32(start + 32, true) === partHeaderBytes;
}

/** What the header of a part at `at` says. */
export function partHeaderAt(view: DataView, at: number): { upload: number; index: number; isEnd: boolean } {
  return {
    upload: view.getFloat64(at, true),
    index: view.getUint32(at + 8, true),
    isEnd: view.getUint32(at + 12, true) === 1,
  };
}
