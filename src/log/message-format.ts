/** In which protocol's encoding header and body of a message are: `format` of an enqueue. */
export const MessageFormat = {
  /** The header is the content header's property flags and list. */
  amqp091: 0,
  /** Since version 3. The header is all sections before the body's, the body the rest, both as they were sent (AMQP 1.0 §3.2). */
  amqp10: 1,
} as const;
