import type { Entry } from './coordinator.js';

/** The watches of one coordinator handle. */
export class Watchers {
  private readonly watches = new Set<{ prefix: string; changed: (entries: Entry[]) => void }>();

  add(prefix: string, changed: (entries: Entry[]) => void): { close(): void } {
    const watch = { prefix, changed };
    this.watches.add(watch);
    return { close: () => this.watches.delete(watch) };
  }

  get size(): number {
    return this.watches.size;
  }

  /** Never throws: what a watcher throws becomes an uncaught error of its own, not a failure of the swap that woke it. */
  tell(changed: readonly Entry[]): void {
    for (const watch of [...this.watches]) {
      const seen = changed.filter((entry) => entry.key.startsWith(watch.prefix));
      if (seen.length === 0 || !this.watches.has(watch)) continue;
      try {
        watch.changed(seen);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  clear(): void {
    this.watches.clear();
  }
}
