import type { Lsn } from '../../log/lsn.js';
import type { QueueState } from '../queue/queue-state.js';

/** What the wiring says of queues that are durable. */
export interface QueueModeSource {
  /** Changes whenever an answer may have changed. */
  readonly version: number;
  /** May the queue's events count before they are on disk (`confirm: replicated`)? Undefined: the wiring does not know it yet. */
  isRelaxed(incarnation: Lsn): boolean | undefined;
}

export const allSynced: QueueModeSource = { version: 0, isRelaxed: () => false };

/** The same, found once for each queue and version. */
export class QueueModes {
  private readonly source: QueueModeSource;

  constructor(source: QueueModeSource) {
    this.source = source;
  }

  isRelaxed(queue: QueueState): boolean {
    const { version } = this.source;
    if (queue.modeVersion === version) return queue.relaxed;
    const relaxed = this.source.isRelaxed(queue.incarnation);
    queue.relaxed = relaxed === true && queue.options.durable;
    if (relaxed !== undefined) queue.modeVersion = version;
    return queue.relaxed;
  }
}
