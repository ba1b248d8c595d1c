/**
 * The `local` engine: several brokers on one machine, no daemon. Its map is a file per version (see local-folder.ts and
 * docs/adr/0002-local-coordinator.md). A broker's swaps that wait at the same time are made in one version. Every swap is
 * synced before it counts (rule 18); all of it runs off the main thread.
 */
import type { FSWatcher } from 'node:fs';
import { type Clock, type Timer, sleep } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Random } from '../../base/random.js';
import {
  type Change,
  type Coordinator,
  CoordinatorUnavailableError,
  type Entry,
  OutcomeUnknownError,
  type SwapResult,
} from './coordinator.js';
import { applySwap, changedEntries, checkChanges, entriesUnder } from './entries.js';
import { LocalFolder, type Snapshot } from './local-folder.js';
import { Watchers } from './watchers.js';

/** Swaps of one broker that may wait. */
const pendingMax = 10_000;
/** A swap gives up when others were faster so often. */
const attemptsMax = 1000;
/** Attempts without a pause in between. */
const patience = 4;
const pauseMsMax = 4;
/** Whoever sees a version divisible by this after a swap of its own removes old files. */
const tidyEvery = 32;

export interface LocalOptions {
  /** Shared by all brokers of the cluster, on a local file system with hard links. */
  folder: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** How often to look for changes that the system did not report; default 500. */
  pollMs?: number;
  /** Versions after which old map files are removed; default 128, the same for all brokers. */
  generationVersions?: number;
}

interface PendingSwap {
  changes: readonly Change[];
  resolve(result: SwapResult): void;
  reject(error: unknown): void;
}

export class LocalCoordinator implements Coordinator {
  private readonly folder: LocalFolder;
  private readonly options: LocalOptions;
  private readonly watchers = new Watchers();
  private readonly poll: Timer;
  private fileWatch: FSWatcher | undefined;
  private current: Snapshot;
  private pending: PendingSwap[] = [];
  private committing: Promise<void> | undefined;
  private looking: Promise<void> | undefined;
  private lookAgain = false;
  private trouble = '';
  private closed = false;

  private constructor(folder: LocalFolder, current: Snapshot, options: LocalOptions) {
    this.folder = folder;
    this.current = current;
    this.options = options;
    this.watchFiles();
    this.poll = options.clock.every(options.pollMs ?? 500, () => this.look());
  }

  /** Makes the folder if it is not there. Rejects if it cannot be used. */
  static async open(options: LocalOptions): Promise<LocalCoordinator> {
    const folder = await LocalFolder.open(options.folder, options.random, options.generationVersions);
    const newest = await folder.readNewest(await folder.first());
    await folder.sync(newest);
    const coordinator = new LocalCoordinator(folder, newest, options);
    await coordinator.tidy();
    return coordinator;
  }

  async identity(): Promise<string> {
    this.checkOpen();
    return await this.folder.identity();
  }

  async read(prefix: string): Promise<Entry[]> {
    this.checkOpen();
    return entriesUnder((await this.refresh()).entries, prefix);
  }

  async swap(changes: readonly Change[]): Promise<SwapResult> {
    this.checkOpen();
    checkChanges(changes);
    if (this.pending.length >= pendingMax) {
      throw new CoordinatorUnavailableError(`${pendingMax} swaps wait for the disk already`);
    }
    return await new Promise((resolve, reject) => {
      this.pending.push({ changes, resolve, reject });
      this.committing ??= this.commitPending();
    });
  }

  watch(prefix: string, changed: (entries: Entry[]) => void): { close(): void } {
    return this.watchers.add(prefix, changed);
  }

  /** Swaps that were begun are finished first. */
  async close(): Promise<void> {
    this.closed = true;
    this.watchers.clear();
    this.poll.cancel();
    this.fileWatch?.close();
    await this.committing;
    await this.looking;
    await this.folder.close();
  }

  private checkOpen(): void {
    if (this.closed) throw new CoordinatorUnavailableError('the coordinator handle is closed');
  }

  /** The newest map; watchers are told what is new in it. */
  private async refresh(): Promise<Snapshot> {
    const newest = await this.folder.readNewest(this.current);
    if (newest !== this.current) await this.folder.sync(newest);
    this.adopt(newest);
    return newest;
  }

  private adopt(snapshot: Snapshot): void {
    if (snapshot.version <= this.current.version) return;
    const before = this.current;
    this.current = snapshot;
    if (snapshot.generation !== before.generation) this.watchFiles();
    this.watchers.tell(changedEntries(before.entries, snapshot.entries));
  }

  private async commitPending(): Promise<void> {
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      await this.commit(batch);
    }
    this.committing = undefined;
  }

  /** Makes all swaps of the batch that can be made, in one version, and answers each. Never rejects. */
  private async commit(batch: PendingSwap[]): Promise<void> {
    const { clock, random } = this.options;
    let results: SwapResult[] = [];
    try {
      for (let attempt = 0; ; attempt++) {
        if (attempt === attemptsMax) throw new CoordinatorUnavailableError('too many others swap at the same time');
        const base = await this.folder.readNewest(this.current);
        const entries = new Map(base.entries);
        results = batch.map((swap) => applySwap(entries, swap.changes, base.version + 1));
        if (!results.some((result, i) => result.ok && batch[i]!.changes.length > 0)) {
          await this.folder.sync(base);
          this.adopt(base);
          break;
        }
        const next = await this.folder.publish(base, entries);
        if (next !== 'taken') {
          this.adopt(next);
          break;
        }
        // Others were faster again and again: at random, so that nobody starves.
        if (attempt >= patience) await sleep(clock, random.float() * pauseMsMax);
      }
      batch.forEach((swap, i) => swap.resolve(results[i]!));
    } catch (error) {
      await this.failed(batch, results, error);
    }
    if (this.current.version % tidyEvery === 0) await this.tidy();
  }

  /** The version with these swaps was not made, or perhaps it was. */
  private async failed(batch: PendingSwap[], results: readonly SwapResult[], error: unknown): Promise<void> {
    if (error instanceof RangeError && batch.length > 1) {
      for (const swap of batch) await this.commit([swap]);
      return;
    }
    // A swap that stood no chance is tried anew: what it failed on may not have been made.
    const again = error instanceof OutcomeUnknownError ? batch.filter((_, i) => !results[i]!.ok) : [];
    for (const swap of batch) if (!again.includes(swap)) swap.reject(error);
    if (again.length > 0) await this.commit(again);
  }

  private async tidy(): Promise<void> {
    try {
      await this.folder.tidy(this.current, this.options.clock.wall());
    } catch (error) {
      this.options.logger.warn('leftovers in the coordinator folder', { error: String(error) });
    }
  }

  /** Looks for changes by other brokers; once more if something may have changed since it began to. */
  private look(): void {
    if (this.closed) return;
    if (this.looking) this.lookAgain = true;
    else this.looking = this.lookUntilQuiet();
  }

  private async lookUntilQuiet(): Promise<void> {
    do {
      this.lookAgain = false;
      try {
        await this.refresh();
        this.trouble = '';
      } catch (error) {
        if (this.trouble !== String(error))
          this.options.logger.warn('the coordinator folder cannot be read', { error: String(error) });
        this.trouble = String(error);
      }
    } while (this.lookAgain && !this.closed);
    this.looking = undefined;
  }

  /** Changes show in the folder of the present generation. */
  private watchFiles(): void {
    this.fileWatch?.close();
    this.fileWatch = undefined;
    if (this.closed) return;
    try {
      this.fileWatch = this.folder.watch(
        this.current,
        () => this.look(),
        (error) => this.unwatched(error),
      );
    } catch (error) {
      this.unwatched(error);
    }
    this.look();
  }

  private unwatched(error: unknown): void {
    this.options.logger.warn('changes of the coordinator folder are found by polling only', { error: String(error) });
  }
}
