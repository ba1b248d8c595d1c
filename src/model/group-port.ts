/**
 * The two sides of a group: its service, which runs on the primary only, and its clients, one on every node, which act for
 * that node's AMQP clients. On the primary's own node the two call each other directly; elsewhere a link carries the calls.
 *
 * An attachment is one node's tie to one primary in one epoch, with a number; calls of an older attachment are dropped
 * (rule 13). Everything a client has not had answered when an attachment ends, it says again on the next one:
 * publishes in order before any new one (rule 14), acks after naming what is held.
 */
import type { Chunk } from '../log/chunk.js';
import type { BodyId } from '../log/large.js';
import type { Lsn } from '../log/lsn.js';
import type { EnqueueView, MessageParts } from '../log/record.js';
import type { Arguments, Modification } from './broker.js';
import type { DeadLettering } from './queue/queue-traits.js';
import type { FilterDefinition } from './selection/message-filter.js';
import type { TerminusAnswer, TerminusOperation } from './terminus/operations.js';

/** Where the primary's service writes its events. */
export interface GroupAppender {
  /** Where the next record is to be encoded, after `reserve`. */
  readonly chunk: Chunk;
  readonly offset: number;
  /** Makes room for records of `bytes` bytes at `chunk`/`offset`, in one batch. */
  reserve(bytes: number): void;
  /**
   * Takes the record of `length` bytes that was encoded there into the log: sets its lsn and returns it. It is committed, and
   * applied to the group's state, in a later phase of this turn at the earliest. The next one is to be encoded behind it.
   */
  append(length: number): Lsn;
  /** Everything that `run` appends, with as many calls of `reserve` as it takes, comes into one batch. */
  together(run: () => void): void;
  /**
   * True if events that are not durable must be logged as well (other replicas follow). If false, a dequeue of a message
   * that is not durable may be applied to the state at once, without a record.
   */
  readonly replicated: boolean;
  /** The protocol version in use: records of newer kinds must not be written. */
  readonly version: number;
  /**
   * May events that ask for it count before they are on disk? Asked for each; if not now, it is seen to it that they may soon.
   */
  mayRelax(): boolean;
  /** The lease is valid now: deliveries and answers may go out (rule 11). To be asked in the turn of the write. */
  mayAct(): boolean;
}

/**
 * What the wiring hears of a queue's consumers, since it deletes auto-delete queues. `used`: it has its first one. `unused`: the
 * last one is gone. `idle`: some time after a takeover it has none, and only the wiring knows whether it ever had. `expired`: it was
 * not used for as long as that may be.
 */
export interface QueueUse {
  readonly kind: 'used' | 'unused' | 'idle' | 'expired';
  /** Is it so still? By the time that it can be said it may not be: the system group may have no primary for a while. */
  holds(): boolean;
}

/** How a subscription is refused whose queue moves to another group: it is to go on there. */
export const queueMoves = 'moves: the queue is on its way to another group';

export interface SubscribeOptions {
  consumerTag: string;
  noAck: boolean;
  exclusive: boolean;
  arguments: Arguments;
  credit: number;
  /** It was given messages before, by an older primary. */
  wasActive?: boolean;
  /** What it wants of the queue's messages (version 3). */
  filter?: FilterDefinition;
  /** It looks at messages and takes none (version 3); at those behind position `after`, as far as the queue has no priorities. */
  browses?: boolean;
  after?: number;
}

/** What a node's attachment may ask of the primary. No call answers by returning; answers come through GroupClientPort. */
export interface GroupServicePort {
  /**
   * Wiring that the service has applied: what is routed with newer wiring waits, copied, until it has (see `wiringReached`). -1 while
   * the group is being given away, when all has to wait.
   */
  readonly wiringVersion: number;
  /** Publishes of this node up to here were in the log before this attachment: whether a queue has refused them is not known. */
  readonly taken: number;
  /**
   * The publish with the next number of this node (its boot + sequence identify it). `wiringVersion`: the wiring it was routed
   * with; the service waits until it has applied that.
   */
  publish(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    sequence: number,
    wiringVersion: number,
  ): void;
  /**
   * What a transaction does in this group: the unit at `start` (model/unit.ts), whose number is this node's next one, as if it were a
   * publish. It is copied.
   */
  transact(bytes: Uint8Array, view: DataView, start: number, wiringVersion: number): void;
  /** The client is done with a message it held: it is dequeued. Idempotent. Counts for `settled`. */
  ack(incarnation: number, position: number): void;
  /** `delivered`: the client saw it, so it is flagged when it comes again. `isCounted`: default, as `delivered`. Counts for `settled`. */
  requeue(incarnation: number, position: number, delivered: boolean, isCounted?: boolean): void;
  /** As a requeue of what was delivered; and the client has noted something of it. Counts for `settled`. */
  modify(incarnation: number, position: number, modification: Modification): void;
  /** Refused for good. Counts for `settled`. */
  reject(incarnation: number, position: number): void;
  /** `subscriber`: the node's own number for it. Answered by `subscribed`. */
  subscribe(subscriber: number, incarnation: number, wiringVersion: number, options: SubscribeOptions): void;
  grant(subscriber: number, count: number): void;
  /** A subscription that browses could not take what it was sent, from that position on: it is to come again (version 3). */
  browseFrom(subscriber: number, position: number): void;
  /** Answered by `drained`, behind all that is delivered for the credit that it has. Nothing if it is not there. */
  drain(subscriber: number): void;
  /** Answered by `unsubscribed`; what it holds stays held by this node. */
  unsubscribe(subscriber: number): void;
  /** Answered by `got` or `gotNothing`. Held by `subscriber` number 0 unless noAck. */
  get(request: number, incarnation: number, wiringVersion: number, noAck: boolean): void;
  /** Answered by `counted`. `isUse`: the queue was used by that (`x-expires`). */
  count(request: number, incarnation: number, wiringVersion: number, isUse: boolean): void;
  /** Answered by `purged` when the dequeues are committed. `to`: the messages go there, as dead letters of the queue that is named. */
  purge(request: number, incarnation: number, wiringVersion: number, to?: DeadLettering): void;
  /** About a link that can be resumed. Answered by `terminusAnswered`. */
  terminus(request: number, incarnation: number, wiringVersion: number, operation: TerminusOperation): void;
  /** Asks for `count` parts of a large message's body, from index `from` on. Answered by as many `bodyPart`, or by `bodyGone`. */
  readBody(reader: number, id: BodyId, from: number, count: number): void;
  /**
   * The body is kept, also when its message is gone, until `doneWithBody`: so it is without asking for each large message that is
   * delivered or got, as long as the attachment lasts and some seconds.
   */
  holdBody(id: BodyId): void;
  doneWithBody(id: BodyId): void;
  /**
   * Of the bodies that this node has sent, with numbers up to `last`, those in `open` may not be complete, or end with the publish of that
   * sequence (Infinity: with one to come); said first of all.
   */
  openUploads(last: number, open: ReadonlyMap<number, number>): void;
}

/** What the primary tells a node's attachment. */
export interface GroupClientPort {
  /** Of our own node's: queues whose publishers wait since the last primary has said so. Of other nodes' none. */
  readonly stopped: Iterable<Lsn>;
  /** The way to the node is full: no deliveries before `GroupService.drained` was called for it. Other answers are few. */
  readonly congested: boolean;
  /** `wiringVersion` has grown. */
  wiringReached(): void;
  /**
   * All publishes of this node up to `sequence` are safe on every in-sync replica. Cumulative. `inSync`: members of the smallest
   * set that may be recorded now (rule 21), all of which have them.
   */
  confirmed(sequence: number, inSync: number): void;
  /**
   * The publish with that number was refused by a queue that is full; said before it is `confirmed`, which then means that it was
   * dealt with.
   */
  rejected(sequence: number): void;
  /**
   * Publishers to the queues are to wait, or may go on. `isWhole`: those to all other queues of the group may go on. To be noted at
   * once, not once a turn.
   */
  flow(incarnations: readonly Lsn[], isStopped: boolean, isWhole: boolean): void;
  /** The first `count` settlements (ack, requeue, reject) of this attachment are committed. Cumulative. */
  settled(count: number): void;
  /** The view is valid during the call only. `returns`: how often it came back, where that is counted. */
  deliver(
    subscriber: number,
    incarnation: number,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void;
  /** `refusal`: '' or '<kind>: text', kinds as in Refusal. */
  subscribed(subscriber: number, refusal: string): void;
  unsubscribed(subscriber: number): void;
  /** There was no more for it. */
  drained(subscriber: number): void;
  /** The service ended the subscription: its queue is gone. */
  cancelled(subscriber: number, reason: string): void;
  got(
    request: number,
    incarnation: number,
    position: number,
    redelivered: boolean,
    remaining: number,
    message: EnqueueView,
    returns: number,
  ): void;
  /** `refusal`: '' = empty. */
  gotNothing(request: number, refusal: string): void;
  counted(request: number, ready: number, unacknowledged: number, consumers: number): void;
  purged(request: number, count: number, refusal: string): void;
  terminusAnswered(request: number, answer: TerminusAnswer): void;
  /** A part of a body: bytes [start, end), valid during the call only. */
  bodyPart(reader: number, index: number, bytes: Uint8Array, start: number, end: number): void;
  /** There is no such part any more. */
  bodyGone(reader: number): void;
}

/** What a node says of a message on re-attaching. */
export const Naming = {
  /** A client of it has the message, or is done with it and says so again. */
  held: 0,
  /** A client gives it back, who saw it. */
  returned: 1,
  /** It goes back unseen. */
  released: 2,
  /** A client gives it back, who saw it; it does not count. From version 3 on. */
  putBack: 3,
} as const;
export type Naming = (typeof Naming)[keyof typeof Naming];

/** One message that a node's client holds, or gives back, named on re-attaching. */
export interface HeldMessage {
  incarnation: number;
  position: number;
  naming: Naming;
}
