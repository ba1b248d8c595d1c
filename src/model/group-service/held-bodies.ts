import type { BodyId } from '../../log/large.js';
import { keyOf } from '../large/large-bodies.js';
import { graceMs, type LargeLog } from './large-log.js';
import type { ServiceTimers } from './service-timers.js';

/** The bodies that one node reads, or is about to, since it was given their messages: they stay. */
export class HeldBodies {
  private readonly service: { readonly large: LargeLog; readonly timers: ServiceTimers };
  private readonly held = new Map<string, { readonly id: BodyId; count: number }>();

  constructor(service: { readonly large: LargeLog; readonly timers: ServiceTimers }) {
    this.service = service;
  }

  hold(id: BodyId): void {
    const key = keyOf(id);
    const held = this.held.get(key);
    if (held !== undefined) held.count++;
    else {
      this.held.set(key, { id, count: 1 });
      this.service.large.hold(key);
    }
  }

  done(id: BodyId): void {
    const key = keyOf(id);
    const held = this.held.get(key);
    if (held === undefined || --held.count > 0) return;
    this.held.delete(key);
    this.service.large.unhold(id);
  }

  /** The attachment is over: its node may come back and read on. */
  release(): void {
    if (this.held.size === 0) return;
    const ids = [...this.held.values()].map(({ id }) => id);
    this.held.clear();
    this.service.timers.after(graceMs, () => {
      for (const id of ids) this.service.large.unhold(id);
    });
  }
}
