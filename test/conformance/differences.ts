/**
 * What our broker means to do otherwise than RabbitMQ, where cases show it (cases/differing.ts). Each is a row of the table "Differences
 * from RabbitMQ" in docs/protocols/amqp091.md, word for word, where also stands what no case can show.
 */
export interface Difference {
  readonly what: string;
  readonly here: string;
  readonly rabbitmq: string;
}

export const flow: Difference = {
  what: 'channel.flow active=false from a client',
  here: 'stops its deliveries',
  rabbitmq: '540',
};

export const tuneOk: Difference = {
  what: 'tune-ok above what was offered',
  here: '530',
  rabbitmq: 'closes the socket without a word',
};

export const tuneOkNone: Difference = {
  what: 'tune-ok with 0',
  here: 'as offered',
  rabbitmq: 'closes the socket where it has a limit',
};

export const unknownMethod: Difference = {
  what: 'a class or method that nobody knows',
  here: '503',
  rabbitmq: 'closes the socket without a word',
};

export const undecodable: Difference = {
  what: 'a method whose arguments make no sense',
  here: '502',
  rabbitmq: '501',
};

export const ifEmpty: Difference = {
  what: 'queue.delete with if-empty',
  here: 'a queue is empty when nothing of it is delivered and not acknowledged either; for all types',
  rabbitmq: 'what is delivered does not count, and would be lost; 540 for `quorum`',
};

export const globalQos: Difference = {
  what: 'global qos on `quorum` queues',
  here: 'works',
  rabbitmq: 'refused',
};

export const streams: Difference = {
  what: '`x-queue-type` `stream`',
  here: '540',
  rabbitmq: 'a log that is read many times',
};

export const eitherType: Difference = {
  what: 'arguments of queues of another type, of streams too',
  here: 'are taken; those of `classic` and `quorum` act on both',
  rabbitmq: '406',
};

export const quorumExact: Difference = {
  what: '`quorum` queues in other things',
  here: 'as `classic` ones: basic.get and queue.purge find what their channel published before; a TTL of 0; `reject-publish` from the very length on; no exclusive consumer with `x-single-active-consumer`',
  rabbitmq: 'not always; a moment later; some messages later; taken',
};

export const firstGet: Difference = {
  what: '`x-delivery-count` of a message that basic.get delivers first',
  here: 'none, as of one that a consumer gets',
  rabbitmq: '0',
};

export const quorumOrder: Difference = {
  what: 'messages given back to a `quorum` queue',
  here: 'go back to their places',
  rabbitmq: 'come after those that were not delivered yet, as they were given back',
};

export const tooLarge: Difference = {
  what: 'a message that is too large',
  here: 'ends its channel (406) as soon as its header says so',
  rabbitmq: '406 when all of it has come',
};
