import type { DispositionView } from './codec/index.js';
import type { ResumableSource } from './resumable-source.js';
import type { ResumableTarget } from './resumable-target.js';

/** The links of a session that can be resumed: they keep account of their deliveries themselves. */
export class ResumableLinks {
  readonly targets: Set<ResumableTarget> = new Set();
  readonly sources: Set<ResumableSource> = new Set();

  get isAny(): boolean {
    return this.targets.size + this.sources.size > 0;
  }

  /** Takes what the disposition says of their deliveries; `others` is told of the rest, in as many pieces as that takes. */
  said(view: DispositionView, others: (view: DispositionView) => void): void {
    const { first, last } = view;
    if (!view.role) {
      if (view.settled) for (const target of this.targets) target.settledBy(first, last);
      return;
    }
    const count = (last - first) >>> 0;
    let from = 0;
    for (let i = 0; i <= count && i <= idsMax; i++) {
      const id = (first + i) >>> 0;
      const source = this.sourceOf(id);
      if (source === undefined) continue;
      if (i > from) this.pass(view, first + from, first + i - 1, others);
      from = i + 1;
      source.decide(id, view);
    }
    if (from <= count) this.pass(view, first + from, last, others);
  }

  private pass(view: DispositionView, first: number, last: number, others: (view: DispositionView) => void): void {
    view.first = first >>> 0;
    view.last = last >>> 0;
    others(view);
  }

  private sourceOf(id: number): ResumableSource | undefined {
    for (const source of this.sources) if (source.has(id)) return source;
    return undefined;
  }
}

/** A client may name more deliveries than there can be. */
const idsMax = 65_536;
