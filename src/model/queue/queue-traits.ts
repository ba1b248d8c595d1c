/** Where what a queue gives up goes, and what is to be noted of it there. */
export interface DeadLettering {
  readonly vhost: string;
  /** The queue's name. */
  readonly queue: string;
  readonly exchange: string;
  /** Undefined: the one that the message has. */
  readonly routingKey: string | undefined;
}

/** What its arguments and policies ask of a queue, besides being durable. The primary acts on it. */
export interface QueueTraits {
  /** Its events count before they are on disk (`confirm: replicated`). */
  readonly relaxed: boolean;
  /** How long a message may be in it, in milliseconds; Infinity = for ever. */
  readonly ttlMs: number;
  /** How many ready messages it may have; Infinity = any number. */
  readonly lengthMax: number;
  /** Undefined: what it gives up is gone. */
  readonly deadLettering: DeadLettering | undefined;
}

export const noTraits: QueueTraits = {
  relaxed: false,
  ttlMs: Number.POSITIVE_INFINITY,
  lengthMax: Number.POSITIVE_INFINITY,
  deadLettering: undefined,
};
