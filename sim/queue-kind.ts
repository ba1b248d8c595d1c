/**
 * What a queue of the workload does besides keeping what it is given: what its checkers judge it by. A message's labels are what such
 * a queue looks at.
 */
export interface QueueKind {
  /** Priorities up to this one; 0 = it has none. */
  readonly priorityMax?: number;
  /** Messages with the same key are worked on by one client at a time. */
  readonly isGrouped?: boolean;
  /** Its consumers want messages of one key each. */
  readonly isChosen?: boolean;
  /** It keeps the newest message of each key. */
  readonly keepsNewest?: boolean;
  /** It gives up its oldest messages beyond so many. */
  readonly lengthMax?: number;
  /** It refuses messages beyond so many. */
  readonly refusesOver?: number;
  /** A message may come back so often. */
  readonly returnsMax?: number;
  /** Clients note something of messages that they give back. */
  readonly isNoted?: boolean;
  /** One consumer at a time is given messages. */
  readonly isSingle?: boolean;
  /** Its consumers have priorities. */
  readonly hasPreferences?: boolean;
  /** How long a message may be in it, in milliseconds. */
  readonly ttlMs?: number;
  /** Messages may expire by themselves. */
  readonly isBrief?: boolean;
}

export const plainKind: QueueKind = {};

export interface Labels {
  /** 0 to 255. */
  readonly priority: number;
  /** 1 to 255, by which queues tell messages apart; 0 = none. */
  readonly key: number;
  /** For so long it may be in a queue, in milliseconds; 0 = for ever. */
  readonly lifeMs: number;
}

export const noLabels: Labels = { priority: 0, key: 0, lifeMs: 0 };

/** Messages may leave it though nobody took them. */
export function givesUp({ keepsNewest, lengthMax, ttlMs, isBrief, returnsMax }: QueueKind): boolean {
  return keepsNewest === true || isBrief === true || (lengthMax ?? ttlMs ?? returnsMax) !== undefined;
}

/**
 * Messages of one class come in the order of their positions; those of different classes need not.
 */
export function orderClass(kind: QueueKind, labels: Labels): number {
  if (kind.priorityMax !== undefined) return Math.min(labels.priority, kind.priorityMax);
  return kind.isGrouped === true || kind.isChosen === true ? labels.key : 0;
}
