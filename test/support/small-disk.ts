/** A file system of its own, small enough to be filled. Needs root: without it the test that asks for one fails. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class SmallDisk implements Disposable {
  readonly path: string;

  /** Mounts a tmpfs. */
  constructor(bytes: number) {
    this.path = mkdtempSync(join(tmpdir(), 'understudy-disk-'));
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
    writeFileSync(this.filler, Buffer.alloc(Math.max(0, this.freeBytes - freeBytes)));
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
