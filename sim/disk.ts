/**
 * A simulated folder on a simulated disk. It outlives the processes that use it: each life of a node opens it anew.
 * Names and contents are separate, as on a real file system: a file that was synced is lost all the same if its folder was not.
 *
 * A failed sync loses what it was to make durable, as Linux does: the pages count as clean afterwards, and a second sync that
 * succeeds says nothing about them.
 */
import type { Disk, DiskFile } from '../src/store/disk.js';
import { FileContent, type CrashMode } from './disk-file.js';
import type { Context, EventLoop } from './event-loop.js';
import type { SimRandom } from './random.js';

/** Pending change of the folder. */
interface NameChange {
  kind: 'link' | 'unlink' | 'rename';
  name: string;
  /** Rename: the old name. */
  from: string;
  content: FileContent;
}

export interface DiskProfile {
  /** A write takes this and the bytes' time; a sync takes `syncMs`; both times a random factor in [0.5, 1.5). */
  writeMs: number;
  syncMs: number;
  bytesPerMs: number;
  capacityBytes: number;
}

export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly code: string;

  constructor(code: string, what: string) {
    super(`${code}: ${what}`);
    this.code = code;
  }
}

export class SimDisk {
  readonly profile: DiskProfile;
  /** Multiplies every duration; a fault sets it. */
  slowness = 1;
  /** Probability that a write or sync fails with EIO. */
  failure = 0;
  private readonly loop: EventLoop;
  private readonly random: SimRandom;
  private names = new Map<string, FileContent>();
  private durableNames = new Map<string, FileContent>();
  private changes: NameChange[] = [];

  constructor(loop: EventLoop, random: SimRandom, profile: DiskProfile) {
    this.loop = loop;
    this.random = random;
    this.profile = profile;
  }

  get usedBytes(): number {
    let bytes = 0;
    for (const content of this.names.values()) bytes += content.storedBytes;
    return bytes;
  }

  /** The life that used this folder is over. `mode` 'all': only the process died, the kernel keeps every write. */
  crash(mode: CrashMode): void {
    if (mode === 'all') this.changes = [];
    else this.loseNames(mode);
    for (const content of new Set([...this.names.values(), ...this.durableNames.values()]))
      content.crash(this.random, mode);
    this.durableNames = new Map(this.names);
  }

  /** An empty disk in its place. */
  wipe(): void {
    this.names = new Map();
    this.durableNames = new Map();
    this.changes = [];
  }

  /** A copy of the folder, while nobody writes to it; `putBack` takes it. */
  backup(): ReadonlyMap<string, FileContent> {
    return new Map([...this.names].map(([name, content]) => [name, content.copy()]));
  }

  /** The folder is as it was then. */
  putBack(backup: ReadonlyMap<string, FileContent>): void {
    this.names = new Map(backup);
    this.durableNames = new Map(backup);
    this.changes = [];
  }

  /** Flips one bit in the middle of a file; returns its name, or '' if there is nothing to damage. */
  damage(): string {
    const candidates = [...this.names].filter(([, content]) => content.size > 0);
    if (candidates.length === 0) return '';
    const [name, content] = this.random.pick(candidates);
    const byte = new Uint8Array(1);
    const position = this.random.int(content.size);
    content.read(byte, position);
    byte[0] = byte[0]! ^ (1 << this.random.int(8));
    content.write(byte, position);
    content.synced(content.mark);
    return name;
  }

  /** The folder as one process sees it. */
  open(context: Context): Disk {
    return {
      list: () => this.answer(context, 0.02, () => [...this.names.keys()]),
      open: (name, options) => this.answer(context, 0.05, () => this.openFile(context, name, options.create)),
      rename: (from, to) => this.answer(context, 0.05, () => this.rename(from, to)),
      unlink: (name) => this.answer(context, 0.05, () => this.unlink(name)),
      syncFolder: () => this.syncFolder(context),
      freeBytes: () => this.answer(context, 0.02, () => Math.max(0, this.profile.capacityBytes - this.usedBytes)),
    };
  }

  private openFile(context: Context, name: string, create: boolean): DiskFile {
    let content = this.names.get(name);
    if (content === undefined) {
      if (!create) throw new DiskError('ENOENT', name);
      content = new FileContent();
      this.names.set(name, content);
      this.changes.push({ kind: 'link', name, from: '', content });
    }
    return new SimDiskFile(this, context, name, content);
  }

  private rename(from: string, to: string): void {
    const content = this.names.get(from);
    if (content === undefined) throw new DiskError('ENOENT', from);
    this.names.delete(from);
    this.names.set(to, content);
    this.changes.push({ kind: 'rename', name: to, from, content });
  }

  private unlink(name: string): void {
    const content = this.names.get(name);
    if (content === undefined) throw new DiskError('ENOENT', name);
    this.names.delete(name);
    this.changes.push({ kind: 'unlink', name, from: '', content });
  }

  private syncFolder(context: Context): Promise<void> {
    const mark = this.changes.length;
    const snapshot = new Map(this.names);
    return this.answer(context, this.profile.syncMs, () => {
      this.failSometimes('sync of the folder');
      this.durableNames = snapshot;
      this.changes.splice(0, mark);
    });
  }

  /** Each change of a name since the last sync of the folder happened or did not, independently. */
  private loseNames(mode: CrashMode): void {
    const names = new Map(this.durableNames);
    const keepAll = mode === 'prefix' ? this.random.int(this.changes.length + 1) : -1;
    for (const [index, change] of this.changes.entries()) {
      const keep = mode === 'none' ? false : keepAll >= 0 ? index < keepAll : this.random.chance(0.5);
      if (!keep) continue;
      if (change.kind === 'unlink') names.delete(change.name);
      else names.set(change.name, change.content);
      if (change.kind === 'rename' && names.get(change.from) === change.content) names.delete(change.from);
    }
    this.names = names;
    this.changes = [];
  }

  failSometimes(what: string): void {
    if (this.failure > 0 && this.random.chance(this.failure)) throw new DiskError('EIO', what);
  }

  /** Runs `work` after about `ms` and answers with what it returns or throws. A dead process never hears. */
  answer<T>(context: Context, ms: number, work: () => T): Promise<T> {
    const delay = ms * this.slowness * (0.5 + this.random.float());
    return new Promise((resolve, reject) => {
      this.loop.after(delay, null, () => {
        // The kernel does the work even if the process is frozen, but not for a dead one: its crash was decided already.
        if (!context.alive) return;
        let result: T;
        try {
          result = work();
        } catch (error) {
          this.loop.after(0, context, () => reject(error as Error));
          return;
        }
        this.loop.after(0, context, () => resolve(result));
      });
    });
  }
}

class SimDiskFile implements DiskFile {
  private readonly disk: SimDisk;
  private readonly context: Context;
  private readonly name: string;
  private readonly content: FileContent;

  constructor(disk: SimDisk, context: Context, name: string, content: FileContent) {
    this.disk = disk;
    this.context = context;
    this.name = name;
    this.content = content;
  }

  write(buffers: readonly Uint8Array[], position: number): Promise<void> {
    let length = 0;
    for (const buffer of buffers) length += buffer.length;
    const profile = this.disk.profile;
    return this.disk.answer(this.context, profile.writeMs + length / profile.bytesPerMs, () => {
      this.disk.failSometimes(`write of ${this.name}`);
      let at = position;
      let room = profile.capacityBytes - this.disk.usedBytes;
      for (const buffer of buffers) {
        if (buffer.length > room) {
          // A full disk takes what fits.
          if (room > 0) this.content.write(buffer.subarray(0, room), at);
          throw new DiskError('ENOSPC', `write of ${this.name}`);
        }
        this.content.write(buffer, at);
        at += buffer.length;
        room -= buffer.length;
      }
    });
  }

  read(into: Uint8Array, position: number): Promise<number> {
    const profile = this.disk.profile;
    return this.disk.answer(this.context, 0.02 + into.length / profile.bytesPerMs, () =>
      this.content.read(into, position),
    );
  }

  sync(): Promise<void> {
    const mark = this.content.mark;
    return this.disk.answer(this.context, this.disk.profile.syncMs, () => {
      try {
        this.disk.failSometimes(`sync of ${this.name}`);
      } catch (error) {
        this.content.forget(mark);
        throw error;
      }
      this.content.synced(mark);
    });
  }

  truncate(length: number): Promise<void> {
    return this.disk.answer(this.context, this.disk.profile.writeMs, () => {
      this.disk.failSometimes(`truncation of ${this.name}`);
      this.content.truncate(length);
    });
  }

  size(): Promise<number> {
    return this.disk.answer(this.context, 0.01, () => this.content.size);
  }

  close(): Promise<void> {
    return this.disk.answer(this.context, 0.01, () => undefined);
  }
}
