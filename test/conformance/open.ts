/**
 * Cases that our broker does not pass yet, with the reason. They must fail: who makes one pass takes it off the list.
 * RabbitMQ passes all of them.
 */
const waiting: readonly { reason: string; titles: readonly string[] }[] = [
  {
    reason: 'dead letters know nothing of CC and BCC yet',
    titles: [
      'a dead letter whose queue names no key is routed by the keys of CC and BCC too',
      'in quorum queues: a dead letter whose queue names no key is routed by the keys of CC and BCC too',
      'routing keys of a death are those of the publish with its CC',
      'a dead letter whose queue names a key loses CC',
      'in quorum queues: a dead letter whose queue names a key loses CC',
      'in quorum queues: routing keys of a death are those of the publish with its CC',
    ],
  },
];

/** Reason by title. */
export const open: ReadonlyMap<string, string> = new Map(
  waiting.flatMap(({ reason, titles }) => titles.map((title) => [title, reason])),
);
