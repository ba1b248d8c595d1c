import type { Clock } from '../../base/clock.js';
import type { Rules } from '../../base/rules.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeOpen } from '../../log/open-record.js';
import {
  encodeEnqueue,
  EnqueueView,
  enqueueLength,
  immediately,
  MessageParts,
  type Origin,
  RecordFlag,
} from '../../log/record.js';
import { setDue } from '../delay/delayed-record.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import { Origins } from '../origins.js';
import { delayedIncarnation, partsIncarnation } from '../queue/outbox.js';
import { Overflow } from '../queue/queue-traits.js';
import { markerFormat } from './marker-format.js';
import type { Flows } from './flows.js';
import type { LargeLog } from './large-log.js';
import type { OutboxLog } from './outbox-log.js';
import { PublishTargets } from './publish-targets.js';
import type { ServedQueue } from './served-queue.js';
import type { TraitsOf } from './traits-of.js';

const noMessage = new MessageParts();
const noQueues: readonly number[] = [];
const forEver = Number.POSITIVE_INFINITY;

/** What it needs of the group's service. */
export interface PublishLogPorts {
  readonly state: GroupState;
  readonly appender: GroupAppender;
  readonly traits: TraitsOf;
  readonly rules: Rules;
  readonly clock: Pick<Clock, 'wall'>;
  readonly outbox: OutboxLog;
  readonly flows: Flows;
  readonly large: LargeLog;
}

/** Takes publishes into the log. The numbers of their publishers were checked. */
export class PublishLog {
  /** The last lsn given to one of them. */
  last: Lsn = 0;
  private readonly state: GroupState;
  private readonly appender: GroupAppender;
  private readonly rules: Rules;
  private readonly traits: TraitsOf;
  private readonly clock: Pick<Clock, 'wall'>;
  private readonly outbox: OutboxLog;
  private readonly large: LargeLog;
  private readonly targets: PublishTargets;
  /** Those in the log, committed or not. */
  private readonly origins = new Origins();
  private isDelayedOpened = false;
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();

  /** @param serve the queue is to be looked after, though it may have no consumer */
  constructor(ports: PublishLogPorts, serve: (incarnation: Lsn) => ServedQueue | undefined) {
    const { state, appender, traits, rules, clock, outbox, flows, large } = ports;
    this.state = state;
    this.appender = appender;
    this.traits = traits;
    this.rules = rules;
    this.clock = clock;
    this.outbox = outbox;
    this.large = large;
    this.targets = new PublishTargets(state, traits, rules, flows, this, serve);
    this.origins.merge(state.origins.list());
  }

  /**
   * Queues that are gone are named 0; a message for none is logged as a number only, so that the sequence goes on. False: a queue
   * has refused it, which its publisher is to be told.
   */
  append(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): boolean {
    if (parts.large && !this.large.takes(parts)) {
      this.appendNumber(boot, sequence);
      return false;
    }
    if (parts.origin !== undefined && !this.isNew(parts)) {
      this.appendNumber(boot, sequence);
      return true;
    }
    if (incarnations[0] === delayedIncarnation || incarnations[0] === partsIncarnation) {
      this.appendOwn(parts, incarnations, durable, boot, sequence);
      return true;
    }
    const { targets } = this;
    targets.find(parts, incarnations, durable, this.appender);
    if (targets.refusing.length > 0) {
      this.appendRefused(parts, durable, boot, sequence);
      return false;
    }
    this.appendTaken(parts, durable, boot, sequence);
    return true;
  }

  /** What those of the targets that take it are to have. */
  private appendTaken(parts: MessageParts, durable: boolean, boot: number, sequence: number): void {
    const { queues, count, ttlMs, isMixed } = this.targets;
    if (count === 0) return sequence === 0 ? undefined : this.appendNumber(boot, sequence);
    if (isMixed) return this.appendApart(parts, queues, durable, boot, sequence);
    // A node's word in a queue that moves is no message.
    if (ttlMs === forEver || parts.format === markerFormat) return this.encode(parts, queues, durable, boot, sequence);
    const own = parts.expiresAt;
    parts.expiresAt = this.expiry(own, ttlMs);
    this.encode(parts, queues, durable, boot, sequence);
    parts.expiresAt = own;
  }

  /** Queues that refuse a message may want it elsewhere: in the same batch, lest that is done again when it is published again. */
  private appendRefused(parts: MessageParts, durable: boolean, boot: number, sequence: number): void {
    const { outbox, targets } = this;
    const dead: MessageParts[] = [];
    for (const queue of targets.refusing)
      if (queue.traits.overflow === Overflow.rejectPublishDlx) dead.push(...outbox.refused(queue, parts));
    let bytes = (targets.count + 1) * enqueueLength(parts, targets.queues.length);
    for (const one of dead) bytes += enqueueLength(one, 1);
    this.appender.reserve(bytes);
    // Who finds the dead in the log must find the number, too, and where it came from: else it is dead once more when it is sent again.
    const isTaken = targets.count > 0 && this.rules.othersTake;
    if (isTaken) this.appendTaken(parts, durable, boot, sequence);
    else if (sequence !== 0) this.appendNumber(boot, sequence, durable && dead.length > 0, parts.origin);
    for (const one of dead) outbox.write(one, durable);
  }

  /** The same for an encoded enqueue. */
  appendRecord(record: Uint8Array, view: DataView): boolean {
    const message = this.view.set(record, view, 0);
    this.parts.setFrom(message);
    const incarnations = Array.from({ length: message.queueCount }, (_, i) => message.incarnation(i));
    const durable = (message.flags & RecordFlag.durable) !== 0;
    return this.append(this.parts, incarnations, durable, message.publisherBoot, message.publisherSequence);
  }

  /**
   * Queues keep the message for different times, so it is as many records; the first has its number. They are in one batch, so that
   * none is there without the others.
   */
  private appendApart(
    parts: MessageParts,
    targets: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    const apart = new Map<number, number[]>();
    for (const incarnation of targets) {
      const queue = incarnation === 0 ? undefined : this.state.queue(incarnation);
      if (queue === undefined) continue;
      const { ttlMs } = this.traits.of(queue);
      const same = apart.get(ttlMs);
      if (same === undefined) apart.set(ttlMs, [incarnation]);
      else same.push(incarnation);
    }
    let bytes = 0;
    for (const queues of apart.values()) bytes += enqueueLength(parts, queues.length);
    this.appender.reserve(bytes);
    const { expiresAt, origin } = parts;
    let number = sequence;
    for (const [ttlMs, queues] of apart) {
      parts.expiresAt = this.expiry(expiresAt, ttlMs);
      this.write(parts, queues, durable, number === 0 ? 0 : boot, number);
      number = 0;
      parts.origin = undefined;
    }
    parts.expiresAt = expiresAt;
    parts.origin = origin;
  }

  /** For a queue that the wiring does not know. */
  private appendOwn(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    if (incarnations[0] === delayedIncarnation) this.appendDelayed(parts, incarnations, durable, boot, sequence);
    else if (this.large.takesPart(parts, boot)) this.encode(parts, incarnations, durable, boot, sequence);
    else this.appendNumber(boot, sequence);
  }

  /** The message is to wait for its time. Nobody opens the queue in which it does but we. */
  private appendDelayed(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    const { appender } = this;
    if (!this.isDelayedOpened && this.state.queue(delayedIncarnation) === undefined) {
      const record = encodeOpen(delayedIncarnation, 0, { durable: true });
      appender.reserve(record.length);
      appender.chunk.bytes!.set(record, appender.offset);
      this.last = appender.append(record.length);
    }
    this.isDelayedOpened = true;
    this.encode(parts, incarnations, durable, boot, sequence);
  }

  /** Rule 16: what another group's outbox sends again is not taken again. */
  private isNew({ origin }: MessageParts): boolean {
    if (this.rules.outboxOnce && this.origins.has(origin!)) return false;
    this.origins.add(origin!);
    return true;
  }

  /** @param own when the message expires by itself; 0 = never */
  private expiry(own: number, ttlMs: number): number {
    if (ttlMs === forEver) return own;
    const at = ttlMs === 0 ? immediately : this.clock.wall() + (this.rules.diesInTime ? ttlMs : 0);
    return own === 0 ? at : Math.min(own, at);
  }

  /** `durable`: it is to be known after a restart of all replicas, too. `origin`: where the message came from that is not there. */
  appendNumber(boot: number, sequence: number, durable: boolean = false, origin?: Origin): void {
    this.targets.isRelaxed = false;
    noMessage.origin = origin;
    this.encode(noMessage, noQueues, durable, boot, sequence);
    noMessage.origin = undefined;
  }

  private encode(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    this.appender.reserve(enqueueLength(parts, incarnations.length));
    this.write(parts, incarnations, durable, boot, sequence);
  }

  /** Where room was made. */
  private write(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    const { chunk, offset } = this.appender;
    const length = encodeEnqueue(chunk.bytes!, chunk.view!, offset, parts, incarnations, durable, boot, sequence);
    const isDelayed = incarnations[0] === delayedIncarnation;
    if (isDelayed) setDue(chunk.view!, offset, this.clock.wall());
    else if (this.targets.isRelaxed && this.appender.mayRelax()) chunk.bytes![offset + 5]! |= RecordFlag.relaxed;
    this.last = this.appender.append(length);
    if (!this.rules.deliverCommitted) this.state.insertCopy(chunk, offset);
  }
}
