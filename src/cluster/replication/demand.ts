import type { NodeUse } from '../../model/group-service/service-options.js';

/** Rates are of about so long. */
const smoothMs = 4000;
const sampleMs = 500;

/** How much the clients of each node take from a group: what placements that go by consumers go by. */
export class Demand {
  /** Deliveries a second, by node. */
  readonly rates: Map<string, number> = new Map();
  /** Nodes that have consumers, in order of their names. */
  interested: string[] = [];
  private readonly counted: Map<string, number> = new Map();
  private sampledAt = Number.NEGATIVE_INFINITY;

  /** To be called often. */
  sample(now: number, uses: () => Iterable<NodeUse>): void {
    const passed = now - this.sampledAt;
    if (passed < sampleMs) return;
    const isFirst = this.sampledAt === Number.NEGATIVE_INFINITY;
    this.sampledAt = now;
    const share = 1 - Math.exp(-passed / smoothMs);
    const interested: string[] = [];
    const gone = new Set(this.rates.keys());
    for (const { node, delivered, consumers } of uses()) {
      if (consumers > 0) interested.push(node);
      gone.delete(node);
      const before = this.counted.get(node) ?? 0;
      this.counted.set(node, delivered);
      // It has attached anew, and begun to count anew.
      const count = delivered >= before ? delivered - before : delivered;
      const rate = this.rates.get(node) ?? 0;
      if (!isFirst) this.rates.set(node, rate + (count / (passed / 1000) - rate) * share);
    }
    for (const node of gone) {
      this.rates.delete(node);
      this.counted.delete(node);
    }
    this.interested = interested.sort();
  }

  /** The node that takes most, if that is clearly more than what `self` takes; undefined if nobody does, or nobody takes much. */
  heaviest(self: string): string | undefined {
    let best: string | undefined;
    let total = 0;
    for (const [node, rate] of this.rates) {
      total += rate;
      if (best === undefined || rate > this.rates.get(best)!) best = node;
    }
    if (best === undefined || best === self || total < rateMin) return undefined;
    return this.rates.get(best)! > total * shareMin ? best : undefined;
  }

  /** Who of those that may lead is interested next after `node`, in the circle of names; undefined: nobody, or that node alone. */
  nextAfter(node: string, mayLead: (node: string) => boolean): string | undefined {
    const able = this.interested.filter((other) => other !== node && mayLead(other));
    return able.find((other) => other > node) ?? able[0];
  }
}

/** Deliveries a second of a group, below which it stays where it is. */
const rateMin = 1;
/** Of all deliveries. */
const shareMin = 0.6;
