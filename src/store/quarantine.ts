/** Keeps a copy of a damaged segment as it was found, for whoever wants to look at it or to save something from it. */
import { readFully } from './chunk-reader.js';
import type { Disk } from './disk.js';
import type { Segment } from './segment.js';

const copyBytes = 1024 * 1024;

/** Under which a segment's file is kept. */
export function quarantineName(segment: string): string {
  return `quarantine-${segment}`;
}

/** Copies the segment's file to its quarantine name, unless that was done at an earlier start, and returns the name. */
export async function quarantine(disk: Disk, segment: Segment): Promise<string> {
  const name = quarantineName(segment.name);
  if ((await disk.list()).includes(name)) return name;
  const part = `${name}.part`;
  const from = await disk.open(segment.name, { create: false });
  try {
    const to = await disk.open(part, { create: true });
    try {
      await to.truncate(0);
      const size = await from.size();
      const buffer = new Uint8Array(copyBytes);
      for (let at = 0; at < size; at += copyBytes) {
        const piece = buffer.subarray(0, Math.min(copyBytes, size - at));
        await readFully(from, piece, at);
        await to.write([piece], at);
      }
      await to.sync();
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  await disk.rename(part, name);
  await disk.syncFolder();
  return name;
}
