/** A disk in memory: for brokers that keep nothing, and for tests. It never fails, but it can be full. */
import type { Disk, DiskFile } from './disk.js';

const pageBytes = 256 * 1024;

export const defaultMemoryDiskBytes: number = 1024 * 1024 * 1024;

/** Bytes in pages, so that a growing file is not copied. */
class MemoryFile {
  size = 0;
  private pages: Uint8Array[] = [];

  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length; ) {
      const at = position + done;
      const index = Math.floor(at / pageBytes);
      const offset = at % pageBytes;
      const length = Math.min(pageBytes - offset, bytes.length - done);
      while (this.pages.length <= index) this.pages.push(new Uint8Array(pageBytes));
      this.pages[index]!.set(bytes.subarray(done, done + length), offset);
      done += length;
    }
    this.size = Math.max(this.size, position + bytes.length);
  }

  read(into: Uint8Array, position: number): number {
    const length = Math.max(0, Math.min(into.length, this.size - position));
    for (let done = 0; done < length; ) {
      const at = position + done;
      const offset = at % pageBytes;
      const portion = Math.min(pageBytes - offset, length - done);
      into.set(this.pages[Math.floor(at / pageBytes)]!.subarray(offset, offset + portion), done);
      done += portion;
    }
    return length;
  }

  get storedBytes(): number {
    return this.pages.length * pageBytes;
  }

  truncate(length: number): void {
    if (length < this.size) {
      this.pages.length = Math.ceil(length / pageBytes);
      const last = this.pages[this.pages.length - 1];
      if (last !== undefined && length % pageBytes > 0) last.fill(0, length % pageBytes);
    }
    this.size = length;
  }
}

export class MemoryDisk implements Disk {
  private readonly files = new Map<string, MemoryFile>();
  private readonly capacityBytes: number;

  /** @param capacityBytes what it holds at most */
  constructor(capacityBytes: number = defaultMemoryDiskBytes) {
    this.capacityBytes = capacityBytes;
  }

  async list(): Promise<string[]> {
    return [...this.files.keys()];
  }

  async open(name: string, options: { create: boolean }): Promise<DiskFile> {
    let file = this.files.get(name);
    if (file === undefined) {
      if (!options.create) throw missing(name);
      file = new MemoryFile();
      this.files.set(name, file);
    }
    return new MemoryHandle(file, this);
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.files.get(from);
    if (file === undefined) throw missing(from);
    this.files.delete(from);
    this.files.set(to, file);
  }

  async unlink(name: string): Promise<void> {
    if (!this.files.delete(name)) throw missing(name);
  }

  async syncFolder(): Promise<void> {}

  async freeBytes(): Promise<number> {
    return this.room;
  }

  /** Bytes that still fit. */
  get room(): number {
    let used = 0;
    for (const file of this.files.values()) used += file.storedBytes;
    return Math.max(0, this.capacityBytes - used);
  }
}

class MemoryHandle implements DiskFile {
  private readonly file: MemoryFile;
  private readonly disk: MemoryDisk;

  constructor(file: MemoryFile, disk: MemoryDisk) {
    this.file = file;
    this.disk = disk;
  }

  async write(buffers: readonly Uint8Array[], position: number): Promise<void> {
    let at = position;
    let end = position;
    for (const buffer of buffers) end += buffer.length;
    if (end - this.file.storedBytes > this.disk.room)
      throw Object.assign(new Error('the disk in memory is full'), { code: 'ENOSPC' });
    for (const buffer of buffers) {
      this.file.write(buffer, at);
      at += buffer.length;
    }
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    return this.file.read(into, position);
  }

  async sync(): Promise<void> {}

  async truncate(length: number): Promise<void> {
    this.file.truncate(length);
  }

  async size(): Promise<number> {
    return this.file.size;
  }

  async close(): Promise<void> {}
}

function missing(name: string): Error {
  return Object.assign(new Error(`no file ${name}`), { code: 'ENOENT' });
}
