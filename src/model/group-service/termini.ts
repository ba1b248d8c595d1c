/**
 * Links that can be resumed, on the primary (docs/adr/0013). What must outlast it is in the log, as messages of a queue of the group's own:
 * a record for each terminus, and one for each delivery that is not settled.
 *
 * - The last attach in the log says whose link it is. Of other attachments nothing is taken: what is late must not come behind the answer
 *   that says what is there.
 * - A message that a link has acquired is held for it, not for its node: nobody else gets it before the link gives it up or is over.
 * - Answers wait for the commit of all they rest on; so does what is given up, which is free only then.
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeOpen } from '../../log/open-record.js';
import { encodeEnqueue, EnqueueView, enqueueLength, MessageParts, RecordFlag } from '../../log/record.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import { terminiIncarnation } from '../queue/outbox.js';
import { EntryState } from '../queue/queue-index.js';
import type {
  AcquiredOutcomes,
  TerminusAnswer,
  TerminusInfo,
  TerminusOperation,
  UnsettledKey,
} from '../terminus/operations.js';
import { ofAcquired, ofTerminus, terminusRecord } from '../terminus/terminus-record.js';
import type { TerminusState, TerminusWatcher } from '../terminus/terminus-table.js';
import type { Answers } from './answers.js';
import type { Attachment } from './attachment.js';
import type { Attachments } from './attachments.js';
import type { DequeueLog } from './dequeue-log.js';
import type { GroupService } from './group-service.js';
import type { ServiceGate } from './service-gate.js';

/** Termini of a group. */
const terminiMax = 4096;
/** Deliveries that a link may have acquired, or be owed an end of. */
const unsettledMax = 4096;
/** Those that are detached are looked at so often. */
const lookMs = 500;

export interface TerminiOptions {
  readonly service: GroupService;
  readonly state: GroupState;
  readonly appender: GroupAppender;
  readonly clock: Pick<Clock, 'wall'>;
  readonly logger: Logger;
  readonly dequeues: DequeueLog;
  readonly attachments: Pick<Attachments, 'has' | 'takeSlot' | 'freeSlot'>;
  readonly answers: Answers;
  gate(): ServiceGate;
}

/** A terminus as the log's end has it. */
interface Live {
  readonly id: string;
  info: TerminusInfo;
  attach: string;
  record: Lsn;
  detachedAt: number;
  /** What stands in the index for "acquired by this link"; 0 = it has acquired nothing yet. */
  slot: number;
  /** Acquired, committed or not. */
  acquired: number;
  /** It is over, and its last records leave. */
  isOver: boolean;
}

export class Termini implements TerminusWatcher {
  /** The last lsn given to one of its records. */
  last: Lsn = 0;
  private readonly options: TerminiOptions;
  private readonly byId = new Map<string, Live>();
  private readonly byKey = new Map<string, Live>();
  /** Records on their way out of the log, by whether that is to be durable. */
  private leaving: Lsn[] = [];
  private readonly left = new Set<Lsn>();
  /** Messages that go back unseen. */
  private readonly unseen = new Set<Lsn>();
  /** Of these it does not count that they go back. */
  private readonly uncounted = new Set<Lsn>();
  private answers: (() => void)[] = [];
  private isOpened = false;
  private isLooking = false;
  /** Something was refused, and may not be among the dead letters yet. */
  private awaitsOutbox = false;
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();

  constructor(options: TerminiOptions) {
    this.options = options;
    options.state.termini.watcher = this;
    for (const terminus of options.state.termini.values()) this.found(terminus);
  }

  private found({ id, info, attach, record, detachedAt, unsettled }: TerminusState): void {
    // What is left of one that is over is seen to in `begin`.
    if (info === undefined || record === 0) return;
    const acquired = info.toClient ? unsettled.size : 0;
    const live = { id, info, attach, record, detachedAt, slot: 0, acquired, isOver: false };
    this.byId.set(id, live);
    this.byKey.set(info.key, live);
  }

  get isIdle(): boolean {
    return this.leaving.length === 0 && this.answers.length === 0;
  }

  close(): void {
    this.options.state.termini.watcher = undefined;
    this.answers = [];
  }

  // ---- the gate ----

  /** Nodes have named what they hold: what links have acquired is theirs. Yields how much work each step was. */
  *begin(): Generator<number, void> {
    const { state, attachments } = this.options;
    for (const terminus of [...state.termini.values()]) {
      yield 1;
      const live = this.byId.get(terminus.id);
      if (live === undefined || state.queue(live.info.queue) === undefined) this.end(terminus, live);
      else {
        if (live.info.toClient && this.options.service.rules.acquiredKept) yield* this.holdAgain(live, terminus);
        if (live.detachedAt === 0 && !attachments.has(bootOf(live.attach))) this.detach(live);
      }
    }
    this.lookLater();
  }

  private *holdAgain(live: Live, { unsettled }: TerminusState): Generator<number, void> {
    for (const [position, record] of unsettled) {
      yield 1;
      const index = this.options.state.queue(live.info.queue)?.index;
      const entry = index?.find(position as Lsn);
      if (index === undefined || entry === undefined) this.leave(record);
      else if (entry.state === EntryState.ready) index.deliver(entry, this.slotOf(live));
      else if (entry.state === EntryState.delivered) index.handOver(entry, this.slotOf(live));
    }
  }

  /** That boot of a node will not come back: the links of its clients are detached. */
  nodeGone(boot: number): void {
    const isAny = [...this.byKey.values()].some(
      ({ detachedAt, attach }) => detachedAt === 0 && bootOf(attach) === boot,
    );
    if (isAny) this.look();
  }

  queueGone(incarnation: Lsn): void {
    for (const live of [...this.byId.values()]) if (live.info.queue === incarnation) this.endLive(live);
  }

  // ---- publishes ----

  /**
   * May the unit come into the log whose messages are at [start, end)? Not if it is of a link that is attached elsewhere by now: the first
   * one says whose it is.
   */
  admits(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    if (start >= end) return true;
    const message = this.view.set(bytes, view, start);
    if (message.queueCount === 0 || message.incarnation(0) !== terminiIncarnation) return true;
    const { id, attach } = terminusRecord(message);
    return this.current(id, attach) !== undefined || !this.options.service.rules.linksFenced;
  }

  /** That a delivery of such a link is there, and not settled. */
  append(message: EnqueueView): void {
    this.parts.setFrom(message);
    this.write(this.parts, (message.flags & RecordFlag.durable) !== 0);
  }

  // ---- what nodes ask ----

  asked(attachment: Attachment, request: number, operation: TerminusOperation): void {
    const gate = this.options.gate();
    if (gate.isOpen) this.do(attachment, request, operation);
    else gate.whenOpen(() => this.do(attachment, request, operation));
  }

  private do(attachment: Attachment, request: number, operation: TerminusOperation): void {
    if (operation.kind === 'attach') return this.attach(attachment, request, operation);
    const live = this.current(operation.id, operation.attach);
    if (live === undefined) return this.answer(attachment, request, () => over(operation.id));
    const keys = this.keysOf(attachment, live, operation);
    this.answer(attachment, request, () => ({ refusal: '', id: live.id, isOver: false, keys: keys() }));
  }

  private keysOf(
    attachment: Attachment,
    live: Live,
    operation: Exclude<TerminusOperation, { kind: 'attach' }>,
  ): () => readonly UnsettledKey[] {
    switch (operation.kind) {
      case 'check':
        return () => operation.tags.filter((tag) => this.unsettled(live).has(tag));
      case 'forget':
        for (const tag of operation.tags) this.leave(this.unsettled(live).get(tag));
        return noKeys;
      case 'acquire': {
        const taken = operation.positions.filter((position) => this.acquire(attachment, live, position));
        return () => taken;
      }
      case 'settle':
        this.settle(live, operation.outcomes);
        return noKeys;
      case 'again':
        for (const position of operation.positions) this.again(attachment, live, operation.subscriber, position);
        return noKeys;
      case 'detach':
        if (operation.ends) this.endLive(live);
        else if (live.detachedAt === 0) this.detach(live);
        this.lookLater();
        return noKeys;
    }
  }

  private attach(
    attachment: Attachment,
    request: number,
    { attach, info, outcomes }: Extract<TerminusOperation, { kind: 'attach' }>,
  ): void {
    const { state, service } = this.options;
    const refuse = (refusal: string): void =>
      this.answer(attachment, request, () => ({ refusal, id: '', isOver: false, keys: [] }));
    if (service.served(info.queue) === undefined) return refuse('not-found: the queue is gone');
    let live = this.byKey.get(info.key);
    // Another queue, by that name or another one: the old one's deliveries mean nothing here.
    if (live !== undefined && live.info.queue !== info.queue) {
      this.endLive(live);
      live = undefined;
    }
    if (live === undefined) {
      if (this.byKey.size >= terminiMax)
        return refuse(
          `resource-error: the queue's group has ${terminiMax} links that can be resumed, there may be no more`,
        );
      live = { id: attach, info, attach: '', record: 0, detachedAt: 0, slot: 0, acquired: 0, isOver: false };
      this.byId.set(live.id, live);
      this.byKey.set(info.key, live);
    }
    if (live.attach !== attach) {
      live.attach = attach;
      live.info = info;
      live.detachedAt = 0;
      this.writeTerminus(live);
    }
    this.settle(live, outcomes);
    for (const entry of state.termini.get(live.id)?.replaced ?? []) this.leave(entry);
    const { id } = live;
    const keys = (): UnsettledKey[] =>
      [...(state.termini.get(id)?.unsettled ?? [])].filter(([, record]) => !this.left.has(record)).map(([key]) => key);
    this.answer(attachment, request, () => ({ refusal: '', id, isOver: false, keys: keys() }));
  }

  /** The node holds the message for the link. */
  private acquire(attachment: Attachment, live: Live, position: Lsn): boolean {
    const queue = this.options.service.served(live.info.queue);
    const entry = queue?.state.index.find(position);
    if (queue === undefined || entry === undefined || entry.state !== EntryState.delivered) return false;
    // It is said again.
    if (live.slot !== 0 && entry.holder === live.slot) return true;
    if (entry.holder !== attachment.slot || live.acquired >= unsettledMax) return false;
    queue.state.index.handOver(entry, this.slotOf(live));
    live.acquired++;
    if (this.options.service.rules.acquiresLogged)
      this.write(ofAcquired(live.id, live.attach, position), entry.durable);
    return true;
  }

  /** The message leaves its queue before the link's record of it does. */
  private settle(live: Live, { acks, rejects, requeues, putBacks, releases }: AcquiredOutcomes): void {
    const queue = this.options.service.served(live.info.queue);
    const unsettled = this.unsettled(live);
    for (const position of acks) queue?.settle(position, live.slot);
    for (const position of rejects) queue?.reject(position, live.slot);
    this.awaitsOutbox ||= rejects.length > 0;
    for (const position of releases) this.unseen.add(position);
    for (const position of putBacks) if (unsettled.has(position)) this.uncounted.add(position);
    for (const positions of [acks, rejects, requeues, putBacks, releases])
      for (const position of positions) this.leave(unsettled.get(position));
  }

  /** The node's subscriber is given the message once more; it has it, or has lost it. */
  private again(attachment: Attachment, live: Live, subscriber: number, position: Lsn): void {
    const { service, state } = this.options;
    service.answer(attachment, (client) => {
      const consumer = attachment.consumers.get(subscriber);
      const entry = state.queue(live.info.queue)?.index.find(position);
      if (consumer === undefined || entry === undefined || entry.holder !== live.slot) return;
      const chunk = state.chunk(entry.chunk);
      if (chunk.bytes === undefined) return this.load(attachment, live, subscriber, position);
      consumer.credit--;
      const message = this.view.set(chunk.bytes, chunk.view!, entry.offset);
      const queue = service.served(live.info.queue)!;
      const shown = service.returns.annotations.show(queue, position, message);
      client.deliver(subscriber, live.info.queue, position, true, shown, queue.returnsOf(position));
    });
  }

  private load(attachment: Attachment, live: Live, subscriber: number, position: Lsn): void {
    const { state, logger } = this.options;
    const entry = state.queue(live.info.queue)!.index.find(position)!;
    state.chunks.load(state.chunk(entry.chunk), (error) => {
      if (error === undefined) return this.again(attachment, live, subscriber, position);
      logger.error('a message that a link holds cannot be read back', { position, reason: error.message });
    });
  }

  // ---- TerminusWatcher: what is committed ----

  /** The record of a delivery has left: what the link gave up is free now. */
  settled({ id, info }: TerminusState, key: UnsettledKey): void {
    const live = this.byId.get(id);
    if (live === undefined || !live.info.toClient || typeof key !== 'number') return;
    live.acquired--;
    const isUnseen = this.unseen.delete(key);
    const queue = this.options.service.served((info ?? live.info).queue);
    const isUncounted = this.uncounted.delete(key);
    if (live.slot !== 0) queue?.giveBack(key, live.slot, !isUnseen, !isUnseen && !isUncounted);
  }

  recordLeft(record: Lsn): void {
    this.left.delete(record);
  }

  forgotten({ id }: TerminusState): void {
    const live = this.byId.get(id);
    // One that has no record yet is about to get it.
    if (live?.isOver === true) this.forget(live);
  }

  // ---- how termini end ----

  private detach(live: Live): void {
    live.detachedAt = Math.max(1, this.options.clock.wall());
    this.writeTerminus(live);
  }

  private endLive(live: Live): void {
    const terminus = this.options.state.termini.get(live.id);
    if (terminus !== undefined) return this.end(terminus, live);
    live.isOver = true;
    this.leave(live.record);
    this.forget(live);
  }

  /** What it has acquired goes back when its records have left; what it has sent is forgotten. */
  private end({ record, unsettled, replaced }: TerminusState, live: Live | undefined): void {
    for (const entry of unsettled.values()) this.leave(entry);
    for (const entry of replaced) this.leave(entry);
    this.leave(record);
    if (live === undefined) return;
    this.leave(live.record);
    live.isOver = true;
    if (this.byKey.get(live.info.key) === live) this.byKey.delete(live.info.key);
  }

  private forget(live: Live): void {
    this.byId.delete(live.id);
    if (this.byKey.get(live.info.key) === live) this.byKey.delete(live.info.key);
    if (live.slot !== 0) this.options.attachments.freeSlot(live.slot);
  }

  private lookLater(): void {
    if (this.isLooking) return;
    const { service, attachments } = this.options;
    const isWaiting = ({ detachedAt, info, attach }: Live): boolean =>
      (detachedAt > 0 && info.timeoutMs >= 0) || (service.isPaused && !attachments.has(bootOf(attach)));
    if (![...this.byKey.values()].some(isWaiting)) return;
    this.isLooking = true;
    this.options.service.timers.after(lookMs, () => {
      this.isLooking = false;
      this.look();
    });
  }

  private look(): void {
    const { clock, service, attachments } = this.options;
    // Nothing comes into the log of a group that is being given away: the next primary looks at it.
    if (!service.isPaused) {
      const now = clock.wall();
      for (const live of [...this.byKey.values()]) {
        const { detachedAt, info } = live;
        if (detachedAt === 0 && !attachments.has(bootOf(live.attach))) this.detach(live);
        if (detachedAt > 0 && info.timeoutMs >= 0 && now >= detachedAt + info.timeoutMs) this.endLive(live);
      }
    }
    this.lookLater();
  }

  // ---- into the log ----

  /** The turn ends, and what was settled in it is in the log; what is to go elsewhere, if `isOutboxIdle`. */
  flush(isOutboxIdle: boolean): void {
    if (isOutboxIdle) this.awaitsOutbox = false;
    if (this.awaitsOutbox || this.isIdle) return;
    if (this.leaving.length > 0) {
      const positions = Float64Array.from(this.leaving).sort();
      this.leaving = [];
      this.options.dequeues.appendNow(terminiIncarnation, positions, true);
    }
    for (const answer of this.answers.splice(0)) answer();
  }

  private leave(record: Lsn | undefined): void {
    if (record === undefined || record === 0 || this.left.has(record)) return;
    this.left.add(record);
    this.leaving.push(record);
    this.options.service.touch();
  }

  private writeTerminus(live: Live): void {
    this.leave(live.record);
    live.record = this.write(ofTerminus(live.id, live.attach, live.info, live.detachedAt), live.info.durable);
  }

  private write(parts: MessageParts, durable: boolean): Lsn {
    const { appender } = this.options;
    this.open();
    appender.reserve(enqueueLength(parts, 1));
    const { chunk, offset } = appender;
    const length = encodeEnqueue(chunk.bytes!, chunk.view!, offset, parts, [terminiIncarnation], durable, 0, 0);
    this.last = appender.append(length);
    return this.last;
  }

  private open(): void {
    const { appender, state } = this.options;
    if (this.isOpened) return;
    this.isOpened = true;
    if (state.queue(terminiIncarnation) !== undefined) return;
    const record = encodeOpen(terminiIncarnation, 0, { durable: true });
    appender.reserve(record.length);
    appender.chunk.bytes!.set(record, appender.offset);
    this.last = appender.append(record.length);
  }

  private answer(attachment: Attachment, request: number, make: () => TerminusAnswer): void {
    const { service, answers } = this.options;
    this.answers.push(() => answers.addAfterCommit(attachment, (client) => client.terminusAnswered(request, make())));
    service.touch();
  }

  // ---- inside ----

  /** The terminus, if that is the present attachment of its link. */
  private current(id: string, attach: string): Live | undefined {
    const live = this.byId.get(id);
    return live?.attach === attach && !live.isOver ? live : undefined;
  }

  private unsettled({ id }: Live): ReadonlyMap<UnsettledKey, Lsn> {
    return this.options.state.termini.get(id)?.unsettled ?? none;
  }

  private slotOf(live: Live): number {
    if (live.slot === 0) live.slot = this.options.attachments.takeSlot();
    return live.slot;
  }
}

const none: ReadonlyMap<UnsettledKey, Lsn> = new Map();
const noKeys = (): readonly UnsettledKey[] => [];

function over(id: string): TerminusAnswer {
  return { refusal: '', id, isOver: true, keys: [] };
}

/** Of the node through which a link is attached. */
function bootOf(attach: string): number {
  return Number(attach.slice(0, attach.indexOf('.')));
}
