/**
 * One user of a coordinator that keeps account: adds 1 to a counter of its own and to a common one, in one swap, again and again,
 * and checks each answer against what it knows.
 */
import assert from 'node:assert/strict';
import {
  type Coordinator,
  CoordinatorUnavailableError,
  type Entry,
  OutcomeUnknownError,
} from '../../src/cluster/coordinator/coordinator.js';
import { sleep } from './cluster-processes.js';

export const sumKey = 'sum';

/** Between swaps, at most: so that each of several wins now and then. */
const pauseMs = 20;

export class CountingBroker {
  readonly key: string;
  /** Swaps that were made, as far as answers and readings have told. */
  count = 0;
  /** Swaps that were answered: made, or lost to another. */
  answered = 0;
  /** Versions that its swaps gave the common counter. */
  readonly versions: number[] = [];
  unavailable = 0;
  unknown = 0;
  /** Longest time between two answers, in milliseconds. */
  longestGapMs = 0;
  private readonly coordinator: Coordinator;
  private lastAt = performance.now();
  /** Swaps of unknown outcome, of which at most one can have been made: all name the same version. */
  private open = false;
  private stopping = false;
  private readonly done: Promise<void>;

  constructor(coordinator: Coordinator, key: string) {
    this.coordinator = coordinator;
    this.key = key;
    this.done = this.run();
    // Whoever waits for it hears of it.
    this.done.catch(() => {});
  }

  /** Resolves when `count` more swaps were answered. Rejects after `timeoutMs`, or if an answer was wrong. */
  async more(count: number, timeoutMs: number): Promise<void> {
    const wanted = this.answered + count;
    const deadline = performance.now() + timeoutMs;
    while (this.answered < wanted) {
      if (performance.now() > deadline) throw new Error(`${this.key}: no ${count} answers within ${timeoutMs} ms`);
      await Promise.race([sleep(5), this.done]);
    }
  }

  /** Resolves when what it had begun has an outcome; rejects if an answer was wrong. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.done;
  }

  private async run(): Promise<void> {
    let entries = await this.read();
    while (!this.stopping || this.open) {
      try {
        const changes = entries.map((entry) => ({
          key: entry.key,
          expect: entry.version,
          value: String(Number(entry.value) + 1),
        }));
        const result = await this.coordinator.swap(changes);
        this.progressed();
        if (result.ok) this.made(result.entries);
        else this.see(result.entries[0]!);
        entries = result.entries;
      } catch (error) {
        if (error instanceof OutcomeUnknownError) {
          this.unknown++;
          this.open = true;
        } else if (error instanceof CoordinatorUnavailableError) this.unavailable++;
        else throw error;
        entries = await this.read();
      }
      await sleep(pauseMs * Math.random());
    }
  }

  private made([own, sum]: Entry[]): void {
    // Made against the version that swaps of unknown outcome had named: none of those was.
    this.open = false;
    this.count++;
    assert.equal(Number(own!.value), this.count);
    this.versions.push(sum!.version);
  }

  /** What stands there: a swap of unknown outcome was made, or nothing has changed. */
  private see(own: Entry): void {
    const value = Number(own.value);
    if (this.open && value === this.count + 1) {
      this.count++;
      this.open = false;
    }
    assert.equal(value, this.count, `${this.key} changed without a swap of its owner`);
  }

  private progressed(): void {
    const now = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - this.lastAt);
    this.lastAt = now;
    this.answered++;
  }

  /** Both counters as they are, as soon as that can be read. */
  private async read(): Promise<Entry[]> {
    for (;;) {
      try {
        const found = await this.coordinator.read('');
        const entries = [this.key, sumKey].map(
          (key) => found.find((entry) => entry.key === key) ?? { key, value: '0', version: 0 },
        );
        this.see(entries[0]!);
        return entries;
      } catch (error) {
        if (!(error instanceof CoordinatorUnavailableError)) throw error;
        this.unavailable++;
        await sleep(20);
      }
    }
  }
}
