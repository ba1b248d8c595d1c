/**
 * Keeps a reserve: below a low-water mark of free space publishers must pause, while there still is room for what frees space:
 * dequeues, meta data, compaction. Well above it they may go on. Still well above that, space is already tight: what is not
 * needed is given back at once, so that publishers need not pause for want of space that only dead bytes have.
 */
import type { Clock, Timer } from '../base/clock.js';
import type { Disk } from './disk.js';

/** A look at the disk after so many bytes, so that the reserve is not passed between two ticks. */
const bytesPerLook = 8 * 1024 * 1024;
const resumeRatio = 1.25;
const tightRatio = 1.5;
const periodMs = 1000;

export class SpaceWatch {
  /** Less than one and a half reserves are free. */
  tight = false;
  private low = false;
  private readonly disk: Disk;
  private readonly lowWaterBytes: number;
  private readonly changed: (low: boolean, freeBytes: number) => void;
  private readonly timer: Timer;
  private writtenBytes = 0;
  private looking = false;

  /** @param changed called when the free space falls below the mark, or is well above it again. */
  constructor(disk: Disk, clock: Clock, lowWaterBytes: number, changed: (low: boolean, freeBytes: number) => void) {
    this.disk = disk;
    this.lowWaterBytes = lowWaterBytes;
    this.changed = changed;
    this.timer = clock.every(periodMs, () => {
      if (this.tight || this.writtenBytes > 0) void this.look();
    });
  }

  wrote(bytes: number): void {
    this.writtenBytes += bytes;
    if (this.writtenBytes >= bytesPerLook) void this.look();
  }

  /** Asks the disk for its free space. A disk that does not say is taken to have enough: writes tell in the end. */
  async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    this.writtenBytes = 0;
    const freeBytes = await this.disk.freeBytes().catch(() => Number.POSITIVE_INFINITY);
    this.looking = false;
    this.tight = freeBytes < this.lowWaterBytes * tightRatio;
    const low = freeBytes < this.lowWaterBytes * (this.low ? resumeRatio : 1);
    if (low === this.low) return;
    this.low = low;
    this.changed(low, freeBytes);
  }

  stop(): void {
    this.timer.cancel();
  }
}
