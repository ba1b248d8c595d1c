/**
 * A simulated coordinator: one linearizable map that outlives every node. A request, its taking effect and its answer are three
 * moments, as in the model: an answer may be lost after the change was made, or reported as unknown before it is made at last.
 */
import {
  CoordinatorUnavailableError,
  OutcomeUnknownError,
  type Change,
  type Coordinator,
  type Entry,
  type SwapResult,
} from '../src/cluster/coordinator/coordinator.js';
import { checkChanges } from '../src/cluster/coordinator/entries.js';
import type { Context, EventLoop } from './event-loop.js';
import type { SimRandom } from './random.js';

interface Watcher {
  life: number;
  context: Context;
  host: string;
  prefix: string;
  changed: (entries: Entry[]) => void;
  /** Keys changed since the last report. */
  dirty: Set<string>;
  scheduled: boolean;
  closed: boolean;
}

export interface CoordinatorProfile {
  /** One way, plus a random jitter of the same size. */
  latencyMs: number;
  watchDelayMs: number;
}

export class SimCoordinator {
  /** Probability that the answer to a swap is lost. */
  lostAnswers = 0;
  /** Multiplies every delay. */
  slowness = 1;
  private readonly loop: EventLoop;
  private readonly random: SimRandom;
  private readonly profile: CoordinatorProfile;
  private readonly entries = new Map<string, Entry>();
  private readonly watchers = new Set<Watcher>();
  /** Hosts that cannot reach it; '*' = nobody can. */
  private readonly cutOff = new Set<string>();
  private identityText: string;
  /** Grows when it is restored. */
  private life = 0;
  /** Called after every change, for checkers. */
  onChange: (entry: Entry) => void = () => {};

  constructor(loop: EventLoop, random: SimRandom, profile: CoordinatorProfile) {
    this.loop = loop;
    this.random = random;
    this.profile = profile;
    this.identityText = random.hex(16);
  }

  /** The truth of now, for checkers. */
  peek(key: string): Entry | undefined {
    return this.entries.get(key);
  }

  /** All entries of now whose keys begin with `prefix`. */
  peekAll(prefix: string): Entry[] {
    return this.matching(prefix);
  }

  /** A copy of everything, as a backup has it. */
  snapshot(): Entry[] {
    return this.matching('');
  }

  /**
   * Restored from a backup: everything is as it was, versions go on from there. Who had it open notices, and believes nothing of it
   * any more. @param renamed as it is to be done: it is another one now.
   */
  restore(entries: readonly Entry[], renamed: boolean): void {
    this.life++;
    this.entries.clear();
    for (const entry of entries) this.entries.set(entry.key, { ...entry });
    this.nextVersion = 1 + entries.reduce((highest, { version }) => Math.max(highest, version), 0);
    if (renamed) this.identityText = this.random.hex(16);
  }

  /** Single entries say what was true once, and nothing tells: these entries are what they were, with their versions of then. */
  putBack(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.entries.set(entry.key, { ...entry });
      for (const watcher of this.watchers) {
        if (!entry.key.startsWith(watcher.prefix)) continue;
        watcher.dirty.add(entry.key);
        this.report(watcher);
      }
    }
  }

  cut(host: string): void {
    this.cutOff.add(host);
  }

  uncut(host: string): void {
    this.cutOff.delete(host);
    for (const watcher of this.watchers) this.report(watcher);
  }

  heal(): void {
    this.cutOff.clear();
    this.lostAnswers = 0;
    this.slowness = 1;
    for (const watcher of this.watchers) this.report(watcher);
  }

  /** The coordinator as one process sees it. */
  open(host: string, context: Context): Coordinator {
    const { life } = this;
    const ask = <T>(work: () => Promise<T>): Promise<T> =>
      life === this.life ? work() : Promise.reject(new CoordinatorUnavailableError('it went back'));
    return {
      identity: () => ask(() => this.request(host, context, () => this.identityText)),
      read: (prefix) => ask(() => this.request(host, context, () => this.matching(prefix))),
      swap: (changes) =>
        ask(() => {
          checkChanges(changes);
          return this.swap(host, context, changes);
        }),
      watch: (prefix, changed) => {
        const watcher: Watcher = {
          life,
          context,
          host,
          prefix,
          changed,
          dirty: new Set(),
          scheduled: false,
          closed: false,
        };
        this.watchers.add(watcher);
        return {
          close: (): void => {
            watcher.closed = true;
            this.watchers.delete(watcher);
          },
        };
      },
      close: () => this.answer(context, () => undefined),
    };
  }

  /** The life `context` is over. */
  forget(context: Context): void {
    for (const watcher of this.watchers) if (watcher.context === context) this.watchers.delete(watcher);
  }

  private delay(): number {
    return this.profile.latencyMs * this.slowness * (1 + this.random.float());
  }

  private reachable(host: string): boolean {
    return !this.cutOff.has(host) && !this.cutOff.has('*');
  }

  private request<T>(host: string, context: Context, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.loop.after(this.delay(), null, () => {
        if (!this.reachable(host)) {
          this.loop.after(this.delay() * 10, context, () => reject(new CoordinatorUnavailableError('no answer')));
          return;
        }
        const result = work();
        this.loop.after(this.delay(), context, () => {
          if (this.reachable(host)) resolve(result);
          else reject(new CoordinatorUnavailableError('no answer'));
        });
      });
    });
  }

  private swap(host: string, context: Context, changes: readonly Change[]): Promise<SwapResult> {
    return new Promise((resolve, reject) => {
      this.loop.after(this.delay(), null, () => {
        if (!this.reachable(host)) {
          this.loop.after(this.delay() * 10, context, () => reject(new CoordinatorUnavailableError('no answer')));
          return;
        }
        const unknown = (): void => reject(new OutcomeUnknownError('the answer was lost'));
        if (this.random.chance(this.lostAnswers)) {
          // Three ways to lose an answer: the request never came; it was done; it is done later than the caller gives up.
          const dice = this.random.float();
          if (dice < 0.4) this.apply(changes);
          else if (dice < 0.7) this.loop.after(this.random.between(5, 3000), null, () => this.apply(changes));
          this.loop.after(this.delay() * 5, context, unknown);
          return;
        }
        const result = this.apply(changes);
        this.loop.after(this.delay(), context, () => {
          if (this.reachable(host)) resolve(result);
          else unknown();
        });
      });
    });
  }

  private answer<T>(context: Context, work: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.loop.after(0, context, () => resolve(work()));
    });
  }

  private matching(prefix: string): Entry[] {
    const found: Entry[] = [];
    for (const entry of this.entries.values()) if (entry.key.startsWith(prefix)) found.push({ ...entry });
    return found;
  }

  private apply(changes: readonly Change[]): SwapResult {
    const ok = changes.every((change) => (this.entries.get(change.key)?.version ?? 0) === change.expect);
    if (ok) for (const change of changes) this.change(change);
    const entries = changes.map(({ key }) => ({ ...(this.entries.get(key) ?? { key, value: '', version: 0 }) }));
    return { ok, entries };
  }

  private change(change: Change): void {
    const version = this.nextVersion++;
    if (change.value === null) this.entries.delete(change.key);
    else this.entries.set(change.key, { key: change.key, value: change.value, version });
    this.onChange(this.entries.get(change.key) ?? { key: change.key, value: '', version: 0 });
    for (const watcher of this.watchers) {
      if (!change.key.startsWith(watcher.prefix)) continue;
      watcher.dirty.add(change.key);
      this.report(watcher);
    }
  }

  /** One counter for all keys: a key that was deleted and made again does not get an old version. */
  private nextVersion = 1;

  private report(watcher: Watcher): void {
    if (watcher.scheduled || watcher.dirty.size === 0) return;
    watcher.scheduled = true;
    const delay = this.profile.watchDelayMs * this.slowness * (0.5 + this.random.float());
    this.loop.after(delay, watcher.context, () => {
      watcher.scheduled = false;
      // Cut off: the keys stay dirty and are reported when the host is back.
      if (watcher.closed || watcher.life !== this.life || !this.reachable(watcher.host)) return;
      const keys = [...watcher.dirty];
      watcher.dirty.clear();
      watcher.changed(keys.map((key) => ({ ...(this.entries.get(key) ?? { key, value: '', version: 0 }) })));
    });
  }
}
