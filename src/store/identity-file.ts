/**
 * The file in which a store's identity is kept. A change needs no space, so that a full disk keeps no broker from starting:
 *
 *   store.json.next   overwritten, synced ─→ store.json   overwritten, synced; both have blanks behind them, up to a whole block
 *
 * One of the two is whole at any time. Each tells its checksum, by which a torn one is known, and the number of its change. What
 * is not so yet (a fresh folder, or one in which an older program wrote) is replaced as a whole by rename, which takes space.
 */
import { crc32 } from 'node:zlib';
import { readFully } from './chunk-reader.js';
import type { Disk } from './disk.js';
import { StoreRefusedError } from './refusal.js';
import { isNoSpace } from './shortage.js';

export const identityName = 'store.json';
export const nextIdentityName = 'store.json.next';
const partName = 'store.json.part';

const blockBytes = 4096;

/** What a file has; `check` is of all the rest. */
interface Checked {
  check?: string;
  /** Counts the changes: the greater is the newer. */
  change?: number;
  store?: string;
}

interface Found {
  bytes: Uint8Array;
  /** 'old': without a checksum, as older programs wrote it; 'bad': no JSON, or not what was written. */
  kind: 'good' | 'old' | 'bad';
  change: number;
  store: string;
}

export class IdentityFile {
  private readonly disk: Disk;
  /** JSON text as it was found; undefined: there is none. */
  readonly text: string | undefined;
  private change: number;
  /** Length of both files, if they may be overwritten; 0: they may not. */
  private length: number;

  private constructor(disk: Disk, text: string | undefined, change: number, length: number) {
    this.disk = disk;
    this.text = text;
    this.change = change;
    this.length = length;
  }

  /** Throws StoreRefusedError if both are damaged. @param names what the folder has */
  static async open(disk: Disk, names: readonly string[]): Promise<IdentityFile> {
    if (!names.includes(identityName)) return new IdentityFile(disk, undefined, 0, 0);
    const main = await find(disk, identityName);
    const next = names.includes(nextIdentityName) ? await find(disk, nextIdentityName) : undefined;
    const change = Math.max(main.change, next?.change ?? 0);
    if (next?.kind === 'good' && isNewer(next, main)) {
      // The next change begins with this copy: until then the other must be whole again.
      await overwrite(disk, identityName, next.bytes);
      return new IdentityFile(disk, textOf(next), change, next.bytes.length);
    }
    const text = textOf(main);
    if (main.kind === 'bad' && isJson(text))
      throw new StoreRefusedError(
        `${identityName} in the data folder is damaged, its checksum does not fit: put back one that is whole`,
      );
    const { length } = main.bytes;
    return new IdentityFile(disk, text, change, main.kind === 'good' && next?.bytes.length === length ? length : 0);
  }

  /** On disk when this resolves. When it rejects, what was there before is, or this. */
  async write(content: object): Promise<void> {
    const bytes = encode({ change: ++this.change, ...content });
    try {
      if (bytes.length === this.length) {
        await overwrite(this.disk, nextIdentityName, bytes);
        await overwrite(this.disk, identityName, bytes);
      } else await this.replace(bytes);
    } catch (error) {
      const { message } = error as Error;
      (error as Error).message = `${identityName} in the data folder cannot be written: ${message}`;
      if (isNoSpace(error)) (error as Error).message += '; free some space on its disk';
      throw error;
    }
  }

  private async replace(bytes: Uint8Array): Promise<void> {
    const { disk } = this;
    this.length = 0;
    try {
      await overwrite(disk, partName, bytes);
      await disk.rename(partName, identityName);
    } catch (error) {
      await disk.unlink(partName).catch(() => undefined);
      throw error;
    }
    await overwrite(disk, nextIdentityName, bytes);
    await disk.syncFolder();
    this.length = bytes.length;
  }
}

/** Is the copy to be used, since the file itself is torn or older? Not if an older program has written that since. */
function isNewer(next: Found, main: Found): boolean {
  return main.kind === 'bad' || (main.kind === 'good' && next.store === main.store && next.change > main.change);
}

function encode(content: object): Uint8Array {
  const check = checksum(content);
  const json = `${JSON.stringify({ check, ...content }, undefined, 2)}\n`;
  const encoded = new TextEncoder().encode(json);
  const bytes = new Uint8Array(Math.ceil(encoded.length / blockBytes) * blockBytes).fill(' '.charCodeAt(0));
  bytes.set(encoded);
  return bytes;
}

function checksum(content: object): string {
  return crc32(JSON.stringify(content)).toString(16).padStart(8, '0');
}

async function find(disk: Disk, name: string): Promise<Found> {
  const bytes = await read(disk, name);
  const bad: Found = { bytes, kind: 'bad', change: 0, store: '' };
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return bad;
  }
  // Whose it is, and if it makes sense, is the identity's affair.
  if (typeof json !== 'object' || json === null) return { ...bad, kind: 'old' };
  const { check, ...content } = json as Checked;
  if (check === undefined) return { ...bad, kind: 'old' };
  if (check !== checksum(content)) return bad;
  return { bytes, kind: 'good', change: content.change ?? 0, store: content.store ?? '' };
}

function textOf({ bytes }: Found): string {
  return new TextDecoder().decode(bytes);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function read(disk: Disk, name: string): Promise<Uint8Array> {
  const file = await disk.open(name, { create: false });
  try {
    const bytes = new Uint8Array(await file.size());
    await readFully(file, bytes, 0);
    return bytes;
  } finally {
    await file.close();
  }
}

/** Makes `bytes` all that the file has, durably; in place, if it has that length already. */
async function overwrite(disk: Disk, name: string, bytes: Uint8Array): Promise<void> {
  const file = await disk.open(name, { create: true });
  try {
    await file.write([bytes], 0);
    if ((await file.size()) !== bytes.length) await file.truncate(bytes.length);
    await file.sync();
  } finally {
    await file.close();
  }
}
