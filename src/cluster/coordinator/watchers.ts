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

  tell(changed: readonly Entry[]): void {
    for (const watch of [...this.watches]) {
      const seen = changed.filter((entry) => entry.key.startsWith(watch.prefix));
      if (seen.length > 0 && this.watches.has(watch)) watch.changed(seen);
    }
  }

  clear(): void {
    this.watches.clear();
  }
}
