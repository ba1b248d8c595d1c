import type { Chunk } from '../../log/chunk.js';
import type { GroupService } from './group-service.js';
import type { ServedQueue } from './served-queue.js';

/** A chunk that could not be read is tried again after this time. */
const readRetryMs = 1000;

/** Reads back what a queue needs, a chunk at a time; its dispatch goes on when that is there. The chunk store reads ahead. */
export class QueueReads {
  private readonly queue: ServedQueue;
  private readonly service: GroupService;
  /** Something is being read, or will be tried again. */
  isReading = false;

  constructor(queue: ServedQueue, service: GroupService) {
    this.queue = queue;
    this.service = service;
  }

  load(chunk: Chunk): void {
    if (this.isReading) return;
    this.isReading = true;
    const { queue, service } = this;
    service.state.chunks.load(chunk, (error) => {
      this.isReading = error !== undefined;
      if (error === undefined) {
        service.loaded(queue, chunk);
        return;
      }
      service.logger.error('a queue waits for messages that cannot be read back', {
        queue: queue.incarnation,
        chunk: chunk.id,
        reason: error.message,
      });
      service.timers.after(readRetryMs, () => {
        this.isReading = false;
        service.dispatchSoon(queue);
      });
    });
  }
}
