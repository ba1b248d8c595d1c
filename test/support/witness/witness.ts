import { Worker } from 'node:worker_threads';

/** What a witness has seen since it was asked last. */
export interface WitnessReport {
  /** Messages published, confirmed and delivered. */
  count: number;
  /** The longest time from a publish until confirm and delivery were both there. */
  worstMs: number;
  /** '' or what went wrong. */
  failure: string;
}

/**
 * A client that behaves well, in a thread of its own so that what the test does does not slow it down: publishes and consumes all
 * the time, with confirms and acknowledgements.
 */
export class Witness {
  private readonly worker: Worker;

  private constructor(worker: Worker) {
    this.worker = worker;
  }

  /** Resolves when it is connected and has begun. */
  static async start(url: string): Promise<Witness> {
    const witness = new Witness(new Worker(new URL('./main.js', import.meta.url), { workerData: url }));
    await witness.next();
    return witness;
  }

  async report(): Promise<WitnessReport> {
    this.worker.postMessage('report');
    return (await this.next()) as WitnessReport;
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }

  private next(): Promise<unknown> {
    return new Promise((resolve) => void this.worker.once('message', resolve));
  }
}
