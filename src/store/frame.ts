/**
 * A frame: one write of the journal. It tells recovery which damage matters:
 *
 *   0 u32 magic    4 u32 length with header    8 u32 crc32 of bytes 12..48    12 u32 flags
 *  16 f64 write number     24 u32 segment   28 u32 offset of this frame in it
 *  32 u32 segment   36 u32 offset: everything before that position was synced when this was written
 *  40 u32 x 2 store tag
 *  48 batches, each with its own checksum
 *
 * Damage before a position that a later frame calls synced may have been acknowledged: it is reported. Damage after it is
 * the torn end of a crash: never acknowledged. Segment, offset and tag make a frame valid at its own place only, so that
 * bytes of a message never pass for a frame when recovery looks for the next one.
 */
import { crc32 } from 'node:zlib';

export const frameMagic = 0x3157_4455; // "UDW1"
export const frameHeaderBytes = 48;

export const FrameFlag = {
  /** The first of a segment: the meta data of all groups, and the list of segments. */
  head: 1,
} as const;

/** Tells this store's frames from another's. */
export interface StoreTag {
  readonly low: number;
  readonly high: number;
}

/** @param storeId at least 16 hexadecimal characters */
export function storeTag(storeId: string): StoreTag {
  return { low: Number.parseInt(storeId.slice(0, 8), 16), high: Number.parseInt(storeId.slice(8, 16), 16) };
}

/** A frame's header, decoded; a flyweight. */
export class FrameHeader {
  length = 0;
  flags = 0;
  number = 0;
  segment = 0;
  offset = 0;
  syncedSegment = 0;
  syncedOffset = 0;

  encode(tag: StoreTag): Uint8Array {
    const bytes = new Uint8Array(frameHeaderBytes);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, frameMagic, true);
    view.setUint32(4, this.length, true);
    view.setUint32(12, this.flags, true);
    view.setFloat64(16, this.number, true);
    view.setUint32(24, this.segment, true);
    view.setUint32(28, this.offset, true);
    view.setUint32(32, this.syncedSegment, true);
    view.setUint32(36, this.syncedOffset, true);
    view.setUint32(40, tag.low, true);
    view.setUint32(44, tag.high, true);
    // The length lies before the checksum's range, so it is the seed.
    view.setUint32(8, crc32(bytes.subarray(12), this.length), true);
    return bytes;
  }

  /** Reads the header at `at`; false if there is no frame of this store that belongs to this very place. */
  decode(bytes: Uint8Array, view: DataView, at: number, tag: StoreTag, segment: number, offset: number): boolean {
    if (view.getUint32(at, true) !== frameMagic) return false;
    this.length = view.getUint32(at + 4, true);
    if (crc32(bytes.subarray(at + 12, at + frameHeaderBytes), this.length) !== view.getUint32(at + 8, true))
      return false;
    if (view.getUint32(at + 40, true) !== tag.low || view.getUint32(at + 44, true) !== tag.high) return false;
    this.flags = view.getUint32(at + 12, true);
    this.number = view.getFloat64(at + 16, true);
    this.segment = view.getUint32(at + 24, true);
    this.offset = view.getUint32(at + 28, true);
    this.syncedSegment = view.getUint32(at + 32, true);
    this.syncedOffset = view.getUint32(at + 36, true);
    return this.segment === segment && this.offset === offset && this.length >= frameHeaderBytes;
  }
}
