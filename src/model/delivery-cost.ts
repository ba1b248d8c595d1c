import type { EnqueueView } from '../log/record.js';

/** Bytes of a message that one credit pays for, where bytes count. */
const creditBytesShift = 12;

/**
 * Credit that one delivery takes: 1 with acknowledgements, whose deliveries the client's node can give back when it has no room.
 * Without, nothing ever goes back, so each started 4 KiB of the message's record takes one, with its body wherever that is, and what is on its way to a client
 * that does not read stays bounded whatever the size of the messages. The last one may take more than there is: credit below 0 is
 * owed. The queue's primary and the client's node count alike.
 */
export function deliveryCost(noAck: boolean, message: EnqueueView): number {
  if (!noAck) return 1;
  const bytes = message.isLarge ? message.length - message.bodyLength + message.contentLength : message.length;
  return 1 + (bytes >>> creditBytesShift);
}
