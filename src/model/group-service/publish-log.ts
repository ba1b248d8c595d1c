import type { Rules } from '../../base/rules.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeEnqueue, enqueueHeaderBytes, enqueueLength, MessageParts, RecordFlag } from '../../log/record.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import type { QueueState } from '../queue/queue-state.js';
import type { QueueModes } from './queue-modes.js';

const noMessage = new MessageParts();
const noQueues: readonly number[] = [];

/** Takes publishes into the log. The numbers of their publishers were checked. */
export class PublishLog {
  /** The last lsn given to one of them. */
  last: Lsn = 0;
  private readonly state: GroupState;
  private readonly appender: GroupAppender;
  private readonly rules: Rules;
  private readonly modes: QueueModes;
  /** All durable queues of the message at hand are relaxed. */
  private isRelaxed = true;

  constructor(state: GroupState, appender: GroupAppender, modes: QueueModes, rules: Rules) {
    this.state = state;
    this.appender = appender;
    this.modes = modes;
    this.rules = rules;
  }

  /** Queues that are gone are named 0; a message for none is logged as a number only, so that the sequence goes on. */
  append(parts: MessageParts, incarnations: readonly number[], durable: boolean, boot: number, sequence: number): void {
    let targets = incarnations;
    let left = incarnations.length;
    this.isRelaxed = durable;
    for (let i = 0; i < incarnations.length; i++) {
      const queue = this.state.queue(incarnations[i]!);
      if (queue !== undefined) {
        if (this.isRelaxed) this.note(queue);
        continue;
      }
      if (targets === incarnations) targets = [...incarnations];
      const instead = this.insteadOf(incarnations[i]!);
      (targets as number[])[i] = instead;
      if (instead === 0) left--;
    }
    if (left > 0) this.encode(parts, targets, durable, boot, sequence);
    else this.encode(noMessage, noQueues, false, boot, sequence);
  }

  /** The same for an encoded enqueue, whose queues are changed in place. */
  appendRecord(record: Uint8Array, view: DataView): void {
    let left = 0;
    this.isRelaxed = (record[5]! & RecordFlag.durable) !== 0;
    for (let i = 0, at = enqueueHeaderBytes; i < view.getUint16(6, true); i++, at += 8) {
      const queue = this.state.queue(view.getFloat64(at, true));
      if (queue === undefined) view.setFloat64(at, this.insteadOf(view.getFloat64(at, true)), true);
      else if (this.isRelaxed) this.note(queue);
      if (view.getFloat64(at, true) !== 0) left++;
    }
    if (left === 0) {
      this.encode(noMessage, noQueues, false, view.getUint32(16, true), view.getFloat64(24, true));
      return;
    }
    this.appender.reserve(record.length);
    this.appender.chunk.bytes!.set(record, this.appender.offset);
    this.took(record.length);
  }

  private note(queue: QueueState): void {
    if (queue.options.durable && !this.modes.isRelaxed(queue)) this.isRelaxed = false;
  }

  /** What a queue that is gone is replaced by: nothing (rule 15). */
  private insteadOf(incarnation: number): number {
    if (this.rules.byIncarnation) return 0;
    // Planted fault: the queue that was declared after it, as if it were meant by name.
    let newest = 0;
    for (const queue of this.state.allQueues()) newest = Math.max(newest, queue.incarnation);
    return newest > incarnation ? newest : 0;
  }

  private encode(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    this.appender.reserve(enqueueLength(parts, incarnations.length));
    const { chunk, offset } = this.appender;
    this.took(encodeEnqueue(chunk.bytes!, chunk.view!, offset, parts, incarnations, durable, boot, sequence));
  }

  private took(length: number): void {
    const { chunk, offset } = this.appender;
    // A record that comes again may have been relaxed by an older primary.
    if (this.isRelaxed && this.appender.mayRelax()) chunk.bytes![offset + 5]! |= RecordFlag.relaxed;
    else chunk.bytes![offset + 5]! &= ~RecordFlag.relaxed;
    this.last = this.appender.append(length);
    if (!this.rules.deliverCommitted) this.state.insertCopy(chunk, offset);
  }
}
