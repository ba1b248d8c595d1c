/**
 * Moves messages from their queues into the group's outbox, from where they go on to other groups (rule 16). The message comes into
 * the outbox with the batch that takes it out of its queue: it is in one of both, whatever fails.
 *
 * A message is written again for that, with its death noted and with where it is to go; so nothing about it is decided twice.
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Rules } from '../../base/rules.js';
import { Ring } from '../../base/ring.js';
import { Feature } from '../../base/versions.js';
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeOpen } from '../../log/open-record.js';
import {
  dequeueLengthMax,
  encodeDequeue,
  encodeEnqueue,
  EnqueueView,
  enqueueLength,
  MessageParts,
} from '../../log/record.js';
import { DeathReason, type HeaderCodec } from '../dead-letter/death.js';
import { envelope } from '../dead-letter/envelope.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import { outboxIncarnation } from '../queue/outbox.js';
import type { DeadLettering } from '../queue/queue-traits.js';
import { DelayLog } from './delay-log.js';
import { markerFormat } from './marker-format.js';
import type { Rerouting } from './rerouting.js';
import type { ServedQueue } from './served-queue.js';

/** Messages moved in one turn. */
const moveSlice = 256;
/** With so many waiting, queues keep what they would give up. */
const waitingMax = 4096;
/** What could not be read back is tried again after this time. */
const readRetryMs = 1000;
/** What the wiring does not say yet is asked for again after this time. */
const lookAgainMs = 10;

interface Dead {
  readonly queue: ServedQueue;
  readonly position: Lsn;
  readonly reason: DeathReason;
  /** Undefined: it goes where its queue wants its dead letters. */
  readonly rerouting: Rerouting | undefined;
}

export interface OutboxLogPorts {
  readonly state: GroupState;
  readonly appender: GroupAppender;
  readonly headers: HeaderCodec;
  readonly clock: Pick<Clock, 'wall'>;
  readonly logger: Logger;
  readonly rules: Rules;
  /** The group is being given away: nothing is moved that could be moved later. */
  isPaused(): boolean;
  /** Has `append` called at the end of this turn. */
  touch(): void;
  /** The chunk, which has something of the queue, is to stay in memory until the end of this turn. */
  loaded(queue: ServedQueue, chunk: Chunk): void;
  /** Runs it later, if the service is there by then. */
  after(delayMs: number, run: () => void): void;
}

export class OutboxLog {
  /** The last lsn given to one of them. */
  last: Lsn = 0;
  private readonly ports: OutboxLogPorts;
  /** In the order in which they died. */
  private readonly dead = new Ring<Dead>();
  /** The first one waits: for its bytes, or for the wiring. */
  private isWaiting = false;
  private isOpened = false;
  private readonly delays: DelayLog;
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();

  constructor(ports: OutboxLogPorts) {
    this.ports = ports;
    this.delays = new DelayLog(ports, this);
  }

  /** False: there are nodes that do not read what it writes; dead messages are gone. */
  get isUsable(): boolean {
    return this.ports.appender.version >= Feature.outbox;
  }

  /** So much waits that no more is to be added, but for what clients reject. */
  get isFull(): boolean {
    return this.dead.length >= waitingMax;
  }

  /** All that has died is in the log. */
  get isIdle(): boolean {
    return this.dead.length === 0;
  }

  /** At the end of the turn. The message is settled in its queue's index: nobody is given it any more. */
  add(queue: ServedQueue, position: Lsn, reason: DeathReason, rerouting?: Rerouting): void {
    if (rerouting !== undefined) rerouting.left++;
    this.dead.push({ queue, position, reason, rerouting });
    this.ports.touch();
  }

  /**
   * At once, into the open batch; if it has to wait, for its bytes or for the wiring, at the end of a turn. The message is settled in its
   * queue's index.
   */
  addNow(queue: ServedQueue, position: Lsn, reason: DeathReason): void {
    const entry = queue.state.index.find(position);
    if (entry === undefined) return;
    const isReady = queue.isKnown && this.ports.state.chunk(entry.chunk).bytes !== undefined;
    if (isReady) this.appendOne({ queue, position, reason, rerouting: undefined });
    else this.add(queue, position, reason);
  }

  /** The turn ends. */
  append(): void {
    this.appendDead();
    this.delays.append();
  }

  private appendDead(): void {
    if (this.dead.length === 0 || this.isWaiting) return;
    const { state, touch } = this.ports;
    for (let room = state.slices.size(moveSlice); this.dead.length > 0; room--) {
      if (room === 0) {
        state.slices.later(touch);
        return;
      }
      if (!this.appendOne(this.dead.peek()!)) return;
      const { rerouting } = this.dead.shift()!;
      if (rerouting !== undefined) rerouting.left--;
    }
  }

  close(): void {
    this.dead.clear();
    this.delays.close();
  }

  /** False: it must wait: for its bytes, or for the wiring. */
  private appendOne({ queue, position, reason, rerouting }: Dead): boolean {
    const entry = queue.gone ? undefined : queue.state.index.find(position);
    if (entry === undefined) return true;
    if (!queue.isKnown) {
      this.waitFor(lookAgainMs);
      return false;
    }
    const to = this.isUsable ? (rerouting?.to ?? queue.traits.deadLettering) : undefined;
    if (to === undefined) {
      this.dequeue(queue.incarnation, position, entry.durable);
      return true;
    }
    const chunk = this.ports.state.chunk(entry.chunk);
    if (chunk.bytes === undefined) {
      this.load(queue, chunk);
      return false;
    }
    // Making room for the new record may take the memory of what nobody holds.
    const { chunks } = this.ports.state;
    chunks.pin(chunk);
    const message = this.view.set(chunk.bytes, chunk.view!, entry.offset);
    // A node's word in a queue that moves is no message: it is said again.
    if (message.format === markerFormat) this.dequeue(queue.incarnation, position, entry.durable);
    else this.move(queue, message, position, entry.durable, reason, to);
    chunks.unpin(chunk);
    return true;
  }

  private load(queue: ServedQueue, chunk: Chunk): void {
    const { state, logger, touch, loaded } = this.ports;
    this.isWaiting = true;
    state.chunks.load(chunk, (error) => {
      if (error === undefined) {
        this.isWaiting = false;
        loaded(queue, chunk);
        touch();
        return;
      }
      logger.error('a dead letter cannot be read back', {
        queue: queue.incarnation,
        chunk: chunk.id,
        reason: error.message,
      });
      this.waitFor(readRetryMs);
    });
  }

  private waitFor(ms: number): void {
    this.isWaiting = true;
    this.ports.after(ms, () => {
      this.isWaiting = false;
      this.ports.touch();
    });
  }

  private move(
    queue: ServedQueue,
    message: EnqueueView,
    position: Lsn,
    durable: boolean,
    reason: DeathReason,
    to: DeadLettering,
  ): void {
    this.note(this.parts, message, reason, to);
    this.put(this.parts, queue.incarnation, position, durable);
  }

  /** Fills `parts` with the message as it is to be in the outbox. */
  private note(parts: MessageParts, message: EnqueueView, reason: DeathReason, to: DeadLettering): void {
    const { headers, clock } = this.ports;
    parts.setFrom(message);
    parts.redelivered = false;
    parts.moved = false;
    parts.origin = undefined;
    parts.expiresAt = 0;
    parts.setMeta(envelope(message, to.vhost, to.exchange, to.routingKey));
    const time = Math.floor(clock.wall() / 1000);
    const isReaddressed = to.routingKey !== undefined;
    parts.setHeader(headers.note(message, { reason, queue: to.queue, time, isReaddressed }));
    if (isReaddressed) parts.hidden = false;
  }

  /** A message that the queue has refused, as it is to be in the outbox; none if nobody wants it. To be written in this turn. */
  refused(queue: ServedQueue, message: MessageParts): MessageParts[] {
    const to = this.isUsable ? queue.traits.deadLettering : undefined;
    if (to === undefined) return [];
    this.open();
    const bytes = new Uint8Array(enqueueLength(message, 0));
    const view = new DataView(bytes.buffer);
    encodeEnqueue(bytes, view, 0, message, [], false, 0, 0);
    const parts = new MessageParts();
    this.note(parts, new EnqueueView().set(bytes, view, 0), DeathReason.maxlen, to);
    return [parts];
  }

  /** Where room was made. */
  write(parts: MessageParts, durable: boolean): void {
    const { appender } = this.ports;
    appender.reserve(enqueueLength(parts, 1));
    const { chunk, offset } = appender;
    const length = encodeEnqueue(chunk.bytes!, chunk.view!, offset, parts, [outboxIncarnation], durable, 0, 0);
    this.last = appender.append(length);
  }

  /** Puts the message into the outbox, and takes it out of its queue. */
  put(parts: MessageParts, from: Lsn, position: Lsn, durable: boolean): void {
    this.enqueue(parts, durable);
    this.dequeue(from, position, durable);
  }

  /** With room for the dequeue as well: so that both are in one batch. */
  enqueue(parts: MessageParts, durable: boolean): void {
    this.open();
    this.ports.appender.reserve(enqueueLength(parts, 1) + dequeueLengthMax(1));
    this.write(parts, durable);
  }

  dequeue(incarnation: Lsn, position: Lsn, durable: boolean): void {
    const { appender } = this.ports;
    appender.reserve(dequeueLengthMax(1));
    const { chunk, offset } = appender;
    this.last = appender.append(encodeDequeue(chunk.bytes!, chunk.view!, offset, incarnation, [position], 1, durable));
  }

  /** The outbox is a queue like any other, but that the wiring does not know it. */
  private open(): void {
    const { state, appender } = this.ports;
    if (this.isOpened || state.queue(outboxIncarnation) !== undefined) return;
    this.isOpened = true;
    const record = encodeOpen(outboxIncarnation, 0, { durable: true });
    appender.reserve(record.length);
    appender.chunk.bytes!.set(record, appender.offset);
    this.last = appender.append(record.length);
  }
}
