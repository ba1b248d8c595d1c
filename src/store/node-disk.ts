/** The disk of a real machine: one folder, exclusively ours, through node:fs. Nothing here is synchronous. */
import * as fs from 'node:fs';
import { mkdir, open, readdir, rename, statfs, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Disk, DiskFile } from './disk.js';
import { FolderLock } from './folder-lock.js';

/** Buffers that one writev takes everywhere. */
const buffersMax = 512;

export class NodeDisk implements Disk {
  readonly folder: string;
  private readonly lock: FolderLock;

  private constructor(folder: string, lock: FolderLock) {
    this.folder = folder;
    this.lock = lock;
  }

  /** Makes the folder if need be and takes it for this process. Throws FolderLockedError while another has it. */
  static async open(folder: string): Promise<NodeDisk> {
    await makeFolder(folder);
    return new NodeDisk(folder, await FolderLock.acquire(folder));
  }

  /** Gives the folder back; after the store was closed. */
  close(): Promise<void> {
    return this.lock.release();
  }

  async list(): Promise<string[]> {
    return readdir(this.folder);
  }

  async open(name: string, options: { create: boolean }): Promise<DiskFile> {
    const flags = fs.constants.O_RDWR | (options.create ? fs.constants.O_CREAT : 0);
    const path = join(this.folder, name);
    return new Promise((done, reject) => {
      fs.open(path, flags, 0o640, (error, fd) => {
        if (error === null) done(new NodeFile(fd));
        else reject(mapped(error));
      });
    });
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(join(this.folder, from), join(this.folder, to));
  }

  async unlink(name: string): Promise<void> {
    await unlink(join(this.folder, name));
  }

  syncFolder(): Promise<void> {
    return syncFolder(this.folder);
  }

  async freeBytes(): Promise<number> {
    const stats = await statfs(this.folder);
    return stats.bavail * stats.bsize;
  }
}

/** Makes the folder and those above it, durably. */
async function makeFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  const first = await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    error.message = `the data folder ${folder} cannot be made: ${error.message}`;
    throw error;
  });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

class NodeFile implements DiskFile {
  private readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  async write(buffers: readonly Uint8Array[], position: number): Promise<void> {
    let at = position;
    for (let i = 0; i < buffers.length; i += buffersMax) {
      let rest = i === 0 && buffers.length <= buffersMax ? buffers : buffers.slice(i, i + buffersMax);
      while (rest.length > 0) {
        const written = await this.writev(rest, at);
        at += written;
        rest = after(rest, written);
      }
    }
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.read(this.fd, into, 0, into.length, position, (error, read) => {
        if (error === null) resolve(read);
        else reject(error);
      });
    });
  }

  sync(): Promise<void> {
    return settled((done) => fs.fdatasync(this.fd, done));
  }

  truncate(length: number): Promise<void> {
    return settled((done) => fs.ftruncate(this.fd, length, done));
  }

  size(): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.fstat(this.fd, (error, stats) => {
        if (error === null) resolve(stats.size);
        else reject(error);
      });
    });
  }

  close(): Promise<void> {
    return settled((done) => fs.close(this.fd, done));
  }

  private writev(buffers: readonly Uint8Array[], position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.writev(this.fd, buffers as Uint8Array[], position, (error, written) => {
        if (error === null) resolve(written);
        else reject(mapped(error));
      });
    });
  }
}

/** What is left of the buffers after their first `written` bytes. */
function after(buffers: readonly Uint8Array[], written: number): readonly Uint8Array[] {
  let skip = written;
  let index = 0;
  while (index < buffers.length && skip >= buffers[index]!.length) skip -= buffers[index++]!.length;
  if (index === buffers.length) return [];
  return [buffers[index]!.subarray(skip), ...buffers.slice(index + 1)];
}

function settled(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => {
      if (error === null) resolve();
      else reject(mapped(error));
    });
  });
}

/** A quota that is used up is a full disk to us. */
function mapped(error: NodeJS.ErrnoException): Error {
  if (error.code === 'EDQUOT') error.code = 'ENOSPC';
  return error;
}
