/**
 * The `memory` engine: the brokers of one program share one MemoryCoordinator, each through a handle of its own.
 * It lasts as long as the program. Every call travels over a MemoryPath, so that a simulator can delay it, fail it,
 * or lose its answer.
 */
import {
  type Change,
  type Coordinator,
  CoordinatorUnavailableError,
  type Entry,
  type SwapResult,
} from './coordinator.js';
import { applySwap, checkChanges, entriesUnder } from './entries.js';
import { Watchers } from './watchers.js';

/** The way between a broker and the coordinator. */
export interface MemoryPath {
  /**
   * Runs `work` at the coordinator, once, and resolves to its result. It may reject without running it
   * (CoordinatorUnavailableError), or lose the answer of a swap that it ran or will run (OutcomeUnknownError).
   */
  call<T>(kind: 'identity' | 'read' | 'swap', work: () => T): Promise<T>;
  /** Runs `tell` at the broker, later and in the order of the calls. */
  notify(tell: () => void): void;
}

/** Answers within the turn, never within the call. */
export const directPath: MemoryPath = {
  async call<T>(_kind: 'identity' | 'read' | 'swap', work: () => T): Promise<T> {
    await undefined;
    return work();
  },
  notify(tell: () => void): void {
    queueMicrotask(tell);
  },
};

export class MemoryCoordinator {
  private readonly identity: string;
  private readonly entries = new Map<string, Entry>();
  private readonly handles = new Set<MemoryHandle>();
  private version = 0;

  /** @param identity a random text, new with every instance (rule 18). */
  constructor(identity: string) {
    this.identity = identity;
  }

  /** A broker's own access. */
  handle(path: MemoryPath = directPath): Coordinator {
    const handle = new MemoryHandle(this, path);
    this.handles.add(handle);
    return handle;
  }

  /** At the coordinator: what a handle's path runs. */
  readIdentity(): string {
    return this.identity;
  }

  read(prefix: string): Entry[] {
    return entriesUnder(this.entries, prefix);
  }

  swap(changes: readonly Change[]): SwapResult {
    const result = applySwap(this.entries, changes, this.version + 1);
    if (result.ok && changes.length > 0) {
      this.version++;
      for (const handle of this.handles) handle.changed(result.entries);
    }
    return result;
  }

  forget(handle: Coordinator): void {
    this.handles.delete(handle as MemoryHandle);
  }
}

class MemoryHandle implements Coordinator {
  private readonly store: MemoryCoordinator;
  private readonly path: MemoryPath;
  private readonly watchers = new Watchers();
  private closed = false;

  constructor(store: MemoryCoordinator, path: MemoryPath) {
    this.store = store;
    this.path = path;
  }

  identity(): Promise<string> {
    return this.call('identity', () => this.store.readIdentity());
  }

  read(prefix: string): Promise<Entry[]> {
    return this.call('read', () => this.store.read(prefix));
  }

  async swap(changes: readonly Change[]): Promise<SwapResult> {
    checkChanges(changes);
    return await this.call('swap', () => this.store.swap(changes));
  }

  watch(prefix: string, changed: (entries: Entry[]) => void): { close(): void } {
    return this.watchers.add(prefix, changed);
  }

  changed(entries: readonly Entry[]): void {
    if (this.watchers.size > 0) this.path.notify(() => this.watchers.tell(entries));
  }

  async close(): Promise<void> {
    this.closed = true;
    this.watchers.clear();
    this.store.forget(this);
  }

  private call<T>(kind: 'identity' | 'read' | 'swap', work: () => T): Promise<T> {
    if (this.closed) return Promise.reject(new CoordinatorUnavailableError('the coordinator handle is closed'));
    return this.path.call(kind, work);
  }
}
