import type { Copy } from '../history.js';

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
  if (returnsMax !== undefined) return copy.deliveries.some(({ state }) => state === 'requeued' || state === 'dropped');
  if (keepsNewest === true) return newerThan(copy).some((other) => other.message.labels.key === message.labels.key);
  return lengthMax !== undefined && newerThan(copy).length >= lengthMax;
}

/** Messages that may have come into its queue after it. */
function newerThan(copy: Copy): Copy[] {
  const { number } = copy.message;
  return copy.queue.copies.filter((other) => {
    if (other === copy) return false;
    const { message } = other;
    return (message.number > number && message.sends.length > 0) || message.sends.length > 1;
  });
}
