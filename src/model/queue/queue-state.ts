import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import type { ReplicaOptions } from '../../log/replica-options.js';
import { LaneIndex } from './lane-index.js';
import type { MessageIndex } from './message-index.js';
import { type PiecePool, QueueIndex } from './queue-index.js';
import { noTraits, type QueueTraits } from './queue-traits.js';

/** Whoever serves a queue on the primary. */
export interface QueueWatcher {
  /** A message with a body of `body` bytes was added: its record is at `offset` of `chunk`, which is resident. */
  added(position: Lsn, body: number, chunk: Chunk, offset: number): void;
  /** The queue was dropped. */
  dropped(): void;
}

/** One queue on one replica. */
export class QueueState {
  readonly incarnation: Lsn;
  options: ReplicaOptions;
  /** Wiring version of its `open`; 0 for a queue that is always there, -1 if recovery has not found it. */
  wiringVersion: Lsn;
  /** Replaced only while the queue is being recovered. */
  index: MessageIndex;
  /** What takes its place, while that is being filled. */
  sorted: MessageIndex | undefined = undefined;
  watcher: QueueWatcher | undefined = undefined;
  /** A message that expires has been put into it, and it was not empty since. */
  mayExpire = false;
  /** On the primary: see TraitsOf. */
  traits: QueueTraits = noTraits;
  traitsVersion = -1;
  /** Where its `open` record lies, if it is kept for recovery: chunk id, or -1. */
  openChunk = -1;
  openOffset = 0;
  openLength = 0;

  /** False while recovery has not found its `open`. */
  get isOpened(): boolean {
    return this.wiringVersion >= 0;
  }

  constructor(incarnation: Lsn, options: ReplicaOptions, wiringVersion: Lsn, pool: PiecePool) {
    this.incarnation = incarnation;
    this.options = options;
    this.wiringVersion = wiringVersion;
    this.index = newIndex(options, pool);
  }
}

export function newIndex({ priorities = 0, base = 0 }: ReplicaOptions, pool: PiecePool): MessageIndex {
  return priorities === 0 ? new QueueIndex(pool) : new LaneIndex(pool, priorities, base);
}
