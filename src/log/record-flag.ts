/** Flags of a record. */
export const RecordFlag = {
  /** Must be on disk before it counts. Records without it are ignored by recovery. */
  durable: 1,
  /** The message was published with delivery mode 2 (an enqueue may be persistent without being durable). */
  persistent: 2,
  /** Durable, but may count before it is on disk (`confirm: replicated`). */
  relaxed: 4,
  /** It may have been handed out before it came into this group (`QueueObject.movesFrom`). */
  redelivered: 8,
  /** It was passed on from the queue's former group: sent again after a failure, it may be there already by another way. */
  moved: 16,
  /** An enqueue that another group's outbox owes this one: see Origin. */
  origin: 32,
  /** The message's header has something that clients are not shown: BCC. Not before its version is in use. */
  hidden: 64,
  /** The message's body is in parts of their own: see large.ts. Not before its version is in use. */
  large: 128,
} as const;
