/**
 * One node's tie to the service: what its clients asked for and what they are owed. A later attachment of the node replaces
 * it; from then on its calls do nothing (rule 13).
 */
import { PairRing, Ring } from '../../base/ring.js';
import type { SlicedWalk } from '../../base/slices.js';
import type { BodyId } from '../../log/large.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeEnqueue, enqueueLength, type MessageParts } from '../../log/record.js';
import {
  type GroupClientPort,
  type GroupServicePort,
  type HeldMessage,
  Naming,
  queueMoves,
  type SubscribeOptions,
} from '../group-port.js';
import type { Modification } from '../broker.js';
import type { TerminusOperation } from '../terminus/operations.js';
import type { Publisher } from '../publishers.js';
import type { DeadLettering } from '../queue/queue-traits.js';
import { makeConsumer, type Consumer, PendingGet } from './consumer.js';
import { HeldBodies } from './held-bodies.js';
import { moverTag } from './marker-format.js';
import type { GroupService } from './group-service.js';
import type { ServedQueue } from './served-queue.js';
import { WaitingOperations } from './waiting.js';

export const AttachmentState = {
  /** The tie is up. */
  attached: 0,
  /** It was cut; what the node holds stays held. */
  detached: 1,
  /** Another one has replaced it, or the node is dead. */
  closed: 2,
} as const;
export type AttachmentState = (typeof AttachmentState)[keyof typeof AttachmentState];

/** Calls that wait until it is noted what the node holds: the tie is cut over this. */
const earlyMax = 262_144;

export class Attachment implements GroupServicePort {
  readonly node: string;
  readonly boot: number;
  readonly client: GroupClientPort;
  /** What stands in the index for "held by this attachment". */
  readonly slot: number;
  state: AttachmentState = AttachmentState.attached;
  readonly consumers: Map<number, Consumer> = new Map();
  readonly waiting: WaitingOperations = new WaitingOperations();
  /** Notes what the node holds. Until that is done, `isNaming`, all but publishes waits in `early`. */
  naming: SlicedWalk | undefined = undefined;
  private isNaming = true;
  private isCatchingUp = false;
  private readonly early = new Ring<() => void>();
  /** Bodies that its clients read, or are about to. */
  readonly bodies: HeldBodies;
  /** Messages handed to its clients. */
  delivered = 0;
  /** Sequence of the last publish that is in the log or was before; and when the node attached. */
  appended: number;
  readonly taken: number;
  private readonly service: GroupService;
  private readonly publisher: Publisher;
  private confirmedSent: number;
  private inSyncSent = 0;
  /** Settlements: received, received before the last mark, committed and told. */
  private received = 0;
  private marked = 0;
  private settledSent = 0;
  /** (lsn, count): with the commit of lsn the first `count` settlements are done. */
  private readonly marks = new PairRing();

  constructor(
    service: GroupService,
    node: string,
    boot: number,
    client: GroupClientPort,
    slot: number,
    publisher: Publisher,
    confirmed: number,
    appended: number,
  ) {
    this.service = service;
    this.bodies = new HeldBodies(service);
    this.node = node;
    this.boot = boot;
    this.client = client;
    this.slot = slot;
    this.publisher = publisher;
    this.confirmedSent = confirmed;
    this.appended = appended;
    this.taken = appended;
  }

  get wiringVersion(): Lsn {
    return this.service.isPaused ? -1 : this.service.wiringVersion;
  }

  // ---- what the node holds (rule 13) ----

  /** Notes what the node's clients hold; `replaced`: the slot of its older attachment. Then does what was called meanwhile. */
  *name(held: readonly HeldMessage[], replaced: number): Generator<number, void> {
    for (const { incarnation, position, naming } of held) {
      const queue = this.service.served(incarnation);
      if (naming === Naming.held) queue?.hold(position, this.slot, replaced);
      else queue?.takeBack(position, replaced, naming);
      yield 1;
    }
    this.isNaming = false;
    yield* this.catchingUp();
  }

  /** Asked for each message: no closure is made for what need not wait. */
  private get mayBeEarly(): boolean {
    return this.isNaming || this.isCatchingUp || this.service.isPaused;
  }

  /** Puts a call off that may be about messages or consumers. False: it may be made now. */
  private isEarly(call: () => void): boolean {
    if (!this.mayBeEarly) return false;
    if (this.early.length < earlyMax) this.early.push(call);
    else this.service.breakTie(this, `more than ${earlyMax} calls came while they had to wait`);
    return true;
  }

  /** What the node holds is being noted, or what was called meanwhile is being done. */
  get isBusy(): boolean {
    return this.state === AttachmentState.attached && (this.isNaming || this.isCatchingUp);
  }

  /** The service goes on: does what was called meanwhile. */
  catchUp(): void {
    if (this.state !== AttachmentState.attached) return;
    if (!this.isBusy) this.service.walk(this.catchingUp());
    this.client.wiringReached();
  }

  /**
   * Publishes first: who publishes and then asks counts on finding the message. What is called before all is done waits behind it:
   * the client counts its settlements in the order in which it made them.
   */
  private *catchingUp(): Generator<number, void> {
    this.isCatchingUp = true;
    while (!this.service.isPaused) {
      if (!this.waiting.releaseOne(this.service.wiringVersion) && !this.callEarly()) break;
      yield 1;
    }
    this.isCatchingUp = false;
  }

  private callEarly(): boolean {
    const call = this.early.shift();
    if (call === undefined) return false;
    this.isCatchingUp = false;
    call();
    this.isCatchingUp = true;
    return true;
  }

  // ---- publishing ----

  publish(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    sequence: number,
    wiringVersion: number,
  ): void {
    if (this.state !== AttachmentState.attached) return;
    if (this.mustWait(wiringVersion)) {
      const record = new Uint8Array(enqueueLength(parts, incarnations.length));
      const view = new DataView(record.buffer);
      encodeEnqueue(record, view, 0, parts, incarnations, durable, this.boot, sequence);
      this.wait(wiringVersion, () => this.publishRecord(record, view), record);
    } else if (this.takeNumber(sequence)) {
      const isTaken = this.service.publishes.append(parts, incarnations, durable, this.boot, sequence);
      if (!isTaken) this.rejected(sequence);
    }
  }

  private publishRecord(record: Uint8Array, view: DataView): void {
    const sequence = view.getFloat64(24, true);
    if (this.takeNumber(sequence) && !this.service.publishes.appendRecord(record, view)) this.rejected(sequence);
  }

  private rejected(sequence: number): void {
    if (this.service.rules.refusalsTold) this.client.rejected(sequence);
  }

  transact(bytes: Uint8Array, view: DataView, start: number, wiringVersion: number): void {
    if (this.state !== AttachmentState.attached) return;
    if (!this.mustWait(wiringVersion)) return this.transactNow(bytes, view, start);
    const record = bytes.slice(start, start + view.getUint32(start, true));
    this.wait(wiringVersion, () => this.transactNow(record, new DataView(record.buffer), 0), record);
  }

  private transactNow(bytes: Uint8Array, view: DataView, start: number): void {
    const sequence = view.getFloat64(start + 24, true);
    if (this.takeNumber(sequence) && !this.service.units.append(bytes, view, start)) this.rejected(sequence);
  }

  /** Rule 14: the log takes only a publisher's next number. What it has is confirmed with its commit (rule 4). */
  private takeNumber(sequence: number): boolean {
    const next = this.appended + 1;
    const { rules } = this.service;
    if (sequence < next && rules.dedupe) {
      if (!rules.retryWaits) this.confirm(sequence);
      return false;
    }
    if (sequence > next && rules.resendFirst) {
      this.service.breakTie(this, `publish number ${sequence} came where ${next} was due`);
      return false;
    }
    this.appended = sequence;
    return true;
  }

  /** Tells the client how far its publishes are committed. */
  answerConfirms(): void {
    const sequence = Math.max(this.publisher.sequence, this.confirmedSent);
    if (sequence > this.confirmedSent || this.service.inSync !== this.inSyncSent) this.confirm(sequence);
  }

  /** Says it again: the client may hold confirms that may go by now, since a policy asks for less. */
  answerAgain(): void {
    this.inSyncSent = 0;
  }

  /** Tells the client that fewer are in sync: true without a lease, too. */
  answerFewer(): void {
    if (this.service.inSync < this.inSyncSent) this.confirm(this.confirmedSent);
  }

  private confirm(sequence: number): void {
    this.confirmedSent = Math.max(this.confirmedSent, sequence);
    this.inSyncSent = this.service.inSync;
    this.client.confirmed(sequence, this.inSyncSent);
  }

  // ---- settling ----

  ack(incarnation: number, position: number): void {
    if (this.state !== AttachmentState.attached) return;
    if (this.mayBeEarly && this.isEarly(() => this.ack(incarnation, position))) return;
    this.received++;
    this.service.served(incarnation)?.settle(position, this.slot);
    this.service.touch();
  }

  requeue(incarnation: number, position: number, delivered: boolean, isCounted: boolean = delivered): void {
    if (this.state !== AttachmentState.attached) return;
    if (this.mayBeEarly && this.isEarly(() => this.requeue(incarnation, position, delivered, isCounted))) return;
    this.received++;
    this.service.served(incarnation)?.giveBack(position, this.slot, delivered, isCounted);
    this.service.touch();
  }

  modify(incarnation: number, position: number, modification: Modification): void {
    if (this.state !== AttachmentState.attached) return;
    if (this.mayBeEarly && this.isEarly(() => this.modify(incarnation, position, modification))) return;
    this.received++;
    const { isCounted, annotations } = modification;
    const queue = this.service.served(incarnation);
    if (queue?.giveBack(position, this.slot, true, isCounted)) this.service.returns.note(queue, position, annotations);
    this.service.touch();
  }

  reject(incarnation: number, position: number): void {
    if (this.state !== AttachmentState.attached) return;
    if (this.mayBeEarly && this.isEarly(() => this.reject(incarnation, position))) return;
    this.received++;
    this.service.served(incarnation)?.reject(position, this.slot);
    this.service.touch();
  }

  /** The settlements received so far are done when `lsn` is committed. */
  markSettlements(lsn: Lsn): void {
    if (this.received === this.marked) return;
    this.marked = this.received;
    this.marks.push(lsn, this.received);
  }

  /** Tells the client how many of its settlements are done. */
  answerSettlements(committed: Lsn): void {
    let count = this.settledSent;
    while (this.marks.length > 0 && this.marks.first <= committed) {
      count = this.marks.second;
      this.marks.drop();
    }
    if (count === this.settledSent) return;
    this.settledSent = count;
    this.client.settled(count);
  }

  // ---- consuming ----

  subscribe(subscriber: number, incarnation: number, wiringVersion: number, options: SubscribeOptions): void {
    this.inOrder(wiringVersion, () => {
      const refusal = this.trySubscribe(subscriber, incarnation, options);
      this.service.answer(this, (client) => client.subscribed(subscriber, refusal));
    });
  }

  grant(subscriber: number, count: number): void {
    if (this.state !== AttachmentState.attached || this.isEarly(() => this.grant(subscriber, count))) return;
    if (this.waiting.isEmpty) this.grantNow(subscriber, count);
    else this.wait(0, () => this.grantNow(subscriber, count));
  }

  browseFrom(subscriber: number, position: number): void {
    if (this.state !== AttachmentState.attached || this.isEarly(() => this.browseFrom(subscriber, position))) return;
    const consumer = this.consumers.get(subscriber);
    consumer?.reader?.browseFrom(position);
    consumer?.queue.enlist(consumer);
  }

  drain(subscriber: number): void {
    this.ask(0, () => {
      const consumer = this.consumers.get(subscriber);
      if (consumer === undefined) return;
      this.service.dispatcher.drains.add(consumer);
      this.service.touch();
    });
  }

  unsubscribe(subscriber: number): void {
    this.inOrder(0, () => {
      const consumer = this.consumers.get(subscriber);
      if (consumer !== undefined) {
        this.consumers.delete(subscriber);
        consumer.queue.removeConsumer(consumer);
        this.service.uses.consumerLeft(consumer.queue);
      }
      this.service.answer(this, (client) => client.unsubscribed(subscriber));
    });
  }

  get(request: number, incarnation: number, wiringVersion: number, noAck: boolean): void {
    this.ask(wiringVersion, () => {
      const queue = this.service.served(incarnation);
      if (queue !== undefined) queue.addGet(new PendingGet(this, request, noAck));
      else this.service.answer(this, (client) => client.gotNothing(request, queueGone));
    });
  }

  count(request: number, incarnation: number, wiringVersion: number, isUse: boolean): void {
    this.ask(wiringVersion, () => {
      const used = isUse ? this.service.served(incarnation) : undefined;
      if (used !== undefined) this.service.leases.used(used);
      this.service.answer(this, (client) => {
        const state = this.service.state.queue(incarnation);
        const served = state?.watcher as ServedQueue | undefined;
        const parked = served?.parkedCount ?? 0;
        const { ready = 0, delivered = 0 } = state?.index ?? {};
        client.counted(request, ready + parked, delivered - parked, served?.consumers.size ?? 0);
      });
    });
  }

  terminus(request: number, _incarnation: number, wiringVersion: number, operation: TerminusOperation): void {
    this.inOrder(wiringVersion, () => this.service.termini.asked(this, request, operation));
  }

  purge(request: number, incarnation: number, wiringVersion: number, to?: DeadLettering): void {
    this.ask(wiringVersion, () => this.service.purge(this, request, incarnation, to));
  }

  readBody(reader: number, id: BodyId, from: number, count: number): void {
    if (this.state === AttachmentState.attached) this.service.reads.ask(this, reader, id, from, count);
  }

  holdBody(id: BodyId): void {
    if (this.state === AttachmentState.attached) this.bodies.hold(id);
  }

  openUploads(last: number, open: ReadonlyMap<number, number>): void {
    if (this.state === AttachmentState.attached) this.service.large.said(this.boot, last, open);
  }

  doneWithBody(id: BodyId): void {
    if (this.state === AttachmentState.attached) this.bodies.done(id);
  }

  private ask(wiringVersion: Lsn, run: () => void): void {
    this.inOrder(wiringVersion, () => this.service.ask(this, run));
  }

  private grantNow(subscriber: number, count: number): void {
    const consumer = this.consumers.get(subscriber);
    if (consumer !== undefined) consumer.queue.grant(consumer, count);
  }

  private trySubscribe(subscriber: number, incarnation: number, options: SubscribeOptions): string {
    const queue = this.service.served(incarnation);
    if (queue === undefined) return queueGone;
    const isAlone = options.exclusive && queue.traits.singleActive && options.consumerTag !== moverTag;
    if (isAlone || queue.consumers.refuses(options.exclusive))
      return queue.consumers.isMoving && options.consumerTag !== moverTag ? queueMoves : queueInUse;
    if (this.consumers.has(subscriber)) return `not-allowed: subscriber ${subscriber} is in use`;
    if (options.filter !== undefined && queue.traits.groupKey !== undefined) return filterOnGroups;
    const consumer = makeConsumer(this, subscriber, queue, options, this.service);
    if (typeof consumer === 'string') return consumer;
    this.consumers.set(subscriber, consumer);
    queue.addConsumer(consumer);
    return '';
  }

  // ---- waiting for the wiring (rule 15) ----

  private mustWait(version: Lsn): boolean {
    if (!this.waiting.isEmpty || this.service.isPaused) return true;
    return version > this.service.wiringVersion && this.service.rules.waitVersion;
  }

  private inOrder(version: Lsn, run: () => void): void {
    if (this.state !== AttachmentState.attached || this.isEarly(() => this.inOrder(version, run))) return;
    if (this.mustWait(version)) this.wait(version, run);
    else run();
  }

  private wait(version: Lsn, run: () => void, record?: Uint8Array): void {
    if (!this.waiting.push(version, run, record))
      this.service.breakTie(this, `too many operations wait for wiring version ${version}`);
  }
}

const filterOnGroups = 'not-implemented: a filter on a queue with message groups (x-group-key)';
const queueGone = 'not-found: the queue is gone';
/** The client's side puts the queue's name before it. */
const queueInUse = 'access-refused: in exclusive use';
