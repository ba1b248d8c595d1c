/** A file system of its own, small enough to be filled. Needs root: without it the test that asks for one fails. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const piece = Buffer.alloc(1024 * 1024);

export class SmallDisk implements Disposable {
  readonly path: string;

  /** Mounts a tmpfs. @param path where; default: a folder of its own */
  constructor(bytes: number, path: string = mkdtempSync(join(tmpdir(), 'understudy-disk-'))) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', this.path], { stdio: 'pipe' });
    } catch (error) {
      rmdirSync(this.path);
      throw new Error(`this test mounts a tmpfs, run it as root: ${(error as Error).message}`);
    }
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Takes space away until `freeBytes` are left. */
  fillUp(freeBytes: number): void {
    const filler = openSync(this.filler, 'w');
    try {
      for (let rest = this.freeBytes - freeBytes; rest > 0; rest -= piece.length)
        writeSync(filler, piece, 0, Math.min(rest, piece.length));
    } catch (error) {
      // Somebody else wrote meanwhile: it is full.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(filler);
    }
  }

  /** Gives that space back. */
  relieve(): void {
    rmSync(this.filler);
  }

  private get filler(): string {
    return join(this.path, 'filler');
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['--lazy', this.path]);
    rmdirSync(this.path);
  }
}
