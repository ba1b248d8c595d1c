import type { Rules } from '../../base/rules.js';
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import type { EnqueueView } from '../../log/record.js';
import type { Entry } from '../queue/message-index.js';
import type { Consumer } from './consumer.js';
import type { GroupService } from './group-service.js';
import { LastValues } from './last-values.js';
import { Choice, MessageGroups } from './message-groups.js';
import { MessageKeys } from './message-keys.js';
import type { ServedQueue } from './served-queue.js';

/** What a queue does by its messages' headers: most do nothing. */
export class KeyedQueue {
  private readonly queue: ServedQueue;
  private readonly lastValues: LastValues | undefined;
  private readonly groups: MessageGroups | undefined;
  private readonly rules: Rules;
  private isGivenAway = false;

  /** Undefined: the queue does nothing by headers. */
  static of(queue: ServedQueue, service: GroupService): KeyedQueue | undefined {
    const { lastValueKey, groupKey } = queue.traits;
    return lastValueKey === undefined && groupKey === undefined ? undefined : new KeyedQueue(queue, service);
  }

  private constructor(queue: ServedQueue, service: GroupService) {
    const { lastValueKey, groupKey } = queue.traits;
    this.queue = queue;
    this.rules = service.rules;
    if (lastValueKey !== undefined)
      this.lastValues = new LastValues(queue, new MessageKeys(lastValueKey, service), service.rules);
    const unparked = (position: Lsn): boolean => this.dropReplaced(position);
    if (groupKey !== undefined) this.groups = new MessageGroups(queue, new MessageKeys(groupKey, service), unparked);
  }

  /** Messages that wait for their group, and count as ready. */
  get parkedCount(): number {
    return this.groups?.parkedCount ?? 0;
  }

  added(position: Lsn, chunk: Chunk, offset: number): void {
    this.lastValues?.added(position, chunk, offset);
  }

  /** The message leaves the queue. */
  left(position: Lsn): void {
    this.groups?.released(position);
    this.lastValues?.forget(position);
  }

  /** A client has the message, at hand in `message`, from now on. */
  held(position: Lsn, message: EnqueueView, consumer: Consumer | undefined): void {
    this.groups?.held(position, message, consumer);
  }

  /** A client has it from the primary before. */
  named(position: Lsn): void {
    if (!this.rules.groupsNamed) return;
    this.groups?.named(position);
  }

  /** A client has given it back: it is in its place again. */
  returned(position: Lsn): void {
    this.groups?.released(position);
    this.dropReplaced(position);
  }

  /** The message is in its place again: it goes, if a newer one has taken that. Returns whether it does. */
  private dropReplaced(position: Lsn): boolean {
    // Nothing changes while the queue is given away: the next primary finds it.
    if (this.isGivenAway || this.lastValues?.isReplaced(position) !== true) return false;
    const entry = this.queue.state.index.find(position);
    if (entry === undefined) return false;
    this.queue.dequeue(entry);
    return true;
  }

  /** The consumer can take more. */
  granted(consumer: Consumer): void {
    this.groups?.granted(consumer);
  }

  /** Who is to have the message, which is ready and in turn. */
  choose(entry: Entry, chunk: Chunk): Consumer | Choice {
    const { consumers } = this.queue;
    const groups = this.rules.groupsTogether ? this.groups : undefined;
    return groups?.choose(entry, chunk, consumers) ?? consumers.next() ?? Choice.none;
  }

  /** See MessageGroups. */
  mayGet(entry: Entry, chunk: Chunk): boolean | typeof Choice.parked {
    return this.groups?.mayGet(entry, chunk) ?? true;
  }

  /** Nothing waits for its group any more. @param isGivenAway so is the queue */
  unparkAll(isGivenAway: boolean): void {
    this.isGivenAway = isGivenAway;
    this.groups?.unparkAll();
    this.isGivenAway = false;
  }
}
