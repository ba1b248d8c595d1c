import type { Reached } from './matcher.js';
import type { Target } from './target.js';

/** From here on a search by number pays. */
const indexFrom = 16;

/**
 * The targets of bindings that match alike. Counted, since bindings that differ only in their arguments share one; in an
 * array, since routing walks it; and with O(1) removal, since a fanout exchange may have 100,000 queues that come and go.
 */
export class TargetSet {
  private targets: Target[] = [];
  private counts: number[] = [];
  private index: Map<Target, number> | undefined = undefined;

  get size(): number {
    return this.targets.length;
  }

  add(target: Target): void {
    const at = this.find(target);
    if (at >= 0) {
      this.counts[at]!++;
      return;
    }
    if (this.targets.length === 0) {
      // Most sets have one target: literals take no room for more.
      this.targets = [target];
      this.counts = [1];
      return;
    }
    this.index?.set(target, this.targets.length);
    this.targets.push(target);
    this.counts.push(1);
    if (this.index === undefined && this.targets.length === indexFrom) {
      this.index = new Map(this.targets.map((other, i) => [other, i]));
    }
  }

  remove(target: Target): void {
    const at = this.find(target);
    if (at < 0) return;
    this.counts[at]!--;
    if (this.counts[at]! > 0) return;
    const last = this.targets.pop()!;
    const count = this.counts.pop()!;
    this.index?.delete(target);
    if (last === target) return;
    this.targets[at] = last;
    this.counts[at] = count;
    this.index?.set(last, at);
  }

  reach(reached: Reached): void {
    const targets = this.targets;
    for (let i = 0; i < targets.length; i++) reached.reach(targets[i]!);
  }

  /** One of them, from 0 to `size` - 1. */
  at(index: number): Target {
    return this.targets[index]!;
  }

  /** All of them by kind and name. */
  inOrder(): Target[] {
    const key = ({ kind, name }: Target): string => `${kind} ${name}`;
    return [...this.targets].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  private find(target: Target): number {
    return this.index === undefined ? this.targets.indexOf(target) : (this.index.get(target) ?? -1);
  }
}
