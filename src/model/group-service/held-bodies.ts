import type { Logger } from '../../base/logger.js';
import { type BodyId, manifestOf } from '../../log/large.js';
import type { Lsn } from '../../log/lsn.js';
import type { EnqueueView } from '../../log/record.js';
import { keyOf } from '../large/large-bodies.js';
import { graceMs, type LargeLog } from './large-log.js';
import type { ServiceTimers } from './service-timers.js';

/** What they need of their group's service. */
export interface HeldBodiesPorts {
  readonly large: LargeLog;
  readonly timers: ServiceTimers;
  readonly logger: Logger;
}

/** The bodies that one node reads, or is about to, since it was given their messages: they stay. */
export class HeldBodies {
  private readonly service: HeldBodiesPorts;
  private readonly held = new Map<string, { readonly id: BodyId; count: number }>();

  constructor(service: HeldBodiesPorts) {
    this.service = service;
  }

  /** The large message in `view` is about to be handed over. False: it cannot be, since some of it was lost by damage. */
  take(message: EnqueueView, queue: Lsn): boolean {
    const { large, logger } = this.service;
    const manifest = manifestOf(message.view, message.start);
    if (large.isReadable(manifest)) {
      this.hold(manifest);
      return true;
    }
    logger.error('a large message is dropped: parts of it were lost by damage', { queue, position: message.lsn });
    return false;
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
