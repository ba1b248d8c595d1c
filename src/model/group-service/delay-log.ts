/**
 * Has messages that waited for their time go on: moves them into the group's outbox, from where they are routed and sent like dead
 * letters (rule 16). A message comes there with the batch that takes it out of the delayed queue: it is in one of both, whatever fails.
 *
 * When they are due is wall time, by the primary's clock. A clock that jumps ahead has them go on early, one that is set back later; none
 * is lost.
 */
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView, MessageParts } from '../../log/record.js';
import { setGoingOn } from '../delay/delayed-record.js';
import { delayedIncarnation, outboxIncarnation } from '../queue/outbox.js';
import type { OutboxLog, OutboxLogPorts } from './outbox-log.js';

/** Messages moved in one turn. */
const moveSlice = 256;
/** With so many in the outbox, or on their way there, the others wait: dead letters, too, go through it. */
const outboxMax = 8192;
/** Then they are looked at again after this time. */
const fullMs = 5;
/** What could not be read back is tried again after this time. */
const readRetryMs = 1000;
/** They go on together, so many milliseconds at a time. */
const stepMs = 4;
/** The wall clock may jump: it is looked at this often while anything waits. */
const lookMsMax = 1000;

export class DelayLog {
  private readonly ports: OutboxLogPorts;
  private readonly outbox: OutboxLog;
  /** When a timer is set to look at the first one; Infinity: none is. */
  private lookAt = Number.POSITIVE_INFINITY;
  private isWaiting = false;
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();

  constructor(ports: OutboxLogPorts, outbox: OutboxLog) {
    this.ports = ports;
    this.outbox = outbox;
    ports.state.delays.watcher = { dueEarlier: () => ports.touch() };
  }

  /** The turn ends. */
  append(): void {
    const { state, clock, isPaused, touch, rules } = this.ports;
    const { delays } = state;
    const next = delays.nextDue;
    if (next === Number.POSITIVE_INFINITY || this.isWaiting || isPaused()) return;
    const now = rules.delayedDue ? clock.wall() : Number.MAX_VALUE;
    for (let room = state.slices.size(moveSlice); delays.nextDue <= now; room--) {
      if (this.isFull) return this.waitFor(fullMs);
      if (room === 0) {
        state.slices.later(touch);
        return;
      }
      if (!this.moveOne()) return;
    }
    this.lookLater(clock.wall(), delays.nextDue);
  }

  /** The primary was deposed: what has not left the queue waits for the next one. */
  close(): void {
    const { delays } = this.ports.state;
    delays.watcher = undefined;
    delays.giveBack();
  }

  private get isFull(): boolean {
    const { state } = this.ports;
    return state.delays.leaving + (state.queue(outboxIncarnation)?.index.size ?? 0) >= outboxMax;
  }

  private lookLater(now: number, due: number): void {
    const at = Math.min(Math.max(due, now + stepMs), now + lookMsMax);
    if (at >= this.lookAt || due === Number.POSITIVE_INFINITY) return;
    this.lookAt = at;
    this.ports.after(at - now, () => {
      if (this.lookAt === at) this.lookAt = Number.POSITIVE_INFINITY;
      this.ports.touch();
    });
  }

  /** False: its bytes must be read back first. */
  private moveOne(): boolean {
    const { state, headers } = this.ports;
    const { delays, chunks } = state;
    const position = delays.next;
    const entry = state.queue(delayedIncarnation)!.index.find(position)!;
    const chunk = state.chunk(entry.chunk);
    if (chunk.bytes === undefined) {
      this.load(position);
      return false;
    }
    // Making room for the new record may take the memory of what nobody holds.
    chunks.pin(chunk);
    const message = this.view.set(chunk.bytes, chunk.view!, entry.offset);
    const { parts } = this;
    parts.setFrom(message);
    setGoingOn(parts, message);
    parts.setHeader(headers.delayed(message));
    parts.origin = undefined;
    this.put(parts, position, entry.durable);
    delays.take();
    chunks.unpin(chunk);
    return true;
  }

  private put(parts: MessageParts, position: Lsn, durable: boolean): void {
    const { outbox } = this;
    const { rules, after } = this.ports;
    if (rules.delayedTogether) return outbox.put(parts, delayedIncarnation, position, durable);
    // Planted fault.
    outbox.enqueue(parts, durable);
    after(20, () => outbox.dequeue(delayedIncarnation, position, durable));
  }

  private load(position: Lsn): void {
    const { state, logger } = this.ports;
    const entry = state.queue(delayedIncarnation)!.index.find(position)!;
    const chunk = state.chunk(entry.chunk);
    this.isWaiting = true;
    state.chunks.load(chunk, (error) => {
      if (error !== undefined) {
        logger.error('a delayed message cannot be read back', { chunk: chunk.id, reason: error.message });
        return this.waitFor(readRetryMs);
      }
      this.isWaiting = false;
      // It may be needed for others by the end of the turn.
      this.append();
    });
  }

  private waitFor(ms: number): void {
    this.isWaiting = true;
    this.ports.after(ms, () => {
      this.isWaiting = false;
      this.ports.touch();
    });
  }
}
