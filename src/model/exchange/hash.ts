/** Hashes that are the same on every node and in every version: where a message goes rests on them. */

/** FNV-1a, 32 bits, of a text's code units. */
export function hashText(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** Two hashes as one, every bit of which depends on all of both (the end of MurmurHash3). */
export function mixHashes(a: number, b: number): number {
  let value = (Math.imul(a, 0x9e3779b1) + b) | 0;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
