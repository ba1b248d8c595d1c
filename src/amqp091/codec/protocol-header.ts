/** The eight bytes that open a connection (§4.2.2): 'AMQP', protocol id, major, minor, revision. */

const letters = [0x41, 0x4d, 0x51, 0x50] as const;

export const protocolHeaderBytes = 8;

/** AMQP 0-9-1's header: what clients open with, and what a broker answers to any other. */
export const protocolHeader: Uint8Array = Uint8Array.of(...letters, 0, 0, 9, 1);

/** Can the bytes [start, end), any number of them, be the beginning of a protocol header of any version? */
export function beginsLikeAmqp(bytes: Uint8Array, start: number, end: number): boolean {
  const count = Math.min(end - start, letters.length);
  for (let i = 0; i < count; i++) if (bytes[start + i] !== letters[i]) return false;
  return true;
}

/** Is the whole header at `start` AMQP 0-9-1's, or that of 0-9 (1-1-0-9), which differs in nothing that matters? */
export function isSupportedHeader(bytes: Uint8Array, start: number): boolean {
  const id = bytes[start + 4];
  const major = bytes[start + 5];
  const minor = bytes[start + 6];
  const revision = bytes[start + 7];
  return (
    (id === 0 && major === 0 && minor === 9 && revision === 1) ||
    (id === 1 && major === 1 && minor === 0 && revision === 9)
  );
}
