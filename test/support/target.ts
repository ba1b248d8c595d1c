/** A broker under attack, and a witness who must not notice. */
import assert from 'node:assert/strict';
import { LoneBroker, type LoneBrokerOptions } from './lone-broker.js';
import { Witness } from './witness/witness.js';

/** What a message of the witness may take from publish to confirm and delivery: ten times what a busy machine needs. */
const worstMsMax = 5000;
/** The witness must get on, and not only once. */
const countMin = 3;

export const mebibyte: number = 1024 * 1024;

export interface Bounds {
  /** How far resident memory may grow. */
  growthBytesMax: number;
}

export class Target implements AsyncDisposable {
  readonly broker: LoneBroker;
  private readonly witness: Witness;

  private constructor(broker: LoneBroker, witness: Witness) {
    this.broker = broker;
    this.witness = witness;
  }

  static async start(options: LoneBrokerOptions = {}): Promise<Target> {
    const broker = await LoneBroker.start(options);
    return new Target(broker, await Witness.start(broker.url));
  }

  get port(): number {
    return this.broker.port;
  }

  /** Attacks; then the broker must run, have grown within the bounds, have no fault in its log, and the witness have gone on. */
  async survives(attack: () => Promise<void>, bounds: Bounds): Promise<void> {
    const { broker } = this;
    await this.untilWitnessed();
    const before = broker.rssBytes;
    await attack();
    const growth = broker.rssBytes - before;
    const { count, worstMs, failure } = await this.untilWitnessed();
    const seen = `${count} messages of the witness, the slowest ${worstMs.toFixed(0)} ms, memory ${mb(before)} + ${mb(growth)}`;
    if (process.env['UNDERSTUDY_SAY'] !== undefined) console.log(seen);
    assert.equal(failure, '', seen);
    assert.deepEqual(broker.loggedErrors, []);
    assert.ok(broker.isRunning);
    assert.ok(worstMs <= worstMsMax, seen);
    assert.ok(growth <= bounds.growthBytesMax, seen);
  }

  /** What the witness has seen since it was asked last, when that is enough to tell. */
  private async untilWitnessed(): Promise<{ count: number; worstMs: number; failure: string }> {
    const sum = { count: 0, worstMs: 0, failure: '' };
    const deadline = performance.now() + 2 * worstMsMax;
    for (;;) {
      const { count, worstMs, failure } = await this.witness.report();
      sum.count += count;
      sum.worstMs = Math.max(sum.worstMs, worstMs);
      sum.failure = failure;
      if (failure !== '' || sum.count >= countMin) return sum;
      if (performance.now() > deadline) return { ...sum, failure: `it has not got on for ${2 * worstMsMax} ms` };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.witness.stop();
    await this.broker[Symbol.asyncDispose]();
  }
}

export function mb(bytes: number): string {
  return `${Math.round(bytes / mebibyte)} MiB`;
}
