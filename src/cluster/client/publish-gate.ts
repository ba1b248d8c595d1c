import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Chunks } from '../../log/chunk.js';
import type { Journal } from '../../log/journal.js';
import type { PublishGate } from '../../model/broker.js';
import type { NodeHealth } from './ports.js';
import type { OutboxMemory } from './publish-outbox.js';

/** One reason for which publishers may have to wait. */
export interface GateSource {
  /** '' or why publishers must wait. `closed`: they wait because of this source already (for a distance between the bounds). */
  reason(closed: boolean): string;
}

/** While closed the sources are asked this often. */
const closedPollMs = 5;
/** While open they are asked after this many published bytes. */
const checkBytes = 64 * 1024;

/** Closed while any source says so. */
export class SourcesGate implements PublishGate {
  closed = '';
  private readonly sources: readonly GateSource[];
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly listeners = new Set<(reason: string) => void>();
  private closedBy: GateSource | undefined;
  private timer: Timer | undefined;
  private sinceCheck = 0;

  constructor(sources: readonly GateSource[], clock: Clock, logger: Logger) {
    this.sources = sources;
    this.clock = clock;
    this.logger = logger;
  }

  onChange(listener: (reason: string) => void): { close(): void } {
    this.listeners.add(listener);
    return { close: () => this.listeners.delete(listener) };
  }

  /** To be called for each publish: the sources are asked now and then. */
  published(bytes: number): void {
    this.sinceCheck += bytes;
    if (this.sinceCheck >= checkBytes) this.check();
  }

  /** Asks all sources now. */
  check(): void {
    this.sinceCheck = 0;
    let reason = '';
    let by: GateSource | undefined;
    for (const source of this.sources) {
      reason = source.reason(source === this.closedBy);
      by = source;
      if (reason !== '') break;
    }
    this.closedBy = reason === '' ? undefined : by;
    if (reason !== '') this.timer ??= this.clock.every(closedPollMs, () => this.check());
    else this.stopPolling();
    if (reason === this.closed) return;
    this.closed = reason;
    if (reason === '') this.logger.info('publishers go on');
    else this.logger.warn('publishers must wait', { reason });
    for (const listener of [...this.listeners]) listener(reason);
  }

  close(): void {
    this.stopPolling();
    this.listeners.clear();
  }

  private stopPolling(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
}

/** Closes above `high`, opens again below `low`. */
class BoundSource implements GateSource {
  private readonly level: () => number;
  private readonly high: () => number;
  private readonly low: () => number;
  private readonly text: string;

  constructor(level: () => number, high: () => number, low: () => number, text: string) {
    this.level = level;
    this.high = high;
    this.low = low;
    this.text = text;
  }

  reason(closed: boolean): string {
    return this.level() > (closed ? this.low() : this.high()) ? this.text : '';
  }
}

/** Publishes on their way to primaries on other nodes, or kept while a group has no primary. */
export function outboxSource(memory: OutboxMemory, bytesMax: number): GateSource {
  return new BoundSource(
    () => memory.bytes,
    () => bytesMax,
    () => bytesMax / 2,
    'messages wait for a primary on another node',
  );
}

/** Bytes that are not on disk yet; a full or failed disk. */
export function journalSource(
  journal: Pick<Journal, 'pendingBytes' | 'state' | 'reason'>,
  pendingBytesMax: number,
): GateSource {
  const slow = new BoundSource(
    () => journal.pendingBytes,
    () => pendingBytesMax,
    () => pendingBytesMax / 2,
    'the disk is slower than the publishers',
  );
  return {
    reason(closed) {
      if (journal.state === 'full') return `low on disk: ${journal.reason}`;
      if (journal.state === 'failed') return 'the disk has failed';
      return slow.reason(closed);
    },
  };
}

/** Messages in memory: the budget leaves room for what is being written. */
export function memorySource(chunks: Pick<Chunks, 'residentBytes' | 'budgetBytes'>): GateSource {
  return new BoundSource(
    () => chunks.residentBytes,
    () => chunks.budgetBytes * 1.25,
    () => chunks.budgetBytes * 1.1,
    'low on memory',
  );
}

/** What replication says of the node as a whole. */
export function healthSource(health: NodeHealth): GateSource {
  return { reason: () => health.publishStop() };
}

/** What a node's gate looks at. */
export interface GateWatched {
  readonly health: NodeHealth;
  readonly journal: Pick<Journal, 'pendingBytes' | 'state' | 'reason'>;
  readonly chunks: Pick<Chunks, 'residentBytes' | 'budgetBytes'>;
  readonly outbox: OutboxMemory;
  readonly alarms: GateSource;
}

/** The gate of a node, closed for each of the reasons above. */
export function nodeGate(
  { health, journal, chunks, outbox, alarms }: GateWatched,
  bounds: { journalPendingBytesMax: number; outboxBytesMax: number },
  clock: Clock,
  logger: Logger,
): SourcesGate {
  const sources = [
    healthSource(health),
    journalSource(journal, bounds.journalPendingBytesMax),
    alarms,
    memorySource(chunks),
    outboxSource(outbox, bounds.outboxBytesMax),
  ];
  return new SourcesGate(sources, clock, logger);
}
