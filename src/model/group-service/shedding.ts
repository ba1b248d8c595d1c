import type { Chunk } from '../../log/chunk.js';
import { expiresAt, immediately } from '../../log/record.js';
import { DeathReason } from '../dead-letter/death.js';
import type { Entry } from '../queue/message-index.js';
import { noTraits, Overflow, refusesMore } from '../queue/queue-traits.js';
import type { GroupService } from './group-service.js';
import type { ServedQueue } from './served-queue.js';

/** What the wiring does not say yet is asked for again after this time. */
const lookAgainMs = 10;

/** What a queue gives up without anybody taking it: messages whose time is over, and what is too much; from its front only. */
export class Shedding {
  private readonly queue: ServedQueue;
  private readonly service: GroupService;

  constructor(queue: ServedQueue, service: GroupService) {
    this.queue = queue;
    this.service = service;
  }

  /** It has more than it may have, or its first message may expire and is not watched. */
  get isDue(): boolean {
    const { state, expiryBucket, traits } = this.queue;
    if ((traits === noTraits && !state.mayExpire) || this.keepsAll) return false;
    return (state.mayExpire && expiryBucket === 0) || this.isTooMuch;
  }

  /** False: a message that is about to be published to the queue is one too much. What is coming is counted. */
  admit(body: number): boolean {
    const { coming } = this.queue;
    const { index } = this.queue.state;
    const { lengthMax, bytesMax, overflow } = this.queue.traits;
    if (!refusesMore(overflow) || coming === undefined || !this.service.rules.fullRefuses) return true;
    return index.ready + coming.count < lengthMax && index.readyBytes + coming.bytes + body <= bytesMax;
  }

  /** The message may not be handed out any more. One that is for whoever takes it at once may. */
  hasExpired(entry: Entry, chunk: Chunk): boolean {
    if (!this.queue.state.mayExpire || this.keepsAll || !this.service.rules.timeKept) return false;
    const at = expiresAt(chunk.view!, entry.offset);
    return at > immediately && at <= this.service.expiry.wall();
  }

  /** It is not known yet where what it gives up is to go, or the outbox takes no more now: later. */
  get mustKeep(): boolean {
    const { queue, service } = this;
    if (!queue.isKnown) {
      service.expiry.watch(queue, service.expiry.wall() + lookAgainMs);
      return true;
    }
    if (queue.traits.deadLettering === undefined || !service.outbox.isFull) return false;
    service.dispatchLater(queue);
    return true;
  }

  /** Lets go of what nobody took, up to `max` messages in this turn. Returns how many it was. */
  run(max: number): number {
    const { queue, service } = this;
    const { state, traits } = queue;
    let count = 0;
    if (this.keepsAll) return count;
    for (; state.mayExpire || this.isTooMuch; count++) {
      const entry = this.first;
      if (entry === undefined) {
        if (state.index.size === 0) state.mayExpire = false;
        break;
      }
      const { isTooMuch } = this;
      const chunk = service.state.chunk(entry.chunk);
      if (chunk.bytes === undefined && !(isTooMuch && traits.deadLettering === undefined)) {
        queue.reads.load(chunk);
        break;
      }
      if (count >= max) {
        service.dispatchLater(queue);
        break;
      }
      if (!isTooMuch && !this.isOver(entry, chunk)) break;
      if (this.mustKeep) break;
      queue.bury(entry, isTooMuch ? DeathReason.maxlen : DeathReason.expired);
    }
    return count;
  }

  /** What it lets go of next. */
  private get first(): Entry | undefined {
    const { state, traits } = this.queue;
    return traits.overflow === Overflow.dropLowest && this.isTooMuch
      ? state.index.leastReady()
      : state.index.nextReady();
  }

  private get isTooMuch(): boolean {
    const { index } = this.queue.state;
    const { lengthMax, bytesMax, overflow } = this.queue.traits;
    if (index.ready <= lengthMax && index.readyBytes <= bytesMax) return false;
    return !refusesMore(overflow) && this.service.rules.lengthKept;
  }

  /** What it would give up is to go elsewhere, and not all nodes know how: nothing expires or is too much. */
  private get keepsAll(): boolean {
    return this.queue.traits.deadLettering !== undefined && !this.service.outbox.isUsable;
  }

  /** The message has expired; if not, the queue is looked at again when it does. */
  private isOver(entry: Entry, chunk: Chunk): boolean {
    const { expiry, rules } = this.service;
    const at = expiresAt(chunk.view!, entry.offset);
    if (at === 0 || !rules.timeKept) return false;
    if (at <= expiry.wall()) return true;
    expiry.watch(this.queue, at);
    return false;
  }
}
