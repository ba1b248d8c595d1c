/**
 * One file's content as a disk keeps it: what is certainly there (`durable`), and the writes since the last sync, in order (`pending`).
 * At a crash each sector of 512 bytes keeps a random number of the writes that touched it: none, some, or all. So writes are
 * lost, torn, and kept out of order, as disks and page caches do.
 */
import type { SimRandom } from './random.js';

const sectorBytes = 512;
const pageBytes = 16 * 1024;

interface PendingWrite {
  order: number;
  position: number;
  bytes: Uint8Array;
  /** A truncation to `position` instead. */
  truncate: boolean;
}

/** Bytes in pages that exist only where something was written: a preallocated segment costs nothing. */
class Sparse {
  private readonly pages = new Map<number, Uint8Array>();
  size = 0;

  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length; ) {
      const at = position + done;
      const index = Math.floor(at / pageBytes);
      const offset = at - index * pageBytes;
      const length = Math.min(pageBytes - offset, bytes.length - done);
      let page = this.pages.get(index);
      if (page === undefined) {
        page = new Uint8Array(pageBytes);
        this.pages.set(index, page);
      }
      page.set(bytes.subarray(done, done + length), offset);
      done += length;
    }
    this.size = Math.max(this.size, position + bytes.length);
  }

  read(into: Uint8Array, position: number): void {
    for (let done = 0; done < into.length; ) {
      const at = position + done;
      const index = Math.floor(at / pageBytes);
      const offset = at - index * pageBytes;
      const length = Math.min(pageBytes - offset, into.length - done);
      const page = this.pages.get(index);
      if (page === undefined) into.fill(0, done, done + length);
      else into.set(page.subarray(offset, offset + length), done);
      done += length;
    }
  }

  truncate(length: number): void {
    this.size = length;
    for (const [index, page] of this.pages) {
      if (index * pageBytes >= length) this.pages.delete(index);
      else if ((index + 1) * pageBytes > length) page.fill(0, length - index * pageBytes);
    }
  }

  copy(): Sparse {
    const copy = new Sparse();
    for (const [index, page] of this.pages) copy.pages.set(index, page.slice());
    copy.size = this.size;
    return copy;
  }

  get storedBytes(): number {
    return this.pages.size * pageBytes;
  }
}

export class FileContent {
  /** What reads see, and what is certain to survive. */
  private cache = new Sparse();
  private durable = new Sparse();
  /** Written, in order, and not on disk for certain. */
  private pending: PendingWrite[] = [];
  private nextOrder = 0;

  get size(): number {
    return this.cache.size;
  }

  /** The same content, all of it on disk. */
  copy(): FileContent {
    const copy = new FileContent();
    copy.cache = this.cache.copy();
    copy.durable = this.cache.copy();
    return copy;
  }

  write(bytes: Uint8Array, position: number): void {
    this.cache.write(bytes, position);
    this.pending.push({ order: this.nextOrder++, position, bytes: bytes.slice(), truncate: false });
  }

  truncate(length: number): void {
    this.cache.truncate(length);
    this.pending.push({ order: this.nextOrder++, position: length, bytes: new Uint8Array(0), truncate: true });
  }

  /** Returns the number of bytes read. */
  read(into: Uint8Array, position: number): number {
    const length = Math.max(0, Math.min(into.length, this.size - position));
    this.cache.read(into.subarray(0, length), position);
    return length;
  }

  /** Marks how far a sync that begins now reaches; to be passed to `synced` or `forget` when it ends. */
  get mark(): number {
    return this.nextOrder;
  }

  /** The writes before `mark` are on disk. */
  synced(mark: number): void {
    let count = 0;
    while (count < this.pending.length && this.pending[count]!.order < mark) this.keep(this.pending[count++]!);
    this.pending.splice(0, count);
  }

  /** A sync failed: the writes before `mark` can still be read, but no later sync makes them durable. */
  forget(mark: number): void {
    this.pending = this.pending.filter((write) => write.order >= mark);
  }

  /** The process or machine is gone: sectors keep what `random` says of what was not synced. */
  crash(random: SimRandom, mode: CrashMode): void {
    // Only the process died: the kernel keeps everything that was written, even what it failed to sync.
    if (mode === 'all') return;
    const writes = this.pending;
    this.pending = [];
    if (mode === 'torn') this.tear(writes, random);
    else if (mode === 'prefix') for (const write of writes.slice(0, random.int(writes.length + 1))) this.keep(write);
    this.cache = this.durable.copy();
  }

  get storedBytes(): number {
    return this.cache.storedBytes;
  }

  private keep(write: PendingWrite): void {
    if (write.truncate) this.durable.truncate(write.position);
    else this.durable.write(write.bytes, write.position);
  }

  private tear(writes: PendingWrite[], random: SimRandom): void {
    const touches = new Map<number, number>();
    for (const write of writes) {
      for (const sector of sectorsOf(write)) touches.set(sector, (touches.get(sector) ?? 0) + 1);
    }
    // How many of the writes that touched it, in order, a sector keeps.
    const kept = new Map<number, number>();
    const bias = random.float();
    for (const [sector, count] of touches) kept.set(sector, random.chance(bias) ? count : random.int(count + 1));
    for (const write of writes) {
      if (write.truncate) {
        if (random.chance(bias)) this.durable.truncate(write.position);
        continue;
      }
      for (const sector of sectorsOf(write)) {
        const left = kept.get(sector)!;
        if (left === 0) continue;
        kept.set(sector, left - 1);
        const from = Math.max(write.position, sector * sectorBytes);
        const to = Math.min(write.position + write.bytes.length, (sector + 1) * sectorBytes);
        this.durable.write(write.bytes.subarray(from - write.position, to - write.position), from);
      }
    }
  }
}

/** What a crash leaves of writes that were not synced: nothing, all (only the process died), the first ones, or torn sectors. */
export type CrashMode = 'none' | 'all' | 'prefix' | 'torn';

function sectorsOf(write: PendingWrite): number[] {
  const sectors: number[] = [];
  if (write.truncate || write.bytes.length === 0) return sectors;
  const last = Math.floor((write.position + write.bytes.length - 1) / sectorBytes);
  for (let sector = Math.floor(write.position / sectorBytes); sector <= last; sector++) sectors.push(sector);
  return sectors;
}
