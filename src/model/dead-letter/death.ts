import type { EnqueueView } from '../../log/record.js';
import type { Arguments } from '../broker.js';

/** Why a message left its queue unconsumed; as RabbitMQ's `x-death` names it. */
export const DeathReason = {
  /** Refused by a consumer, not to be requeued. */
  rejected: 'rejected',
  expired: 'expired',
  /** Its queue was too long. */
  maxlen: 'maxlen',
  /** It came back too often. */
  deliveryLimit: 'delivery_limit',
} as const;
export type DeathReason = (typeof DeathReason)[keyof typeof DeathReason];

export interface Death {
  readonly reason: DeathReason;
  /** Name of the queue that it died in. */
  readonly queue: string;
  /** Seconds since 1970. */
  readonly time: number;
}

/** What a protocol does with its messages' headers when they die: the model does not read them. */
export interface HeaderCodec {
  /** The message's content header with its death noted, and without what must not last longer, such as its expiration. */
  note(message: EnqueueView, death: Death): Uint8Array;
  /**
   * Has the message, whose last death is noted already, died in the queue before, without a consumer's rejection since? Then it goes
   * round in a circle, and must not come into the queue again.
   */
  isCircle(message: EnqueueView, queue: string): boolean;
  /** The table of headers, for exchanges that route by it. */
  table(message: EnqueueView): Arguments;
}

/** Of messages whose headers nobody reads: they pass as they are. */
export const opaqueHeaders: HeaderCodec = {
  note: (message) => message.bytes.slice(message.headerStart, message.headerStart + message.headerLength),
  isCircle: () => false,
  table: () => ({}),
};
