import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Times of one kind, in milliseconds. */
export class Latencies {
  private readonly histogram: RecordableHistogram = createHistogram();

  record(ms: number): void {
    this.histogram.record(Math.max(1, Math.round(ms * 1000)));
  }

  /** Forgets all. */
  reset(): void {
    this.histogram.reset();
  }

  /** Milliseconds; undefined if nothing was recorded. */
  summary(): LatencySummary | undefined {
    const { histogram } = this;
    if (histogram.count === 0) return undefined;
    const at = (percentile: number): number => histogram.percentile(percentile) / 1000;
    return { p50: at(50), p90: at(90), p99: at(99), p999: at(99.9), max: histogram.max / 1000 };
  }
}

export interface LatencySummary {
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
}

/** What all publishers and consumers count together. */
export class Measures {
  published = 0;
  confirmed = 0;
  rejected = 0;
  consumed = 0;
  readonly confirmTimes: Latencies = new Latencies();
  readonly deliveryTimes: Latencies = new Latencies();
}
