/**
 * What travels on a link between two nodes. Little-endian.
 *
 *   0 u32 length of the whole frame   4 u8 type   5 u8 version   6 u16 group   8 payload
 *
 * The version is the protocol's with which the type came: who speaks less skips the frame. A type's layout never changes; fields are
 * only ever added at a payload's end, so a reader takes what it knows and skips the rest.
 */
import type { Link } from './link.js';

export const frameHeaderBytes = 8;

/** Types below this may come before a link is up. */
export const firstFreeType = 16;

/** Where a received frame lies; a flyweight, valid during the handler's call only, like its bytes. */
export class Frame {
  type = 0;
  version = 0;
  group = 0;
  bytes: Uint8Array = new Uint8Array(0);
  /** Over the same bytes: offset n of the view is bytes[n]. */
  view: DataView = new DataView(new ArrayBuffer(0));
  /** The payload is bytes [start, end). */
  start = 0;
  end = 0;
}

export type FrameHandler = (link: Link, frame: Frame) => void;

/** The peer broke the framing; the link cannot go on. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}
