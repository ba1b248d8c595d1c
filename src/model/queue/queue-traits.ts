/** Where what a queue gives up goes, and what is to be noted of it there. */
export interface DeadLettering {
  readonly vhost: string;
  /** The queue's name. */
  readonly queue: string;
  readonly exchange: string;
  /** Undefined: the one that the message has. */
  readonly routingKey: string | undefined;
}

/** What a full queue does with a message more; as `x-overflow` names it. */
export const Overflow = {
  /** Its oldest messages make room. */
  dropHead: 'drop-head',
  /** The new one is refused. */
  rejectPublish: 'reject-publish',
  /** It is refused, and is a dead letter. */
  rejectPublishDlx: 'reject-publish-dlx',
  /** Of all that it has with the new one, the oldest of the lowest priority goes. */
  dropLowest: 'drop-lowest',
} as const;
export type Overflow = (typeof Overflow)[keyof typeof Overflow];

/** A full queue refuses messages, instead of letting go of what it has. */
export function refusesMore(overflow: Overflow): boolean {
  return overflow === Overflow.rejectPublish || overflow === Overflow.rejectPublishDlx;
}

/** Depths of a queue, in messages and bytes of their bodies, at which its publishers are to wait, and to go on. Infinity = never. */
export interface FlowLimits {
  /** Above one of these they wait. */
  readonly stopCount: number;
  readonly stopBytes: number;
  /** Below both of these they go on. */
  readonly resumeCount: number;
  readonly resumeBytes: number;
}

/** What its arguments and policies ask of a queue, besides being durable. The primary acts on it. */
export interface QueueTraits {
  /** Its events count before they are on disk (`confirm: replicated`). */
  readonly relaxed: boolean;
  /** How long a message may be in it, in milliseconds; Infinity = for ever. */
  readonly ttlMs: number;
  /** How many ready messages it may have, and bytes of their bodies; Infinity = any number. */
  readonly lengthMax: number;
  readonly bytesMax: number;
  readonly overflow: Overflow;
  /** Undefined: nobody waits for it. */
  readonly flow: FlowLimits | undefined;
  /** How many messages of each priority go out in a row, at most, while others wait; 0 = all. Undefined: higher ones always go first. */
  readonly fairShares: readonly number[] | undefined;
  /** How long it may be without use, in milliseconds; Infinity = for ever. */
  readonly unusedMs: number;
  /** Undefined: what it gives up is gone. */
  readonly deadLettering: DeadLettering | undefined;
  /** One consumer at a time is given messages, as long as it stays. */
  readonly singleActive: boolean;
  /** The header by which it keeps the last message of each value only; undefined: it keeps all. */
  readonly lastValueKey: string | undefined;
  /** The header by which messages belong to groups, each worked on by one client at a time; undefined: they do not. */
  readonly groupKey: string | undefined;
  /** How often a message may come back; Infinity = for ever. */
  readonly returnsMax: number;
  /** Clients are told how often a message came back. */
  readonly countsReturns: boolean;
}

const forEver = Number.POSITIVE_INFINITY;

export const noTraits: QueueTraits = {
  relaxed: false,
  ttlMs: forEver,
  lengthMax: forEver,
  bytesMax: forEver,
  overflow: Overflow.dropHead,
  flow: undefined,
  fairShares: undefined,
  unusedMs: forEver,
  deadLettering: undefined,
  singleActive: false,
  lastValueKey: undefined,
  groupKey: undefined,
  returnsMax: forEver,
  countsReturns: false,
};

/** The queue gives something up by itself, or goes by itself, or has its publishers wait. */
export function needsCare({ ttlMs, lengthMax, bytesMax, unusedMs, lastValueKey, flow }: QueueTraits): boolean {
  if (lastValueKey !== undefined || flow !== undefined) return true;
  return Math.min(ttlMs, lengthMax, bytesMax, unusedMs) !== forEver;
}
