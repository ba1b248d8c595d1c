/** What selectors and filters can ask of a message, whatever its encoding. */

/** Integers are bigint, other numbers number; undefined: it is not there, or nothing that can be compared. */
export type SelectorValue = string | bigint | number | boolean | undefined;

/** Fields of the sections header and properties of AMQP 1.0 (§3.2.1, §3.2.4); of AMQP 0-9-1, what they are converted from. */
export const messageFields = [
  'durable',
  'priority',
  'ttl',
  'message-id',
  'user-id',
  'to',
  'subject',
  'reply-to',
  'correlation-id',
  'content-type',
  'content-encoding',
  'absolute-expiry-time',
  'creation-time',
  'group-id',
  'group-sequence',
  'reply-to-group-id',
] as const;
export type MessageField = (typeof messageFields)[number];

/** A message, as long as it is at hand. Nothing is decoded that nobody asks for. */
export interface MessageFields {
  field(name: MessageField): SelectorValue;
  /** An application property, or a header of 0-9-1 that becomes one. */
  property(name: string): SelectorValue;
}

/** Of messages whose headers nobody reads. */
export const noFields: MessageFields = { field: () => undefined, property: () => undefined };
