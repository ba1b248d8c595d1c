/**
 * One queue as its primary serves it: its consumers in turn, its gets, and what of it is to be dequeued. Everything here is
 * volatile; what lasts is in the queue's state.
 */
import { Ring } from '../../base/ring.js';
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView, RecordFlag } from '../../log/record.js';
import { DeathReason } from '../dead-letter/death.js';
import { deliveryCost } from '../delivery-cost.js';
import { Naming } from '../group-port.js';
import type { Entry } from '../queue/message-index.js';
import { EntryState } from '../queue/queue-index.js';
import type { QueueState, QueueWatcher } from '../queue/queue-state.js';
import type { QueueTraits } from '../queue/queue-traits.js';
import { type Attachment, AttachmentState } from './attachment.js';
import type { Coming } from './coming.js';
import type { Consumer, PendingGet } from './consumer.js';
import type { Expiring } from './expiry.js';
import { FairShares } from './fair-shares.js';
import type { QueueFlow } from './flows.js';
import type { GroupService } from './group-service.js';
import type { HandOverWriter } from './hand-over.js';
import { KeyedQueue } from './keyed-queue.js';
import type { Lease } from './lease.js';
import { markerFormat, moverTag } from './marker-format.js';
import { Choice } from './message-groups.js';
import { QueueConsumers } from './queue-consumers.js';
import { QueueReads } from './queue-reads.js';
import { Readers } from './readers.js';
import type { Rerouting } from './rerouting.js';
import { SettlementBatch } from './settlement-batch.js';
import { Shedding } from './shedding.js';

/** Entries looked at in one step of giving back what a node held. */
export const giveBackSlice = 512;
/** Messages purged, or sent elsewhere, in one turn. */
const purgeSlice = 16_384;
const rerouteSlice = 256;

/** One for all queues: it is valid only while it is handed over. */
const view = new EnqueueView();

export class ServedQueue implements QueueWatcher, Expiring {
  readonly state: QueueState;
  readonly consumers: QueueConsumers;
  readonly settlements: SettlementBatch = new SettlementBatch();
  gone = false;
  /** It was reported as unused, and has had no consumer since. */
  isUnused = false;
  /** It is in the service's list of queues to dispatch; or of those to settle. */
  isDirty = false;
  isSettling = false;
  expiryBucket = 0;
  /** How long it goes without use, if that matters. */
  lease: Lease | undefined = undefined;
  /** What is on its way into it, once it has limits for which that counts. */
  coming: Coming | undefined = undefined;
  /** How full it is, if its publishers may have to wait for it. */
  flow: QueueFlow | undefined = undefined;
  /** How often messages came back since this service began. */
  readonly returned: Map<Lsn, number> = new Map();
  /** What it gives up by itself. */
  readonly shedding: Shedding;
  readonly reads: QueueReads;
  /** What it does by messages' headers, once that is known; and what clients were known to hold before. */
  private keyed: KeyedQueue | undefined;
  private knowsKeys = false;
  private namedEarly: Lsn[] = [];
  /** Once a message went out of a queue whose priorities have shares. */
  private shares: FairShares | undefined;
  /** Of subscriptions with filters, and of those that browse. */
  private readers: Readers | undefined;
  private readonly service: GroupService;
  /** The highest position handed to anyone. */
  private handedUpTo: Lsn;
  /** What the last primary's clients held, and no node has named yet; see HandOver. */
  private unnamed: Set<Lsn> | undefined;
  private readonly gets = new Ring<PendingGet>();
  /** Only without `requeueInPlace`: what was given back and is kept for the end. */
  private readonly late: Lsn[] = [];

  constructor(service: GroupService, state: QueueState) {
    this.service = service;
    this.state = state;
    this.consumers = new QueueConsumers(() => this.traits.singleActive && service.rules.oneActive);
    this.shedding = new Shedding(this, service);
    this.reads = new QueueReads(this, service);
    const handedOver = service.handedOver(state.incarnation);
    this.handedUpTo = handedOver?.handedUpTo ?? 0;
    this.unnamed = handedOver?.unnamed;
    state.watcher = this;
  }

  get incarnation(): Lsn {
    return this.state.incarnation;
  }

  // ---- watcher ----

  added(position: Lsn, body: number, chunk: Chunk, offset: number): void {
    if (this.coming !== undefined) this.coming.added(position, body);
    if (!this.knowsKeys) this.findKeys();
    if (this.keyed !== undefined) this.keyed.added(position, chunk, offset);
    if (!this.isDirty && (this.hasDemand || this.shedding.isDue)) this.service.dispatchSoon(this);
  }

  private findKeys(): void {
    if (!this.isKnown) return;
    this.knowsKeys = true;
    this.keyed = KeyedQueue.of(this, this.service);
    for (const position of this.namedEarly)
      if (this.state.index.find(position)?.state === EntryState.delivered) this.keyed?.named(position);
    this.namedEarly = [];
  }

  /** Messages that could be handed out, but for others of their groups. */
  get parkedCount(): number {
    return this.keyed?.parkedCount ?? 0;
  }

  /** What the wiring asks of it, as far as is known. */
  get traits(): QueueTraits {
    return this.service.traits.of(this.state);
  }

  dropped(): void {
    this.gone = true;
    this.service.queueGone(this);
  }

  // ---- consumers and gets ----

  addConsumer(consumer: Consumer): void {
    this.consumers.add(consumer);
    this.isUnused = false;
    this.service.leases.used(this);
    if (this.consumers.size === 1) this.service.uses.consumerCame(this);
    if (consumer.reader !== undefined) (this.readers ??= new Readers()).add(consumer.reader);
    this.enlist(consumer);
  }

  removeConsumer(consumer: Consumer): void {
    const next = this.consumers.remove(consumer);
    this.readers = this.readers?.without(consumer);
    if (next !== undefined) this.enlist(next);
    if (this.consumers.size === 0) this.service.leases.used(this);
  }

  grant(consumer: Consumer, count: number): void {
    consumer.credit += count;
    this.keyed?.granted(consumer);
    this.enlist(consumer);
  }

  /** The way to the consumer's node has room again. */
  unpark(consumer: Consumer): void {
    consumer.parked = false;
    this.keyed?.granted(consumer);
    this.enlist(consumer);
  }

  addGet(get: PendingGet): void {
    if (this.service.rules.useKeeps) this.service.leases.used(this);
    this.gets.push(get);
    this.service.dispatchSoon(this);
  }

  /** Takes out the unanswered gets. */
  takeGets(): PendingGet[] {
    const taken: PendingGet[] = [];
    for (let get = this.gets.shift(); get !== undefined; get = this.gets.shift()) taken.push(get);
    return taken;
  }

  get hasDemand(): boolean {
    return this.consumers.hasWaiting || this.gets.length > 0 || this.readers?.hasDemand === true;
  }

  // ---- what clients say of messages they hold ----

  /** The message, if `holder` holds it. */
  private held(position: Lsn, holder: number): Entry | undefined {
    const entry = this.state.index.find(position);
    return entry !== undefined && entry.state === EntryState.delivered && entry.holder === holder ? entry : undefined;
  }

  /** Dequeues a message that `holder` holds, at the end of the turn. */
  settle(position: Lsn, holder: number): void {
    const entry = this.held(position, holder);
    if (entry !== undefined) this.dequeue(entry);
  }

  /** The same for one that is refused for good. */
  reject(position: Lsn, holder: number): void {
    const entry = this.held(position, holder);
    if (entry !== undefined) this.bury(entry, DeathReason.rejected);
  }

  /** The message leaves the queue unconsumed: for the outbox, if anybody wants to have it. */
  bury(entry: Entry, reason: DeathReason): void {
    const { outbox } = this.service;
    if (this.isKnown && (this.traits.deadLettering === undefined || !outbox.isUsable)) return this.dequeue(entry);
    this.sendOn(entry, reason);
  }

  private sendOn(entry: Entry, reason: DeathReason, rerouting?: Rerouting): void {
    const { position } = entry;
    this.left(position);
    this.state.index.settle(entry);
    this.service.outbox.add(this, position, reason, rerouting);
  }

  /** The message is on its way out of the queue. */
  left(position: Lsn): void {
    if (this.returned.size > 0) this.returned.delete(position);
    if (this.keyed !== undefined) this.keyed.left(position);
    if (this.flow?.isStopped === true) this.service.flows.left(this);
  }

  /** The wiring says what is asked of it. After a restart it may come a little later than messages do. */
  get isKnown(): boolean {
    return this.service.traits.isKnown(this.state);
  }

  /** At the end of the turn. */
  dequeue(entry: Entry): void {
    const { position, durable } = entry;
    this.state.index.settle(entry);
    this.left(position);
    this.settlements.add(position, durable);
    if (!this.isSettling) this.service.settleSoon(this);
  }

  /**
   * A message that `holder` holds goes back to its place. `delivered`: it is flagged when it comes again. So is one that was
   * not, if messages behind it were handed out: unflagged ones come in order. False: `holder` does not hold it.
   */
  giveBack(position: Lsn, holder: number, delivered: boolean, isCounted: boolean = delivered): boolean {
    const entry = this.held(position, holder);
    if (entry === undefined) return false;
    if (isCounted && this.traits.countsReturns && this.countReturn(entry)) return true;
    if (!this.service.rules.requeueInPlace) {
      this.state.index.handOver(entry, 0);
      this.late.push(position);
    } else {
      this.state.index.giveBack(entry, delivered || position < this.handedUpTo);
      this.keyed?.returned(position);
      this.readers?.returned(position);
    }
    this.service.dispatchSoon(this);
    return true;
  }

  /** Counts that the message came back. True: too often, so it leaves the queue. */
  private countReturn(entry: Entry): boolean {
    const count = this.service.returns.add(this, entry.position);
    if (count <= this.traits.returnsMax || !this.service.rules.returnsLimited) return false;
    this.bury(entry, DeathReason.deliveryLimit);
    return true;
  }

  /** What `holder` holds from position `from` on goes back, slice by slice; nobody can tell what of it was seen. See QueueIndex. */
  giveBackOf(holder: number, from: Lsn): Lsn {
    if (this.gone) return Number.POSITIVE_INFINITY;
    const { index } = this.state;
    const before = index.ready;
    const slice = this.service.state.slices.size(giveBackSlice);
    const back: Lsn[] = [];
    const isTold = this.traits.countsReturns || this.keyed !== undefined || this.readers !== undefined;
    const note = isTold ? (position: Lsn): void => void back.push(position) : undefined;
    const next = index.giveBackOf(holder, this.service.rules.flagReaped, from, slice, note);
    for (const position of back) {
      const left = this.traits.countsReturns && this.countReturn(index.find(position)!);
      if (!left) this.keyed?.returned(position);
      this.readers?.returned(position);
    }
    if (index.ready > before || back.length > 0) this.service.dispatchSoon(this);
    return next;
  }

  /** A node names a message that its clients hold (rule 13): nobody else has got it, or its older attachment `replaced` has. */
  hold(position: Lsn, holder: number, replaced: number): void {
    const { index } = this.state;
    const entry = index.find(position);
    if (entry === undefined) return;
    this.unnamed?.delete(position);
    if (entry.state === EntryState.ready) index.deliver(entry, holder);
    else if (entry.state === EntryState.delivered && entry.holder === replaced) index.handOver(entry, holder);
    // What its client has settled before is on its way out, though it may not know that.
    else return;
    if (this.keyed !== undefined) this.keyed.named(position);
    else if (!this.knowsKeys) this.namedEarly.push(position);
  }

  /** A node gives back what its older attachment `replaced` has, or what the last primary's clients held. */
  takeBack(position: Lsn, replaced: number, naming: Naming): void {
    const seen = naming !== Naming.released;
    const { index } = this.state;
    const entry = index.find(position);
    if (entry === undefined) return;
    // Whom the last primary gave it to after that is not known: it stays one of those that somebody else must name.
    if (replaced !== 0) this.giveBack(position, replaced, seen, naming === Naming.returned);
    else if (entry.state === EntryState.ready && (seen || position < this.handedUpTo)) index.flag(entry);
  }

  // ---- hand-over (rule 20) ----

  /** All live nodes have named what they hold: what is left of what the last primary's clients held was lost with some node. */
  *flagUnnamed(): Generator<number, void> {
    const { index } = this.state;
    for (const position of this.unnamed ?? []) {
      const entry = index.find(position);
      if (entry !== undefined) index.flag(entry);
      yield 1;
    }
    this.unnamed = undefined;
  }

  /** Writes what the next primary must know. Nothing changes meanwhile. Yields how much work each step was. */
  *writeHandOver(writer: HandOverWriter): Generator<number, void> {
    this.keyed?.unparkAll(true);
    writer.beginQueue(this.incarnation, this.handedUpTo);
    const add = (position: Lsn, held: boolean, flagged: boolean): void => writer.add(position, held, flagged);
    for (let from = this.service.flagBefore; from !== Number.POSITIVE_INFINITY; ) {
      from = this.state.index.handled(from, this.handedUpTo, this.service.state.slices.size(giveBackSlice), add);
      yield giveBackSlice;
    }
  }

  /** Up to a slice of the ready messages up to `until` leave: for good, or elsewhere. Returns how many; 0 = there are none left. */
  purgeSlice(until: Lsn, rerouting?: Rerouting): number {
    const { index } = this.state;
    const most = this.service.state.slices.size(rerouting === undefined ? purgeSlice : rerouteSlice);
    this.keyed?.unparkAll(false);
    let count = 0;
    for (; count < most; count++) {
      const entry = index.nextReady(until);
      if (entry === undefined) break;
      if (rerouting === undefined) this.dequeue(entry);
      else this.sendOn(entry, DeathReason.rerouted, rerouting);
    }
    return count;
  }

  // ---- deliveries ----

  /**
   * Gives ready messages to gets, then to consumers in turn, as far as there is credit, and up to `max` in this turn. Only under a
   * valid lease. Returns about how many there were.
   */
  dispatch(max: number): number {
    if (!this.knowsKeys) this.findKeys();
    if (this.gone || !this.serveGets()) return 0;
    const { fairShares } = this.traits;
    const { state } = this.service;
    let count = this.readers?.run(max, () => this.service.dispatchLater(this)) ?? 0;
    for (; this.consumers.hasWaiting; count++) {
      const entry = this.next(fairShares);
      if (entry === undefined) {
        if (!this.takeLate()) break;
        continue;
      }
      const chunk = state.chunk(entry.chunk);
      if (chunk.bytes === undefined) {
        this.reads.load(chunk);
        break;
      }
      if (count >= max) {
        this.service.dispatchLater(this);
        break;
      }
      if (this.shedding.hasExpired(entry, chunk)) {
        if (this.shedding.mustKeep) break;
        this.bury(entry, DeathReason.expired);
        continue;
      }
      const consumer = this.keyed === undefined ? this.consumers.next() : this.keyed.choose(entry, chunk);
      if (consumer === Choice.parked) continue;
      if (consumer === undefined || consumer === Choice.none) break;
      this.deliverTo(consumer, entry, chunk);
      this.enlist(consumer);
    }
    // The next one may be for a get again; what came back, for a reader.
    if ((count > 0 && this.gets.length > 0 && this.keyed !== undefined) || this.readers?.isDue === true)
      this.service.dispatchLater(this);
    return count + this.shedding.run(max - count);
  }

  /** The message that goes out next. */
  private next(fairShares: readonly number[] | undefined): Entry | undefined {
    if (fairShares === undefined) return this.state.index.nextReady();
    this.shares ??= new FairShares();
    return this.shares.next(this.state.index, fairShares);
  }

  /** The first message's time has come. */
  expire(): void {
    this.service.dispatchSoon(this);
  }

  /** A client gets the message, which is ready; it takes it, unless it browses. */
  deliverTo(consumer: Consumer, entry: Entry, chunk: Chunk): void {
    const position = entry.position;
    view.set(chunk.bytes!, chunk.view!, entry.offset);
    // Somebody else than the mover comes upon a marker: it is said again.
    if (view.format === markerFormat && consumer.tag !== moverTag) return this.dequeue(entry);
    if (view.isLarge && !consumer.attachment.bodies.take(view, this.incarnation)) return this.dequeue(entry);
    const redelivered = this.isFlagged(entry);
    consumer.hasDelivered = true;
    consumer.credit -= deliveryCost(consumer.noAck, view);
    if (!consumer.browses) this.hand(entry, position, consumer.noAck, consumer.attachment, consumer);
    const { client } = consumer.attachment;
    const shown = this.service.returns.annotations.show(this, position, view);
    client.deliver(consumer.subscriber, this.incarnation, position, redelivered, shown, this.returnsOf(position));
  }

  /** How often the message came back, as far as clients are to know. */
  returnsOf(position: Lsn): number {
    // As of the last look at its traits, which is not long ago.
    return this.state.traits.countsReturns ? this.service.returns.of(this, position) : 0;
  }

  /** The message at hand, in `view`, may have been handed out before. */
  private isFlagged(entry: Entry): boolean {
    return entry.redelivered || entry.position < this.service.flagBefore || (view.flags & RecordFlag.redelivered) !== 0;
  }

  /** The message is the client's now: held by it or, without acknowledgement, as good as dequeued. */
  private hand(entry: Entry, position: Lsn, noAck: boolean, attachment: Attachment, consumer?: Consumer): void {
    if (position > this.handedUpTo) this.handedUpTo = position;
    attachment.delivered++;
    if (this.shares !== undefined) this.shares.took(this.state.index, entry);
    if (noAck) return this.dequeue(entry);
    this.state.index.deliver(entry, attachment.slot);
    if (this.keyed !== undefined) this.keyed.held(position, view, consumer);
  }

  /** Returns false if a message has to be read first. */
  private serveGets(): boolean {
    if (this.gets.length === 0) return true;
    const { index } = this.state;
    const { fairShares } = this.traits;
    for (;;) {
      const get = this.gets.peek();
      if (get === undefined) return true;
      if (get.attachment.state !== AttachmentState.attached) {
        this.gets.shift();
        continue;
      }
      const entry = this.next(fairShares);
      if (entry === undefined) {
        if (this.takeLate()) continue;
        this.gets.shift();
        get.attachment.client.gotNothing(get.request, '');
        continue;
      }
      const chunk = this.service.state.chunk(entry.chunk);
      if (chunk.bytes === undefined) {
        this.reads.load(chunk);
        return false;
      }
      if (this.shedding.hasExpired(entry, chunk)) {
        if (this.shedding.mustKeep) return false;
        this.bury(entry, DeathReason.expired);
        continue;
      }
      const may = this.keyed?.mayGet(entry, chunk) ?? true;
      if (may === Choice.parked) continue;
      if (!may) return true;
      const position = entry.position;
      view.set(chunk.bytes, chunk.view!, entry.offset);
      if (view.format === markerFormat || (view.isLarge && !get.attachment.bodies.take(view, this.incarnation))) {
        this.dequeue(entry);
        continue;
      }
      this.gets.shift();
      const redelivered = this.isFlagged(entry);
      this.hand(entry, position, get.noAck, get.attachment);
      const returns = this.returnsOf(position);
      const shown = this.service.returns.annotations.show(this, position, view);
      get.attachment.client.got(get.request, this.incarnation, position, redelivered, index.ready, shown, returns);
    }
  }

  /** It may be given messages: in its turn, or by its reader. */
  enlist(consumer: Consumer): void {
    if (!this.consumers.enlist(consumer) && consumer.reader?.wants !== true) return;
    if (!this.isDirty && (this.state.index.ready > 0 || consumer.reader !== undefined)) this.service.dispatchSoon(this);
  }

  private takeLate(): boolean {
    if (this.late.length === 0) return false;
    for (const position of this.late.splice(0)) {
      const entry = this.held(position, 0);
      if (entry !== undefined) this.state.index.giveBack(entry, true);
    }
    return true;
  }
}
