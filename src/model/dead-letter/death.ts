import type { EnqueueView } from '../../log/record.js';
import type { Arguments, Properties } from '../broker.js';
import { type MessageFields, noFields } from '../selection/message-fields.js';

/** Why a message left its queue unconsumed; as RabbitMQ's `x-death` names it, but for the last one, which it does not have. */
export const DeathReason = {
  /** Refused by a consumer, not to be requeued. */
  rejected: 'rejected',
  expired: 'expired',
  /** Its queue was too long. */
  maxlen: 'maxlen',
  /** It came back too often. */
  deliveryLimit: 'delivery_limit',
  /** An operator sent it elsewhere. */
  rerouted: 'rerouted',
} as const;
export type DeathReason = (typeof DeathReason)[keyof typeof DeathReason];

export interface Death {
  readonly reason: DeathReason;
  /** Name of the queue that it died in. */
  readonly queue: string;
  /** Seconds since 1970. */
  readonly time: number;
  /** The queue names a routing key for its dead letters: the message's own lead nowhere any more. */
  readonly isReaddressed: boolean;
}

/** What a protocol does with its messages' headers when they die, or have waited for their time: the model does not read them. */
export interface HeaderCodec {
  /**
   * The message's content header with its death noted, and without what must not last longer, such as its expiration; with a key of its
   * queue, without other keys and all that is hidden.
   */
  note(message: EnqueueView, death: Death): Uint8Array;
  /**
   * Has the message, whose last death is noted already, died in the queue before, without anybody's decision since? Then it goes
   * round in a circle, and must not come into the queue again.
   */
  isCircle(message: EnqueueView, queue: string): boolean;
  /** The table of headers, for exchanges that route by it; without what is hidden. */
  table(message: EnqueueView): Arguments;
  /** Routing keys that it names besides its own: CC and BCC. */
  moreKeys(message: EnqueueView): readonly string[];
  /** The same for properties. */
  properties(message: EnqueueView): Properties;
  /** The message's content header when it has been delayed: it says so, and is not delayed again. */
  delayed(message: EnqueueView): Uint8Array;
  /** The message's content header with that noted: encoded maps of AMQP 1.0, of which later ones outweigh earlier ones. */
  annotated(message: EnqueueView, annotations: Uint8Array): Uint8Array;
  /** How long the message may be in a queue, in milliseconds, as it says itself; undefined: it says nothing. */
  ttlMs(message: EnqueueView): number | undefined;
  /** What filters ask for. Valid until the next call. */
  fields(message: EnqueueView): MessageFields;
}

function headerOf({ bytes, headerStart, headerLength }: EnqueueView): Uint8Array {
  return bytes.slice(headerStart, headerStart + headerLength);
}

/** Of messages whose headers nobody reads: they pass as they are. */
export const opaqueHeaders: HeaderCodec = {
  note: headerOf,
  isCircle: () => false,
  table: () => ({}),
  moreKeys: () => [],
  properties: () => () => '',
  delayed: headerOf,
  annotated: headerOf,
  ttlMs: () => undefined,
  fields: () => noFields,
};
