import type { Copy } from '../history.js';
import type { Labels } from '../queue-kind.js';

/**
 * The queue may have given the message up by itself: it expired, or came back too often; or newer ones took its place, so many at
 * least as the queue has room for. What its publisher sent again may be newer than it looks.
 */
export function isGivenUp(copy: Copy): boolean {
  const { queue, message } = copy;
  // What dies goes somewhere else.
  if (queue.dies) return false;
  const { keepsNewest, lengthMax, returnsMax, ttlMs } = queue.kind;
  if (ttlMs !== undefined || message.labels.lifeMs > 0) return true;
  const isBack = copy.deliveries.some(({ state }) => state === 'requeued' || state === 'dropped');
  if (returnsMax !== undefined && isBack) return true;
  if (keepsNewest === true && newerThan(copy, ({ key }) => key === message.labels.key) > 0) return true;
  return lengthMax !== undefined && newerThan(copy, () => true) >= lengthMax;
}

/** How many messages may have come into its queue after it, of those with such labels. */
function newerThan({ queue, message }: Copy, isMeant: (labels: Labels) => boolean): number {
  let count = message.sends.length - 1;
  for (const { message: other } of queue.copies)
    if (other !== message && isMeant(other.labels))
      count += other.sends.length - (other.number > message.number ? 0 : 1);
  return count;
}
