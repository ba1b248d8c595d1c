/**
 * What the clients did and saw, in order. Checkers listen to it and judge; it judges nothing itself.
 *
 * A delivery is recorded when the node hands it to its client's socket, since from then on the client may see it; what the
 * client does with it is recorded when the client does it, before the node hears of it. So the history never claims more than
 * a client could know.
 */
import type { ClientTransaction } from './client/transaction.js';
import type { EventLoop } from './event-loop.js';
import { type Labels, noLabels, plainKind, type QueueKind } from './queue-kind.js';

/** An excuse for what is durable, too: it may be sent again by its publisher's node although it was consumed. */
export const lostByOverride = 'an operator did not wait for who had it';

/** One time a publisher handed a message to a node. */
export interface Send {
  at: number;
  node: string;
  /** When the node took it (routed and published it), -1 if it never did. */
  takenAt: number;
  /** Queues it was routed to then; -1 = it is routed later. */
  queueCount: number;
}

/** A message as its publisher knows it. Numbers begin at 1 for each publisher and are sent in order. */
export class Message {
  readonly publisher: string;
  readonly number: number;
  readonly persistent: boolean;
  /** Queues it is meant for, when it was first sent. */
  readonly copies: Copy[];
  readonly sends: Send[] = [];
  confirmedAt = -1;
  /** For so long it is to wait before it goes to its queues. */
  readonly delayMs: number;
  readonly labels: Labels;

  constructor(
    publisher: string,
    number: number,
    persistent: boolean,
    queues: readonly QueueLife[],
    delayMs: number = 0,
    labels: Labels = noLabels,
  ) {
    this.delayMs = delayMs;
    this.labels = labels;
    this.publisher = publisher;
    this.number = number;
    this.persistent = persistent;
    this.copies = queues.map((queue) => new Copy(this, queue));
  }

  toString(): string {
    return `${this.publisher}#${this.number}`;
  }
}

/** A message in one queue. */
export class Copy {
  readonly message: Message;
  readonly queue: QueueLife;
  readonly deliveries: Delivery[] = [];
  /** When a client first took it for good: acked or rejected it, or got it without having to. -1 = not yet. */
  takenAt = -1;
  /** When its dequeue was seen committed; -1 = not yet. */
  settledAt = -1;
  /** May have been lost by what the clients or the faults did, for the reason given; '' = it must be there. */
  excuse = '';

  constructor(message: Message, queue: QueueLife) {
    this.message = message;
    this.queue = queue;
  }

  get durable(): boolean {
    return this.message.persistent && this.queue.durable && !this.queue.relaxed;
  }

  toString(): string {
    return `${this.message} in ${this.queue.name}`;
  }
}

export type DeliveryState = 'held' | 'acked' | 'rejected' | 'requeued' | 'dropped';

/** What is known of a delivery when it is made. */
export interface DeliveryFacts {
  readonly copy: Copy;
  readonly at: number;
  readonly node: string;
  /** Distinguishes consumers (and gets) of all connections. */
  readonly consumer: number;
  /** Life of the queue's name when that consumer asked for the queue. */
  readonly consumerLife: number;
  /** Identity of the queue as the node knows it, 0 = unknown; with the position it identifies the message for ever. */
  readonly incarnation: number;
  readonly position: number;
  readonly redelivered: boolean;
  readonly noAck: boolean;
  /** The queue's group, -1 = unknown, and the epoch of the primary that sent it as far as its node knows, 0 = unknown. */
  readonly group: number;
  readonly epoch: number;
  /** The node's attachment to that primary: another object after each time that their link was lost. */
  readonly attachment: unknown;
  /** How often it came back, as the node was told. */
  readonly returns: number;
  /** What clients have noted of it, as it came with it; 0 = nothing. */
  readonly note: number;
}

/** A message handed to a client. */
export class Delivery {
  readonly facts: DeliveryFacts;
  /** `dropped`: its consumer, channel or connection ended before the client settled it. */
  state: DeliveryState = 'held';
  /** What the client noted when it gave it back; 0 = nothing. */
  note = 0;
  /** When the client settled or lost it; -1 = it holds it. */
  endedAt = -1;
  /** When the client saw it; -1 = never. */
  receivedAt = -1;

  constructor(facts: DeliveryFacts) {
    this.facts = facts;
  }

  get copy(): Copy {
    return this.facts.copy;
  }
  get position(): number {
    return this.facts.position;
  }

  /** The same message of the same queue; not a second copy of what its publisher sent again. */
  isSameMessage(other: Delivery): boolean {
    const { position, incarnation } = this.facts;
    if (position !== other.facts.position) return false;
    return incarnation === other.facts.incarnation || incarnation === 0 || other.facts.incarnation === 0;
  }

  toString(): string {
    const { copy, node, consumer, position, redelivered, group, epoch, at, returns } = this.facts;
    const flag = (redelivered ? ', redelivered' : '') + (returns > 0 ? `, came back ${returns} times` : '');
    return `${copy} (group ${group}) at ${position} to consumer ${consumer} of ${node}${flag}, epoch ${epoch}, ${at.toFixed(2)} ms, ${this.state}`;
  }
}

/** One life of a queue's name, from a declaration to a deletion. */
export class QueueLife {
  readonly name: string;
  readonly life: number;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly declaredFrom: number;
  /** When the declaration was confirmed; -1 = it was not, or not yet. */
  declaredAt = -1;
  /** When the deletion was asked for, and confirmed; -1 = not. */
  deletedFrom = -1;
  deletedAt = -1;
  /** Its client left while nothing failed, and its group was not lost from memory since; the queue has no reason to stay. */
  leftInPeace = false;
  /** When a consumer last ended: what was on its way to it goes back, flagged though no client saw it. */
  consumerEndedAt = -1;
  /** Somebody takes its messages without acknowledgement: what is on its way to him is lost with his node or its link. */
  atMostOnce = false;
  /** When all that knew of it, not being durable, was lost with the last in-sync replica; -1 = never. */
  lostAt = -1;
  /** Why what is published to it now may be gone; '' = it must not be. */
  publishExcuse = '';
  /** The declaration itself may have been lost, for the reason given. */
  excuse = '';
  /** What happens to it may count before it is on disk. */
  relaxed = false;
  /** It moves between groups: its messages have other positions there. */
  moves = false;
  /** What leaves it unconsumed goes to another queue; or comes from another one so. */
  dies = false;
  isGrave = false;
  /** Messages come to it when they have waited for their time. */
  isLate = false;
  /** What was in it and not durable may have been lost, with the last intact replica of its group. */
  transientLost = false;
  /** An operator accepted the loss of what its group had done: a message may have died twice. */
  rolledBack = false;
  readonly copies: Copy[] = [];
  kind: QueueKind = plainKind;
  /** It goes when it was not used for so long, in milliseconds; and nobody uses it any more. 0 = it stays. */
  unusedMs = 0;
  isAbandoned = false;

  /** All that is in it now may be lost, for the reason given. */
  excuseAll(reason: string): void {
    for (const copy of this.copies) if (copy.excuse === '') copy.excuse = reason;
  }

  constructor(
    name: string,
    life: number,
    options: { durable: boolean; exclusive: boolean; autoDelete: boolean },
    at: number,
  ) {
    this.name = name;
    this.life = life;
    this.durable = options.durable;
    this.exclusive = options.exclusive;
    this.autoDelete = options.autoDelete;
    this.declaredFrom = at;
  }
}

/** A consumer. */
export interface Asker {
  readonly id: number;
  readonly queue: string;
  /** Those with more are given messages first. */
  readonly priority?: number;
}

/** Listens to the history. Each checker looks at what it needs. */
export interface HistoryListener {
  sent?(message: Message, send: Send): void;
  taken?(message: Message, send: Send): void;
  confirmed?(message: Message, node: string): void;
  delivered?(delivery: Delivery): void;
  settled?(delivery: Delivery): void;
  /** The node has told its client that the message is not safe, and may be in no queue. */
  refused?(message: Message, node: string): void;
  /** A client has asked for so many more messages, of a queue of its consumer; or has ended that, as far as it goes for itself. */
  asked?(consumer: Asker, count: number): void;
  ended?(consumer: Asker): void;
  /** What the group did since then may be undone. */
  rolledBack?(group: number, since: number): void;
}

export class History {
  readonly messages: Message[] = [];
  readonly transactions: ClientTransaction[] = [];
  readonly queues: Map<string, QueueLife[]> = new Map();
  /** Of clients: connections, requests, publishes, settlements, and deliveries that need none. */
  operations = 0;
  /** True while nothing has failed: before the first fault, and after the last when all has converged. */
  quiet = true;
  /** Since when. */
  quietSince = 0;
  private readonly loop: EventLoop;
  private readonly listeners: HistoryListener[] = [];
  private readonly byName = new Map<string, Message>();

  constructor(loop: EventLoop) {
    this.loop = loop;
  }

  /** Something fails from now on. */
  disturb(): void {
    this.quiet = false;
  }

  /** All has healed and converged. */
  calm(): void {
    this.quiet = true;
    this.quietSince = this.loop.now;
  }

  listen(listener: HistoryListener): void {
    this.listeners.push(listener);
  }

  queue(life: QueueLife): void {
    const lives = this.queues.get(life.name);
    if (lives === undefined) this.queues.set(life.name, [life]);
    else lives.push(life);
  }

  /** The newest life of a name. */
  newestLife(name: string): QueueLife | undefined {
    return this.queues.get(name)?.at(-1);
  }

  message(message: Message): void {
    this.messages.push(message);
    this.byName.set(message.toString(), message);
    for (const copy of message.copies) {
      copy.queue.copies.push(copy);
      copy.excuse = copy.queue.publishExcuse;
    }
  }

  find(publisher: string, number: number): Message | undefined {
    return this.byName.get(`${publisher}#${number}`);
  }

  sent(message: Message, node: string): Send {
    this.operations++;
    const send: Send = { at: this.loop.now, node, takenAt: -1, queueCount: 0 };
    message.sends.push(send);
    for (const listener of this.listeners) listener.sent?.(message, send);
    return send;
  }

  /** The node has routed and published it. */
  taken(message: Message, send: Send, queueCount: number): void {
    send.takenAt = this.loop.now;
    send.queueCount = queueCount;
    for (const listener of this.listeners) listener.taken?.(message, send);
  }

  /** The node has told its client that the message is safe. */
  confirmed(message: Message, node: string): void {
    if (message.confirmedAt < 0) message.confirmedAt = this.loop.now;
    this.loop.note(message.number);
    for (const listener of this.listeners) listener.confirmed?.(message, node);
  }

  refused(message: Message, node: string): void {
    for (const listener of this.listeners) listener.refused?.(message, node);
  }

  asked(consumer: Asker, count: number): void {
    for (const listener of this.listeners) listener.asked?.(consumer, count);
  }

  ended(consumer: Asker): void {
    for (const listener of this.listeners) listener.ended?.(consumer);
  }

  delivered(delivery: Delivery): void {
    this.loop.note(delivery.copy.message.number);
    delivery.copy.deliveries.push(delivery);
    if (delivery.facts.noAck) {
      this.operations++;
      this.take(delivery.copy);
    }
    for (const listener of this.listeners) listener.delivered?.(delivery);
  }

  /** The client settles what it was given, or loses it with its connection. */
  settle(delivery: Delivery, state: DeliveryState): void {
    if (delivery.state !== 'held') return;
    delivery.state = state;
    delivery.endedAt = this.loop.now;
    if (state !== 'dropped') this.operations++;
    // What is rejected where messages die is somewhere else then.
    if (state === 'acked' || (state === 'rejected' && !delivery.copy.queue.dies)) this.take(delivery.copy);
    for (const listener of this.listeners) listener.settled?.(delivery);
  }

  /**
   * An operator accepts the loss of what the group `isOf` tells of has done since then. What was confirmed before must still be there.
   */
  rollBack(group: number, isOf: (queue: QueueLife) => boolean, since: number): void {
    for (const lives of this.queues.values()) for (const life of lives) life.rolledBack ||= isOf(life);
    for (const { copies, confirmedAt } of this.messages)
      for (const copy of copies)
        if (isOf(copy.queue) && copy.excuse === '' && (confirmedAt < 0 || confirmedAt > since))
          copy.excuse = lostByOverride;
    for (const listener of this.listeners) listener.rolledBack?.(group, since);
  }

  private take(copy: Copy): void {
    if (copy.takenAt < 0) copy.takenAt = this.loop.now;
  }
}
