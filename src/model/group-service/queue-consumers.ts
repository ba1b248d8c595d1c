import { Ring } from '../../base/ring.js';
import { type Attachment, AttachmentState } from './attachment.js';
import type { Consumer } from './consumer.js';
import { moverTag } from './marker-format.js';

/** Consumers of one priority that wait for a message, next one first. */
interface Turns {
  readonly priority: number;
  readonly waiting: Ring<Consumer>;
  /** How many of those are closed. */
  closed: number;
}

/**
 * The consumers of a queue, and whose turn it is: those of the highest priority that have credit, one after the other. With
 * `single` only one is given messages: the first that came, and when it is gone the one that came next.
 */
export class QueueConsumers {
  readonly all: Set<Consumer> = new Set();
  exclusive: Consumer | undefined = undefined;
  /** The one that is given messages, if only one is. */
  private active: Consumer | undefined = undefined;
  private readonly isSingle: () => boolean;
  /** Highest priority first; most queues have one. */
  private turns: Turns[] = [];
  private waitingCount = 0;

  constructor(isSingle: () => boolean) {
    this.isSingle = isSingle;
  }

  get size(): number {
    return this.all.size;
  }

  /** Its mover consumes from the queue, alone. */
  get isMoving(): boolean {
    return this.exclusive?.tag === moverTag;
  }

  /** Some consumer has credit. */
  get hasWaiting(): boolean {
    return this.waitingCount > 0;
  }

  add(consumer: Consumer): void {
    this.all.add(consumer);
    if (consumer.exclusive) this.exclusive = consumer;
    if (consumer.browses) return;
    // After a failure consumers come again in any order: the one that was given messages goes on.
    const goesOn = consumer.wasActive && this.active?.hasDelivered === false;
    if (this.active === undefined || goesOn) this.active = consumer;
  }

  /** Returns who is to be given messages instead of it, if anybody. */
  remove(consumer: Consumer): Consumer | undefined {
    consumer.closed = true;
    this.all.delete(consumer);
    if (this.exclusive === consumer) this.exclusive = undefined;
    if (consumer.waiting && consumer.reader === undefined) this.noteClosed(consumer);
    if (this.active !== consumer) return undefined;
    this.active = undefined;
    for (const other of this.all) {
      if (other.attachment.state === AttachmentState.closed || other.browses) continue;
      this.active = other;
      break;
    }
    return this.isSingle() ? this.active : undefined;
  }

  /** Somebody's use of the queue stands against one more consumer. What a closed attachment leaves behind does not. */
  refuses(exclusive: boolean): boolean {
    if (this.exclusive !== undefined && this.exclusive.attachment.state !== AttachmentState.closed) return true;
    if (!exclusive) return false;
    for (const consumer of this.all) if (consumer.attachment.state !== AttachmentState.closed) return true;
    return false;
  }

  /** The consumer is in the line, unless it cannot be given anything now. Returns whether it was not before. */
  enlist(consumer: Consumer): boolean {
    if (consumer.waiting || consumer.parked || consumer.closed || consumer.credit <= 0) return false;
    if (consumer !== this.active && this.isSingle()) return false;
    consumer.waiting = true;
    this.turnsOf(consumer.priority).waiting.push(consumer);
    this.waitingCount++;
    return true;
  }

  /** Takes the next one out of the line who can be given a message; undefined: nobody can. */
  next(): Consumer | undefined {
    for (let i = 0; i < this.turns.length; i++) {
      const turns = this.turns[i]!;
      while (turns.waiting.length > 0) {
        const consumer = turns.waiting.shift()!;
        this.waitingCount--;
        consumer.waiting = false;
        if (consumer.closed) turns.closed--;
        else if (this.mayTake(consumer)) return consumer;
      }
    }
    return undefined;
  }

  /** All of them are gone. */
  clear(): void {
    this.all.clear();
    this.active = undefined;
  }

  /** Only one is given messages, and it is another. */
  passesOver(consumer: Consumer): boolean {
    return consumer !== this.active && !consumer.browses && this.isSingle();
  }

  /** It can be given a message now. */
  mayTake(consumer: Consumer): boolean {
    if (consumer.closed || consumer.credit <= 0 || !isAttached(consumer.attachment)) return false;
    if (this.passesOver(consumer)) return false;
    if (!consumer.attachment.client.congested) return true;
    consumer.parked = true;
    return false;
  }

  private turnsOf(priority: number): Turns {
    for (let i = 0; i < this.turns.length; i++) if (this.turns[i]!.priority === priority) return this.turns[i]!;
    const turns: Turns = { priority, waiting: new Ring<Consumer>(), closed: 0 };
    this.turns = [...this.turns.filter(({ waiting }) => waiting.length > 0), turns].sort(
      (a, b) => b.priority - a.priority,
    );
    return turns;
  }

  private noteClosed(consumer: Consumer): void {
    const turns = this.turnsOf(consumer.priority);
    if (++turns.closed * 2 <= turns.waiting.length) return;
    const before = turns.waiting.length;
    turns.waiting.filter((other) => !other.closed);
    this.waitingCount -= before - turns.waiting.length;
    turns.closed = 0;
  }
}

function isAttached(attachment: Attachment): boolean {
  return attachment.state === AttachmentState.attached;
}
