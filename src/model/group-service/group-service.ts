/**
 * What the primary does with a group's queues, for one epoch: it takes its nodes' publishes and settlements into the log, and
 * gives out what is committed. It is made when everything that the log had at the takeover is committed and applied (rule 4),
 * and closed when the primary is deposed; then everything here is forgotten, and the state stays as committed.
 *
 *   publish, ack ──→ log ··· commit ──→ GroupState ──→ flush: answers, deliveries
 *
 * Input changes nothing that a client could see; `flush`, once or more at the end of each turn, sends what has become due,
 * and only under a valid lease (rule 11). What may not be sent stays due until `touch` is called under one.
 *
 * Decided here:
 * - Until the gate opens (rule 13) gets and purges wait as deliveries do, for an answer would pass over messages that others
 *   hold; counts are answered, and take such messages for ready.
 * - Gets, counts and purges are carried out when all that was in the log before them is committed.
 * - A publish into queues that are all gone is safe once its number is in the log: a record without message keeps it there.
 * - Consumers of a node whose link is lost keep their queue in use and exclusive until the node attaches again or is dead.
 */
import type { Logger } from '../../base/logger.js';
import { allRules, type Rules } from '../../base/rules.js';
import { SlicedWalk } from '../../base/slices.js';
import { type Flushable, Phase } from '../../base/turn.js';
import type { Chunk } from '../../log/chunk.js';
import { epochStart, type Lsn } from '../../log/lsn.js';
import { type HeaderCodec, opaqueHeaders } from '../dead-letter/death.js';
import type { GroupAppender, GroupClientPort, GroupServicePort, HeldMessage, QueueUse } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import type { DeadLettering } from '../queue/queue-traits.js';
import { Answers } from './answers.js';
import { type Attachment, AttachmentState } from './attachment.js';
import { Attachments, walkSlice } from './attachments.js';
import { BodyReads } from './body-reads.js';
import { DequeueLog } from './dequeue-log.js';
import { Dispatcher } from './dispatcher.js';
import { Expiry } from './expiry.js';
import { Flows } from './flows.js';
import { HandOverWriter, type QueueHandOver } from './hand-over.js';
import { LargeLog } from './large-log.js';
import { Leases } from './lease.js';
import { LogWaits } from './log-waits.js';
import { OutboxLog } from './outbox-log.js';
import { PublishLog } from './publish-log.js';
import { Purges } from './purges.js';
import { QueueCare } from './queue-care.js';
import { QueueUses } from './queue-uses.js';
import { ReturnLog } from './return-log.js';
import { ServedQueue } from './served-queue.js';
import { ServiceGate } from './service-gate.js';
import type { GroupServiceOptions, NodeUse } from './service-options.js';
import { ServiceTimers } from './service-timers.js';
import { Termini } from './termini.js';
import { allPlain, TraitsOf } from './traits-of.js';
import { UnitLog } from './unit-log.js';

export class GroupService implements Flushable {
  readonly state: GroupState;
  readonly epoch: number;
  readonly rules: Rules;
  /** Messages before this one may have been handed out by older epochs (rule 13). The same for all queues, as long as this lives. */
  readonly flagBefore: Lsn;
  readonly logger: Logger;
  readonly headers: HeaderCodec;
  /** Wiring up to here is in the group's state, and known to this node, which must know of a queue what it asks of messages. */
  wiringVersion: Lsn;
  /** For attachments: takes publishes into the log. */
  readonly publishes: PublishLog;
  /** For attachments: takes transactions into the log. */
  readonly units: UnitLog;
  /** For attachments and queues: tells the wiring of consumers. */
  readonly uses: QueueUses;
  /** For queues: what is asked of them, and when their first message expires. */
  readonly traits: TraitsOf;
  readonly expiry: Expiry;
  /** For queues: how long they go without use. */
  readonly leases: Leases;
  /** For queues: counts what came back. */
  readonly returns: ReturnLog;
  /** For queues and units. */
  readonly timers: ServiceTimers;
  /** For queues: has their publishers wait. */
  readonly flows: Flows;
  /** For queues: takes what they give up. */
  readonly outbox: OutboxLog;
  /** For publishes and deliveries: bodies of large messages. */
  readonly large: LargeLog;
  readonly reads: BodyReads;
  /** For attachments and units: links that can be resumed. */
  readonly termini: Termini;
  private readonly options: GroupServiceOptions;
  private readonly appender: GroupAppender;
  private readonly attachments = new Attachments(this);
  private readonly queues = new Set<ServedQueue>();
  private committedLsn: Lsn;
  private readonly gate: ServiceGate;
  private isClosed = false;
  private paused = false;
  private isTouched = false;
  private readonly dequeues: DequeueLog;
  private readonly answers = new Answers();
  readonly dispatcher: Dispatcher;
  private readonly purges: Purges;
  private readonly care: QueueCare;
  private readonly waits = new LogWaits();

  constructor(options: GroupServiceOptions) {
    this.options = options;
    this.state = options.state;
    this.appender = options.appender;
    this.epoch = options.epoch;
    this.logger = options.logger;
    this.headers = options.headers ?? opaqueHeaders;
    this.rules = options.rules ?? allRules;
    this.flagBefore = this.rules.flagOld ? (options.handedOver?.flagBefore ?? epochStart(options.epoch)) : 0;
    this.timers = new ServiceTimers(options.clock);
    const { traits = allPlain } = options;
    this.traits = new TraitsOf(traits);
    this.expiry = new Expiry(options.clock);
    this.leases = new Leases(options.clock, (queue) => {
      if (this.rules.unusedGoes) this.uses.leaseOver(queue);
    });
    this.dequeues = new DequeueLog(options.state, options.appender, this.traits, this.rules);
    this.returns = new ReturnLog(options.appender, options.state.returns, this.rules, this.headers);
    const touch = (): void => this.touch();
    const served = (incarnation: Lsn): ServedQueue | undefined => this.served(incarnation);
    const isPaused = (): boolean => this.paused;
    const loaded = (queue: ServedQueue, chunk: Chunk): void => this.loaded(queue, chunk);
    const { attachments, dequeues, answers, rules, headers } = this;
    const { after } = this.timers;
    this.outbox = new OutboxLog({ ...options, rules, headers, isPaused, touch, loaded, after });
    const published = (): Lsn => this.publishes.last;
    const walk = (steps: Iterator<number, void>): void => this.walk(steps);
    this.large = new LargeLog({ ...options, rules, touch, after, published, walk });
    this.reads = new BodyReads({ ...options, touch, after });
    this.dispatcher = new Dispatcher(options.state, touch);
    this.purges = new Purges(this, answers, () => this.isClosed);
    this.care = new QueueCare(this);
    this.flows = new Flows(this, attachments, options.appender, rules);
    const { outbox, flows, large } = this;
    this.publishes = new PublishLog({ ...options, traits: this.traits, rules, outbox, flows, large }, served);
    this.termini = new Termini({ ...options, service: this, attachments, dequeues, answers, gate: () => this.gate });
    this.units = new UnitLog(options.appender, this);
    this.wiringVersion = Math.min(options.state.wiringVersion, traits.wiringVersion);
    this.committedLsn = options.state.applied;
    this.gate = new ServiceGate(this, this.termini, !rules.waitReattach, options.handedOver, () => {
      this.care.begin();
      this.flows.begin();
      this.uses.opened(options.tookOver);
      this.large.begin((boot) => this.attachments.has(boot));
      this.touch();
    });
    const queueUse = (incarnation: Lsn, use: QueueUse): void => options.queueUse(incarnation, use);
    this.uses = new QueueUses({ ...options, queueUse, walk, after, isClosed: () => this.isClosed }, this.gate.isOpen);
  }

  // ---- what replication tells ----

  /** Everything up to `lsn` is committed and applied to the state. */
  committed(lsn: Lsn): void {
    if (lsn > this.committedLsn) this.committedLsn = lsn;
    this.waits.committed(lsn, (version) => this.wiringReached(version));
    this.touch();
  }

  /**
   * The wiring up to `version` is committed, and the opens and drops that it means for this group are in its log, not after
   * `after`. Operations that were routed with it go on when that is committed.
   */
  advanceWiring(version: Lsn, after: Lsn): void {
    if (!this.waits.awaitWiring(version, after, this.committedLsn)) this.wiringReached(version);
  }

  /** Opens the gate: all live nodes have attached, or the leases of those that have not are gone (rule 13). */
  open(): void {
    this.gate.open();
  }

  /** Members of the smallest in-sync set that may be recorded: the nodes gate their clients' confirms with it (rule 21). */
  inSync = 1;

  // ---- giving the group away (rule 20) ----

  /** Takes nothing in and gives nothing out any more: calls wait, in order, until `resume`, or are lost with `close`. */
  pause(): void {
    this.paused = true;
    this.touch();
  }

  /** The group stays here after all. */
  resume(): void {
    this.paused = false;
    this.purges.resume();
    for (const attachment of this.attachments.values()) attachment.catchUp();
    this.touch();
  }

  get isPaused(): boolean {
    return this.paused;
  }

  /** Deliveries go out: all live nodes have attached. */
  get isServing(): boolean {
    return this.gate.isOpen;
  }

  /** Once it is paused: everything that was taken in is in the log, and answered if that is committed. */
  get isDrained(): boolean {
    return (
      this.gate.isOpen &&
      this.paused &&
      !this.isTouched &&
      this.purges.isIdle &&
      this.dequeues.isIdle &&
      this.outbox.isIdle &&
      this.returns.isIdle &&
      this.termini.isIdle &&
      this.waits.isEmpty &&
      this.attachments.isQuiet
    );
  }

  /** Once it is drained: what the next primary must know. `done` is called with its pieces, now or in a later turn. */
  writeHandOver(done: (pieces: readonly Uint8Array[]) => void): void {
    const writer = new HandOverWriter(this.flagBefore);
    new SlicedWalk(this.handingOver(writer), walkSlice, this.state.slices, () => done(writer.end()));
  }

  private *handingOver(writer: HandOverWriter): Generator<number, void> {
    for (const queue of this.queues) for (const work of queue.writeHandOver(writer)) yield work;
  }

  /** What was passed on of a queue. */
  handedOver(incarnation: Lsn): QueueHandOver | undefined {
    return this.options.handedOver?.queues.get(incarnation);
  }

  /** Has every node told again how many are in sync. */
  sayInSync(): void {
    this.attachments.answerAgain();
    this.touch();
  }

  /** Has `flush` run at the end of this turn. To be called as well when the lease is valid again. */
  touch(): void {
    if (this.isTouched || this.isClosed) return;
    this.isTouched = true;
    this.options.turn.add(Phase.log, this);
  }

  /** The primary was deposed. Forgets everything volatile; nothing is called any more. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.attachments.closeAll();
    for (const queue of this.queues) {
      queue.gone = true;
      queue.state.watcher = undefined;
      queue.state.index.resetVolatile();
    }
    this.timers.close();
    this.dispatcher.close();
    this.expiry.close();
    this.leases.close();
    this.care.close();
    this.outbox.close();
    this.large.close();
    this.reads.close();
    this.termini.close();
    this.returns.clear();
    this.queues.clear();
    this.answers.clear();
    this.waits.clear();
    this.dequeues.clear();
  }

  // ---- attachments ----

  /**
   * Attaches the node in its boot `boot`; an older attachment of it is replaced. `held`: all that its clients hold, not to be
   * changed any more; what it held otherwise goes back to its queue, flagged (rule 13). `confirmed`: publishes of this boot up to
   * here were confirmed to it. `named` is called, now or in a later turn, when `held` is noted.
   */
  attach(
    node: string,
    boot: number,
    client: GroupClientPort,
    held: readonly HeldMessage[],
    confirmed: number,
    named: () => void = nothing,
  ): GroupServicePort {
    if (this.attachments.get(node) !== undefined) this.uses.awaitSubscribers();
    const attachment = this.attachments.attach(node, boot, client, held, confirmed, named);
    this.flows.attached(client);
    this.touch();
    return attachment;
  }

  /** Publishes of that boot up to here are in the log. */
  taken(boot: number): number {
    return this.attachments.taken(boot);
  }

  /** The tie is cut; what the node holds stays held, and its consumers keep their queues, until it attaches again or is dead. */
  detach(node: string, boot: number): void {
    const attachment = this.attachments.get(node);
    if (attachment === undefined || attachment.boot !== boot) return;
    if (!this.rules.holdOverLinkLoss) {
      this.reap(node, boot);
      return;
    }
    if (attachment.state !== AttachmentState.attached) return;
    attachment.state = AttachmentState.detached;
    attachment.waiting.clear();
  }

  /**
   * The node in its boot `boot` (or an older one) is proven dead, or its lease is gone: what it held goes back to its queues,
   * flagged, and its consumers are no more (rule 13).
   */
  reap(node: string, boot: number): void {
    const attachment = this.attachments.get(node);
    if (attachment === undefined || attachment.boot > boot) return;
    this.attachments.remove(attachment);
  }

  /** The way to the node has room again: its consumers go on. */
  drained(node: string): void {
    for (const consumer of this.attachments.get(node)?.consumers.values() ?? [])
      if (consumer.parked) consumer.queue.unpark(consumer);
    this.reads.drained();
  }

  /** Publishes of the node that are not in the log yet: a deposed primary gives its own clients' back. Before `close`. */
  forEachWaitingPublish(node: string, visit: (bytes: Uint8Array, view: DataView, start: number) => void): void {
    this.attachments.get(node)?.waiting.forEachPublish((record) => visit(record, new DataView(record.buffer), 0));
  }

  /** Cuts the tie of an attachment that breaks the protocol. */
  breakTie(attachment: Attachment, reason: string): void {
    if (attachment.state !== AttachmentState.attached) return;
    this.logger.warn('attachment broken', { node: attachment.node, boot: attachment.boot, reason });
    this.detach(attachment.node, attachment.boot);
    this.options.broken(attachment.node, attachment.boot, reason);
  }

  // ---- into the log ----

  /**
   * Dequeues the messages at `positions` (ascending, distinct) of the queue in one record per 4096, whoever holds them: how the
   * wiring deletes its declarations. Returns the last record's lsn.
   */
  dequeue(incarnation: Lsn, positions: Float64Array, durable: boolean): Lsn {
    return this.dequeues.appendNow(incarnation, positions, durable);
  }

  /**
   * Asks about a queue's content once all that is in the log now is committed: who publishes and then asks counts on finding
   * the message.
   */
  ask(attachment: Attachment, run: () => void): void {
    this.waits.ask(this.logEnd, this.committedLsn, () => {
      if (attachment.state === AttachmentState.attached) run();
    });
  }

  /** Purges the queue's ready messages, or sends them on; answered when that is committed. */
  purge(attachment: Attachment, request: number, incarnation: Lsn, to?: DeadLettering): void {
    if (this.gate.isOpen) this.purges.begin(attachment, request, incarnation, to);
    else this.gate.whenOpen(() => this.purge(attachment, request, incarnation, to));
  }

  // ---- what attachments and queues ask ----

  /** Goes through many things, in slices as long as the service is there. */
  walk(steps: Iterator<number, void>, done?: () => void): void {
    this.attachments.walk(steps, done);
  }

  /** The queue, served from now on; undefined if it is gone. */
  served(incarnation: Lsn): ServedQueue | undefined {
    const state = this.state.queue(incarnation);
    if (state === undefined || this.isClosed) return undefined;
    // Nobody but the group's one service watches queues.
    if (state.watcher !== undefined) return state.watcher as ServedQueue;
    const queue = new ServedQueue(this, state);
    this.queues.add(queue);
    return queue;
  }

  /** Nodes whose clients may hold messages: those that are attached, or were and may come back. */
  attachedNodes(): [node: string, boot: number][] {
    return [...this.attachments.values()].map(({ node, boot }) => [node, boot]);
  }

  *usesByNode(): Generator<NodeUse> {
    for (const { node, delivered, consumers, state } of this.attachments.values())
      if (state === AttachmentState.attached) yield { node, delivered, consumers: consumers.size };
  }

  servedQueues(): Iterable<ServedQueue> {
    return this.queues;
  }

  dispatchSoon(queue: ServedQueue): void {
    this.dispatcher.soon(queue);
  }

  dispatchLater(queue: ServedQueue): void {
    this.dispatcher.later(queue);
  }

  /** The chunk that the queue waits for is there. */
  loaded(queue: ServedQueue, chunk: Chunk): void {
    this.dispatcher.loaded(queue, chunk);
  }

  settleSoon(queue: ServedQueue): void {
    this.dequeues.add(queue);
    this.touch();
  }

  /** Sends an answer at the end of the turn, or with the first valid lease. */
  answer(attachment: Attachment, send: (client: GroupClientPort) => void): void {
    this.answers.add(attachment, send);
    this.touch();
  }

  /** The queue was dropped: those who use it are told. */
  queueGone(queue: ServedQueue): void {
    this.queues.delete(queue);
    this.termini.queueGone(queue.incarnation);
    this.flows.gone(queue);
    for (const consumer of queue.consumers.all) {
      consumer.closed = true;
      consumer.attachment.consumers.delete(consumer.subscriber);
      this.answer(consumer.attachment, (client) => client.cancelled(consumer.subscriber, 'queue deleted'));
    }
    queue.consumers.clear();
    for (const get of queue.takeGets())
      this.answer(get.attachment, (client) => client.gotNothing(get.request, 'not-found: the queue is gone'));
  }

  // ---- the turn's end ----

  flush(): void {
    if (this.isClosed) return;
    this.isTouched = false;
    this.flows.review();
    const mayAct = this.appender.mayAct();
    if (mayAct) this.answers.sendDue();
    if (this.gate.isOpen && !this.paused && (mayAct || !this.rules.leaseNeeded)) this.dispatcher.run();
    this.returns.append(this.committedLsn);
    this.outbox.append();
    this.reads.run();
    this.dispatcher.unpin();
    this.dequeues.append();
    this.termini.flush(this.outbox.isIdle);
    this.large.append(this.committedLsn);
    const end = this.logEnd;
    this.answers.mark(end);
    if (mayAct) this.answers.sendCommitted(this.committedLsn);
    const lsn = this.rules.retryWaits ? end : 0;
    for (const attachment of this.attachments.values()) {
      // A refused message counts as settled when it is in the outbox.
      if (this.outbox.isIdle) attachment.markSettlements(lsn);
      if (attachment.state !== AttachmentState.attached) continue;
      if (!mayAct && this.rules.leaseNeeded) {
        attachment.answerFewer();
        continue;
      }
      attachment.answerConfirms();
      attachment.answerSettlements(this.committedLsn);
    }
  }

  // ---- inside ----

  /** The last lsn that this service put into the log. */
  private get logEnd(): Lsn {
    return Math.max(
      this.dequeues.last,
      this.publishes.last,
      this.outbox.last,
      this.units.last,
      this.large.last,
      this.termini.last,
    );
  }

  private wiringReached(version: Lsn): void {
    this.care.wiringReached();
    if (version <= this.wiringVersion) return;
    this.wiringVersion = version;
    for (const attachment of this.attachments.values()) {
      attachment.waiting.release(version);
      if (attachment.state === AttachmentState.attached) attachment.client.wiringReached();
    }
    this.touch();
  }
}

function nothing(): void {}
