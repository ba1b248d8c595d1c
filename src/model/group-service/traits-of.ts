import type { Lsn } from '../../log/lsn.js';
import type { QueueState } from '../queue/queue-state.js';
import { noTraits, type QueueTraits } from '../queue/queue-traits.js';

/** What the wiring says of queues. */
export interface QueueTraitsSource {
  /** Changes whenever an answer may have changed. */
  readonly version: number;
  /** The wiring from which it answers: of queues of later versions it knows nothing. */
  readonly wiringVersion: Lsn;
  /** Undefined: the wiring does not know the queue yet. */
  of(incarnation: Lsn): QueueTraits | undefined;
}

export const allPlain: QueueTraitsSource = {
  version: 0,
  wiringVersion: Number.POSITIVE_INFINITY,
  of: () => noTraits,
};

/** The same, found once for each queue and version. */
export class TraitsOf {
  private readonly source: QueueTraitsSource;

  constructor(source: QueueTraitsSource) {
    this.source = source;
  }

  /** Changes whenever what they are may have changed. */
  get version(): number {
    return this.source.version;
  }

  of(queue: QueueState): QueueTraits {
    const { version } = this.source;
    if (queue.traitsVersion === version) return queue.traits;
    const traits = this.source.of(queue.incarnation);
    queue.traits = traits ?? noTraits;
    if (traits !== undefined) queue.traitsVersion = version;
    return queue.traits;
  }

  /** False: what `of` says is only for want of better knowledge; nothing that cannot be undone may rest on it. */
  isKnown(queue: QueueState): boolean {
    this.of(queue);
    return queue.traitsVersion === this.source.version;
  }

  isRelaxed(queue: QueueState): boolean {
    return queue.options.durable && this.of(queue).relaxed;
  }
}
