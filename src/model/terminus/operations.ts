import type { Lsn } from '../../log/lsn.js';

/**
 * A delivery of a link that can be resumed. Of a link on which the client sends its tag, a character for each byte; of one on which it
 * receives the message's position, of which the tag is made (`tagOf`).
 */
export type UnsettledKey = string | Lsn;

/** What becomes of messages that a link has acquired. `putBacks`: that they come back does not count. `releases`: the client did not see them. */
export interface AcquiredOutcomes {
  readonly acks: readonly Lsn[];
  readonly rejects: readonly Lsn[];
  readonly requeues: readonly Lsn[];
  readonly putBacks: readonly Lsn[];
  readonly releases: readonly Lsn[];
}

export const noOutcomes: AcquiredOutcomes = { acks: [], rejects: [], requeues: [], putBacks: [], releases: [] };

/** What a terminus is, as its record in the group's log has it. */
export interface TerminusInfo {
  /** vhost, user, container, direction and name of the link: whoever says the same means the same link. */
  readonly key: string;
  /** Incarnation of its queue, which is of this group. */
  readonly queue: Lsn;
  readonly durable: boolean;
  /** The client receives. */
  readonly toClient: boolean;
  /** It is forgotten when it was not attached for so long; -1 = never. */
  readonly timeoutMs: number;
}

/**
 * What nodes ask of a terminus. `attach` is the present attachment of its link, `BOOT.NUMBER` of the node: of an older one nothing counts any
 * more, once the log has a later one's attach.
 */
export type TerminusOperation =
  | { kind: 'attach'; attach: string; info: TerminusInfo; outcomes: AcquiredOutcomes }
  /** Of the link on which the client sends: which of these are there? */
  | { kind: 'check'; id: string; attach: string; tags: readonly string[] }
  /** The client has settled them. */
  | { kind: 'forget'; id: string; attach: string; tags: readonly string[] }
  /** The node holds these messages for the link: from now on it has them, whatever becomes of the node. */
  | { kind: 'acquire'; id: string; attach: string; positions: readonly Lsn[] }
  | { kind: 'settle'; id: string; attach: string; outcomes: AcquiredOutcomes }
  /** These are to be delivered once more to the node's subscriber. */
  | { kind: 'again'; id: string; attach: string; subscriber: number; positions: readonly Lsn[] }
  /** The link is detached. `ends`: for good. */
  | { kind: 'detach'; id: string; attach: string; ends: boolean };

export interface TerminusAnswer {
  /** '' or '<kind>: text', kinds as in Refusal. */
  readonly refusal: string;
  readonly id: string;
  /** The link is attached elsewhere, or forgotten: nothing was done. */
  readonly isOver: boolean;
  /** attach: all that is unsettled. check: those that are there. acquire: those that the link has now. */
  readonly keys: readonly UnsettledKey[];
}
