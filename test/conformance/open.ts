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
  {
    reason: 'CC and BCC are not built yet',
    titles: [
      'routing keys of a death are those of the publish with its CC',
      'BCC that is no array is refused with 406',
      'CC stays in the headers, BCC is taken out',
      'CC that is no array is refused with 406',
      'a dead letter whose queue names a key loses CC',
      'in quorum queues: a dead letter whose queue names a key loses CC',
      'in quorum queues: routing keys of a death are those of the publish with its CC',
      'a mandatory message of which only a copy is routed does not come back',
      'entries of CC that are no texts are passed over',
      'the keys of CC and BCC are routed like the routing key',
      'the routing key of copies is that of the publish',
      'topic bindings match the keys of CC',
    ],
  },
  {
    reason: 'class tx is not built yet',
    titles: [
      'a transaction of a client that is cut off is rolled back',
      'what is given back or rejected in a transaction is so when it is committed',
      'publishes and acknowledgements of a transaction count together',
      'a mandatory message that is not routed comes back before commit-ok',
      'a publish to an exchange that is not there ends the channel, and nothing is committed',
      'a transaction begins with the end of the one before',
      'acknowledgements count when the transaction is committed',
      'acknowledgements that are rolled back do not count, the deliveries are out still',
      'acknowledgements without a commit do not count when the channel closes',
      'an acknowledgement of a tag that is not known ends the channel with 406',
      'an empty transaction commits and rolls back',
      'confirm.select on a channel with transactions ends the channel with 406',
      'deliveries go on within a transaction, as far as the limit lets them',
      'publishes of a transaction are there when it is committed, not before',
      'publishes of a transaction that is rolled back are gone',
      'publishes of a transaction whose channel closes are gone',
      'tx.commit on a channel without tx.select ends the channel with 406',
      'tx.rollback on a channel without tx.select ends the channel with 406',
      'tx.select again is answered, and changes nothing',
      'tx.select on a channel with confirms ends the channel with 406',
    ],
  },
  {
    reason: 'direct reply-to is not built yet',
    titles: [
      'start offers the capability direct_reply_to',
      'a mandatory answer comes back, being routed to no queue, and arrives all the same',
      'a mandatory answer to somebody who has gone comes back',
      'a passive declaration of the pseudo-queue is answered',
      'a reply comes to whoever asked',
      'a request before the consumer is there is refused with 406',
      'a second consumer of the pseudo-queue on a channel is refused with 406',
      'several answers come, in order',
      'the consumer may be cancelled, and be there again',
      'the pseudo-queue must be consumed without acknowledgements: else 406',
      'two who ask on two channels get each their own answer',
      'whoever answers may ask whether the other is still there, by a passive declaration',
    ],
  },
];

/** Reason by title. */
export const open: ReadonlyMap<string, string> = new Map(
  waiting.flatMap(({ reason, titles }) => titles.map((title) => [title, reason])),
);
