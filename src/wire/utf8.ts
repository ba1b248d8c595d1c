/** Text in bytes. Decoding is strict: two different byte strings never become the same text, so names stay distinct. */
import { DecodeError } from './decode-error.js';

// ignoreBOM: a leading U+FEFF belongs to the text.
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const looseDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** Up to this length a loop over ASCII bytes beats a call into the runtime. */
const loopLengthMax = 48;

/** The text of the UTF-8 bytes [start, end), or undefined if they are not UTF-8. */
export function textOrUndefined(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start <= loopLengthMax) {
    let text = '';
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte >= 0x80) break;
      text += String.fromCharCode(byte);
    }
    if (at === end) return text;
  }
  try {
    return strictDecoder.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** The text of the UTF-8 bytes [start, end). Throws DecodeError if they are not UTF-8. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  const text = textOrUndefined(bytes, start, end);
  if (text === undefined) throw new DecodeError(`a string of ${end - start} bytes is not valid UTF-8`);
  return text;
}

/** The text of the bytes [start, end); what is not UTF-8 becomes U+FFFD. For showing and matching, never for naming. */
export function decodeLooseText(bytes: Uint8Array, start: number, end: number): string {
  return textOrUndefined(bytes, start, end) ?? looseDecoder.decode(bytes.subarray(start, end));
}

/** The UTF-8 bytes of a text, fresh. A lone surrogate becomes U+FFFD. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Writes the text as UTF-8 at `at` and returns the bytes written. There must be room for 3 bytes per code unit. */
export function encodeTextInto(text: string, bytes: Uint8Array, at: number): number {
  const length = text.length;
  if (length <= loopLengthMax) {
    let i = 0;
    for (; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) break;
      bytes[at + i] = unit;
    }
    if (i === length) return length;
  }
  return encoder.encodeInto(text, bytes.subarray(at)).written;
}

/** The longest beginning of `text` that takes at most `bytesMax` bytes of UTF-8 and cuts no character. */
export function truncateText(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const room = new Uint8Array(bytesMax);
  return text.slice(0, encoder.encodeInto(text, room).read);
}
