/**
 * A disk in memory that keeps apart what is synced and what is not, and fails as told. `crash` makes the disk that a machine
 * finds after a power cut: each sector of an unsynced write is there or not, each unsynced change of a name happened or not.
 */
import type { Disk, DiskFile } from '../../../src/store/disk.js';

export const sectorBytes = 512;

/** Decides for each unsynced sector or name whether it survives. */
export type Survival = (what: { file: string; offset: number }) => boolean;

interface Write {
  position: number;
  bytes: Uint8Array;
  truncate: boolean;
}

class Content {
  synced: Uint8Array = new Uint8Array(0);
  pending: Write[] = [];
  /** What reads see. */
  seen: Uint8Array = new Uint8Array(0);
  size = 0;
}

/** A name that was given to a content or taken away; a rename is both at once. */
interface Change {
  name: string;
  content: Content | undefined;
  renamedFrom: string;
}

export class DiskFault extends Error {
  readonly code: string;
  constructor(code: string, what: string) {
    super(`${code}: ${what}`);
    this.code = code;
  }
}

export class FaultyDisk implements Disk {
  /** Called before each operation; what it throws, the operation rejects with. */
  before: (operation: string, name: string, bytes: number) => void = () => undefined;
  /** Bytes that fit; a write over it takes what fits and rejects. */
  capacity: number = Number.POSITIVE_INFINITY;
  free: number = Number.POSITIVE_INFINITY;
  /** Reads return at most so many bytes. */
  readMax: number = Number.POSITIVE_INFINITY;
  writes = 0;
  syncs = 0;
  private dead = false;
  private names = new Map<string, Content>();
  private durableNames = new Map<string, Content>();
  private changes: Change[] = [];

  /** What is on disk after a crash now. This one is dead from now on: its operations never end. */
  crash(survives: Survival): FaultyDisk {
    this.dead = true;
    const disk = new FaultyDisk();
    const names = new Map(this.durableNames);
    for (const change of this.changes) {
      if (!survives({ file: change.name, offset: -1 })) continue;
      if (change.content === undefined) names.delete(change.name);
      else names.set(change.name, change.content);
      if (change.renamedFrom !== '') names.delete(change.renamedFrom);
    }
    for (const [name, content] of names) {
      const kept = afterCrash(name, content, survives);
      disk.names.set(name, kept);
      disk.durableNames.set(name, kept);
    }
    return disk;
  }

  /** What the file has from `from` on is in the cache only, which takes it for written: as after a sync that failed. */
  forget(name: string, from: number): void {
    const content = this.names.get(name)!;
    content.synced = content.synced.slice(0, from);
  }

  /** The same content, all synced: the process was killed, the machine lives. */
  kill(): FaultyDisk {
    return this.crash(() => true);
  }

  /** What `kill` would give, while this one lives on. */
  copy(): FaultyDisk {
    const disk = this.kill();
    this.dead = false;
    return disk;
  }

  /** Direct access to what is on the disk. */
  bytesOf(name: string): Uint8Array {
    const content = this.names.get(name)!;
    return content.seen.subarray(0, content.size);
  }

  /** Replaces a file's content, as damage would. */
  replace(name: string, bytes: Uint8Array): void {
    const content = new Content();
    content.seen = bytes.slice();
    content.synced = bytes.slice();
    content.size = bytes.length;
    this.names.set(name, content);
    this.durableNames.set(name, content);
  }

  remove(name: string): void {
    this.names.delete(name);
    this.durableNames.delete(name);
  }

  fileNames(): string[] {
    return [...this.names.keys()].sort();
  }

  get usedBytes(): number {
    let bytes = 0;
    for (const content of this.names.values()) bytes += content.size;
    return bytes;
  }

  list(): Promise<string[]> {
    return this.run('list', '', 0, () => [...this.names.keys()]);
  }

  open(name: string, options: { create: boolean }): Promise<DiskFile> {
    return this.run('open', name, 0, () => {
      let content = this.names.get(name);
      if (content === undefined) {
        if (!options.create) throw new DiskFault('ENOENT', name);
        content = new Content();
        this.setName(name, content);
      }
      return new FaultyFile(this, name, content);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.run('rename', from, 0, () => {
      const content = this.names.get(from);
      if (content === undefined) throw new DiskFault('ENOENT', from);
      this.names.delete(from);
      this.setName(to, content, from);
    });
  }

  unlink(name: string): Promise<void> {
    return this.run('unlink', name, 0, () => {
      if (!this.names.has(name)) throw new DiskFault('ENOENT', name);
      this.setName(name, undefined);
    });
  }

  syncFolder(): Promise<void> {
    return this.run('syncFolder', '', 0, () => {
      this.durableNames = new Map(this.names);
      this.changes = [];
    });
  }

  freeBytes(): Promise<number> {
    return this.run('freeBytes', '', 0, () => Math.min(this.free, this.capacity - this.usedBytes));
  }

  /** Runs `work` in a later turn; a dead disk never answers. */
  run<T>(operation: string, name: string, bytes: number, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        if (this.dead) return;
        try {
          this.before(operation, name, bytes);
          resolve(work());
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  private setName(name: string, content: Content | undefined, renamedFrom = ''): void {
    if (content === undefined) this.names.delete(name);
    else this.names.set(name, content);
    this.changes.push({ name, content, renamedFrom });
  }
}

class FaultyFile implements DiskFile {
  private readonly disk: FaultyDisk;
  private readonly name: string;
  private readonly content: Content;

  constructor(disk: FaultyDisk, name: string, content: Content) {
    this.disk = disk;
    this.name = name;
    this.content = content;
  }

  write(buffers: readonly Uint8Array[], position: number): Promise<void> {
    const bytes = Buffer.concat(buffers);
    return this.disk.run('write', this.name, bytes.length, () => {
      this.disk.writes++;
      const room = this.disk.capacity - this.disk.usedBytes;
      const growth = Math.max(0, position + bytes.length - this.content.size);
      const fits = growth <= room;
      const kept = fits ? bytes : bytes.subarray(0, Math.max(0, bytes.length - (growth - room)));
      if (kept.length > 0) {
        this.content.pending.push({ position, bytes: kept, truncate: false });
        apply(this.content, position, kept);
      }
      if (!fits) throw new DiskFault('ENOSPC', this.name);
    });
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.disk.run('read', this.name, into.length, () => {
      const length = Math.max(0, Math.min(into.length, this.content.size - position, this.disk.readMax));
      into.set(this.content.seen.subarray(position, position + length));
      return length;
    });
  }

  sync(): Promise<void> {
    const count = this.content.pending.length;
    return this.disk.run('sync', this.name, 0, () => {
      this.disk.syncs++;
      this.content.synced = syncedAfter(this.content.synced, this.content.pending.splice(0, count));
    });
  }

  truncate(length: number): Promise<void> {
    return this.disk.run('truncate', this.name, 0, () => {
      this.content.pending.push({ position: length, bytes: new Uint8Array(0), truncate: true });
      this.content.size = length;
    });
  }

  size(): Promise<number> {
    return this.disk.run('size', this.name, 0, () => this.content.size);
  }

  close(): Promise<void> {
    return this.disk.run('close', this.name, 0, () => undefined);
  }
}

function grown(bytes: Uint8Array, length: number): Uint8Array {
  if (length <= bytes.length) return bytes;
  const larger = new Uint8Array(Math.max(length, bytes.length * 2));
  larger.set(bytes);
  return larger;
}

function apply(content: Content, position: number, bytes: Uint8Array): void {
  content.seen = grown(content.seen, position + bytes.length);
  content.seen.set(bytes, position);
  content.size = Math.max(content.size, position + bytes.length);
}

function syncedAfter(synced: Uint8Array, writes: readonly Write[]): Uint8Array {
  let bytes = synced;
  for (const write of writes) {
    if (write.truncate) bytes = bytes.slice(0, write.position);
    else {
      const end = write.position + write.bytes.length;
      if (end > bytes.length) {
        const larger = new Uint8Array(end);
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(write.bytes, write.position);
    }
  }
  return bytes;
}

function afterCrash(file: string, content: Content, survives: Survival): Content {
  let bytes = content.synced.slice();
  for (const write of content.pending) {
    if (write.truncate) {
      if (survives({ file, offset: write.position })) bytes = bytes.slice(0, write.position);
      continue;
    }
    const end = write.position + write.bytes.length;
    for (let from = write.position; from < end; ) {
      const to = Math.min(end, (Math.floor(from / sectorBytes) + 1) * sectorBytes);
      if (survives({ file, offset: from })) {
        if (to > bytes.length) {
          const larger = new Uint8Array(to);
          larger.set(bytes);
          bytes = larger;
        }
        bytes.set(write.bytes.subarray(from - write.position, to - write.position), from);
      }
      from = to;
    }
  }
  const kept = new Content();
  kept.synced = bytes;
  kept.seen = bytes.slice();
  kept.size = bytes.length;
  return kept;
}
