import type { Clock, Timer } from '../../base/clock.js';
import type { MemoryMeter } from '../../base/memory-meter.js';

const periodMs = 500;
/** Of the watermark: below it the alarm is over. */
const relievedRatio = 0.9;
/** While there is an alarm garbage is collected this often: a publisher's own is all that would ask for it otherwise. */
const collectMs = 5000;

/** Says when memory passes the high watermark, and when it is well below it again. */
export class MemoryWatch {
  private readonly meter: MemoryMeter;
  private readonly clock: Clock;
  private readonly watermarkBytes: number;
  private readonly changed: (isHigh: boolean, usedBytes: number) => void;
  private readonly timer: Timer;
  private isHigh = false;
  private collectedAt = Number.NEGATIVE_INFINITY;

  constructor(
    meter: MemoryMeter,
    clock: Clock,
    watermarkBytes: number,
    changed: (isHigh: boolean, usedBytes: number) => void,
  ) {
    this.meter = meter;
    this.clock = clock;
    this.watermarkBytes = watermarkBytes;
    this.changed = changed;
    this.timer = clock.every(periodMs, () => this.look());
  }

  close(): void {
    this.timer.cancel();
  }

  private look(): void {
    const used = this.meter.usedBytes();
    const isHigh = used > this.watermarkBytes * (this.isHigh ? relievedRatio : 1);
    if (isHigh !== this.isHigh) {
      this.isHigh = isHigh;
      this.changed(isHigh, used);
    }
    const now = this.clock.now();
    if (!isHigh || now - this.collectedAt < collectMs) return;
    this.collectedAt = now;
    this.meter.collect();
  }
}
