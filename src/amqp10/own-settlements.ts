import type { SettlementOwner } from '../model/broker.js';
import type { DeliveryState } from './codec/index.js';

/** Deliveries `first` to `last` are settled by us. `state` undefined: they were accepted. */
export type SettlementWriter = (first: number, last: number, state: DeliveryState | undefined) => void;

/**
 * Deliveries of a session whose client has told what becomes of them, and waits for our settlement (§2.6.12, receivers that settle
 * second): it is told when that is safe, neighbours with the same state in one disposition.
 */
export class OwnSettlements implements SettlementOwner {
  private ready: number[] = [];
  /** Those that were not accepted. */
  private readonly states = new Map<number, DeliveryState>();
  private readonly onDirty: () => void;

  /** @param onDirty called once when there is something to flush, until it is flushed */
  constructor(onDirty: () => void) {
    this.onDirty = onDirty;
  }

  /** Will be settled with that state. */
  expect(number: number, state: DeliveryState): void {
    this.states.set(number, state);
  }

  /** The delivery can be settled. */
  settlementSafe(number: number): void {
    this.ready.push(number);
    if (this.ready.length === 1) this.onDirty();
  }

  flush(write: SettlementWriter): void {
    const { ready, states } = this;
    if (ready.length === 0) return;
    this.ready = [];
    // Groups of queues answer each in its own order.
    ready.sort((a, b) => a - b);
    for (let i = 0; i < ready.length; ) {
      const first = ready[i]!;
      const state = states.get(first);
      let last = first;
      for (i++; i < ready.length && ready[i] === last + 1 && states.get(last + 1) === state; i++) last++;
      write(first >>> 0, last >>> 0, state);
    }
    if (states.size > 0) for (const number of ready) states.delete(number);
  }
}
