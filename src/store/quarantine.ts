/** Keeps what is damaged as it was found, for whoever wants to look at it or to save something from it. */
import { readFully } from './chunk-reader.js';
import type { Disk, DiskFile } from './disk.js';
import type { Segment } from './segment.js';

const copyBytes = 1024 * 1024;
/** Of a cut end no more is kept. */
const tailBytesMax = 4 * copyBytes;
/** So many files that were put aside under one name are kept. */
const asideMax = 9;

/** Under which a segment's file is kept. */
export function quarantineName(segment: string): string {
  return `quarantine-${segment}`;
}

/** Copies the segment's file to its quarantine name, unless that was done at an earlier start, and returns the name. */
export async function quarantine(disk: Disk, segment: Segment): Promise<string> {
  const from = await disk.open(segment.name, { create: false });
  try {
    return await copy(disk, from, quarantineName(segment.name), 0, await from.size());
  } finally {
    await from.close();
  }
}

/** Copies the segment's bytes from `offset` on, some megabytes at most, to a file that is named after both. */
export async function quarantineTail(
  disk: Disk,
  from: DiskFile,
  segment: string,
  offset: number,
  bytes: number,
): Promise<string> {
  return copy(disk, from, `${quarantineName(segment)}-${offset}`, offset, offset + Math.min(bytes, tailBytesMax));
}

/** Gives the file a quarantine name, which takes no space, and returns that. The folder is to be synced. */
export async function putAside(disk: Disk, segment: string): Promise<string> {
  const names = await disk.list();
  let name = quarantineName(segment);
  for (let i = 2; names.includes(name) && i <= asideMax; i++) name = `${quarantineName(segment)}-again-${i}`;
  await disk.rename(segment, name);
  return name;
}

async function copy(disk: Disk, from: DiskFile, name: string, start: number, end: number): Promise<string> {
  if ((await disk.list()).includes(name)) return name;
  const part = `${name}.part`;
  try {
    const to = await disk.open(part, { create: true });
    try {
      await to.truncate(0);
      const buffer = new Uint8Array(Math.min(copyBytes, end - start));
      for (let at = start; at < end; at += copyBytes) {
        const piece = buffer.subarray(0, Math.min(copyBytes, end - at));
        await readFully(from, piece, at);
        await to.write([piece], at - start);
      }
      await to.sync();
    } finally {
      await to.close();
    }
  } catch (error) {
    // On a full disk what there is of it is in the way.
    await disk.unlink(part).catch(() => undefined);
    throw error;
  }
  await disk.rename(part, name);
  await disk.syncFolder();
  return name;
}
