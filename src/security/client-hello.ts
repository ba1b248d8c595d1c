/** How a TLS connection begins (RFC 8446, §4 and §5.1): records of type handshake, and in them a message of type client_hello. */

const recordHeaderBytes = 5;
const handshakeRecord = 22;
const majorVersion = 3;
const messageHeaderBytes = 4;
const clientHello = 1;

/** `more`: it is not whole yet. `other`: what comes is no TLS. */
export type HelloState = 'whole' | 'more' | 'other';

/** Looks at what a client has said first. */
export function helloState(bytes: Uint8Array): HelloState {
  const beginning = [handshakeRecord, majorVersion];
  if (beginning.some((byte, i) => i < bytes.length && bytes[i] !== byte)) return 'other';
  const message = recordHeaderBytes;
  if (bytes.length > message && bytes[message] !== clientHello) return 'other';
  if (bytes.length < message + messageHeaderBytes) return 'more';
  let missing = messageHeaderBytes + ((bytes[message + 1]! << 16) | (bytes[message + 2]! << 8) | bytes[message + 3]!);
  // It may be cut into several records.
  for (let at = 0; at + recordHeaderBytes <= bytes.length; ) {
    const length = (bytes[at + 3]! << 8) | bytes[at + 4]!;
    if (bytes[at] !== handshakeRecord || length === 0) return 'other';
    at += recordHeaderBytes + length;
    missing -= length;
    if (missing <= 0) return at + missing <= bytes.length ? 'whole' : 'more';
  }
  return 'more';
}
