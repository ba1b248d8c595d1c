/** Links that can be resumed, as a protocol sees them (docs/adr/0013). */
import type { Lsn } from '../../log/lsn.js';
import type { MessageParts } from '../../log/record.js';
import type { PublishOwner, Subscription } from '../broker.js';
import type { AcquiredOutcomes, UnsettledKey } from './operations.js';

export { type AcquiredOutcomes, noOutcomes, type UnsettledKey } from './operations.js';

/** For how long a terminus may be asked to be kept, in seconds; longer wishes are for this. */
export const terminusSecondsMax: number = 7 * 24 * 3600;

export interface TerminusRequest {
  readonly vhost: string;
  readonly queue: string;
  readonly user: string;
  /** As the client's open has it. */
  readonly container: string;
  readonly link: string;
  /** The client receives. */
  readonly toClient: boolean;
  /** How long it is kept while it is not attached; -1 = for ever. */
  readonly timeoutMs: number;
  /** What the client says of deliveries that it has. */
  readonly outcomes: AcquiredOutcomes;
}

export interface TerminusPort {
  /**
   * Attaches the link, here and nowhere else from now on. Undefined: links of that queue cannot be resumed (it goes with a connection, or is
   * on its way to other nodes). Rejects with RefusedError.
   */
  attach(request: TerminusRequest): Promise<Terminus | undefined>;
}

/** Whose a terminus is: told in later turns. */
export interface TerminusOwner {
  /** The link is attached elsewhere, or forgotten. */
  isOver(): void;
  /** The message that the node held is the link's, or (`isTaken` false) somebody else's. */
  acquired(position: Lsn, isTaken: boolean): void;
  /** What was said of them is safe on every in-sync replica. */
  settled(positions: readonly Lsn[]): void;
  /** The broker did not answer: what became of what was asked is not known. */
  lost(error: Error): void;
}

/** The broker's end of a link while it is attached. What is asked of it in one turn goes out together. */
export interface Terminus {
  /** Deliveries without end when it was attached. */
  readonly unsettled: readonly UnsettledKey[];
  owner: TerminusOwner | undefined;
  /** Sends a message to the queue, and notes with it that its delivery is not settled. `owner` as in Broker.publish, one part. */
  publish(parts: MessageParts, tag: string, owner: PublishOwner, number: number): void;
  /** Is the message with that tag there? */
  isThere(tag: string): Promise<boolean>;
  /** The client has settled it. */
  forget(tag: string): void;
  /** The node's subscription holds the message: the link is to have it. Answered by `acquired`. */
  acquire(position: Lsn): void;
  /** Answered by `settled`. */
  settle(kind: keyof AcquiredOutcomes, position: Lsn): void;
  /** Has what the link holds delivered once more to that subscription of its queue. */
  again(subscription: Subscription, positions: readonly Lsn[]): void;
  /** The link is detached. `ends`: for good, and what it holds goes back. Nobody is told of anything any more. */
  detach(ends: boolean): void;
}
