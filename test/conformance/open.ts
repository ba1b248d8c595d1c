/**
 * Cases that our broker does not pass yet, with the reason. They must fail: who makes one pass takes it off the list.
 * RabbitMQ passes all of them.
 */
const waiting: readonly { reason: string; titles: readonly string[] }[] = [
  {
    reason: 'exchanges of the types x-consistent-hash and x-random are not built yet',
    titles: [
      'each message goes to one of the queues, all get some',
      'the key of a binding is its weight',
      'messages with one routing key go to one queue',
      'with hash-header the header counts, not the routing key',
      'with hash-property the property correlation_id counts',
      'with hash-property the property message_id counts',
      'with hash-property the property timestamp counts',
      'when a queue goes the others get its messages',
      'without bindings a message is not routed',
      'a binding whose key is no number is refused with 406',
      'both hash-header and hash-property are refused with 406',
      'each message goes to one of the queues, whatever the key, all get some',
    ],
  },
];

/** Reason by title. */
export const open: ReadonlyMap<string, string> = new Map(
  waiting.flatMap(({ reason, titles }) => titles.map((title) => [title, reason])),
);
