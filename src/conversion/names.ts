/**
 * What one protocol can say of a message and the other has no place for goes into headers (0-9-1) or annotations (1.0) of these names,
 * which RabbitMQ has too, but for those that begin with `x-amqp`.
 */

/** `type` and body of a 0-9-1 message whose body is the encoded body sections of a message of AMQP 1.0. */
export const encodedBodyType = 'amqp-1.0';

/** Annotations for properties of 0-9-1. */
export const Annotation = {
  type: 'x-basic-type',
  clusterId: 'x-basic-cluster-id',
  carbonCopies: 'x-cc',
  exchange: 'x-exchange',
  routingKey: 'x-routing-key',
  /** A map of headers that are lists or tables, which application-properties must not be. */
  compoundHeaders: 'x-amqp091-headers',
} as const;

/** Headers for properties of AMQP 1.0. */
export const Header = {
  messageId: 'x-message-id',
  correlationId: 'x-correlation-id',
  replyTo: 'x-reply-to',
  contentType: 'x-content-type',
  contentEncoding: 'x-content-encoding',
  groupId: 'x-group-id',
  userId: 'x-user-id',
  subject: 'x-amqp10-subject',
  to: 'x-amqp10-to',
  absoluteExpiryTime: 'x-amqp10-absolute-expiry-time',
  groupSequence: 'x-amqp10-group-sequence',
  replyToGroupId: 'x-amqp10-reply-to-group-id',
} as const;

export const carbonCopiesHeader = 'CC';
