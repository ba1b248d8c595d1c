import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView } from '../../log/record.js';
import type { Entry } from '../queue/message-index.js';
import type { Consumer } from './consumer.js';
import type { MessageKeys } from './message-keys.js';
import type { QueueConsumers } from './queue-consumers.js';
import type { ServedQueue } from './served-queue.js';

/** Stands in the index for "waits for its group": more than there are attachments. */
const parkedSlot = 0xffff;
/** With so many that wait for their groups, the queue waits as a whole. */
const parkedMax = 4096;

/** Messages with the same key, of which a client holds some. */
interface Group {
  /** Who holds them. Undefined: somebody who is given no more of them. */
  readonly consumer: Consumer | undefined;
  held: number;
  /** Messages of it that wait, in order. */
  readonly parked: Lsn[];
}

/** What is to become of the next message. */
export const Choice = {
  /** Nobody can take it. */
  none: 'none',
  /** It waits for its group; the next one may go. */
  parked: 'parked',
} as const;
export type Choice = (typeof Choice)[keyof typeof Choice];

/**
 * A queue whose messages belong to groups by a header (`x-group-key`): while a client holds messages of a group all others of it are its,
 * so that a group is worked on in order, by one at a time.
 */
export class MessageGroups {
  private readonly queue: ServedQueue;
  private readonly keys: MessageKeys;
  private readonly unparked: (position: Lsn) => void;
  private readonly groups = new Map<string, Group>();
  /** Groups of which messages wait for more credit of their consumer. */
  private readonly waiting = new Map<Consumer, Set<Group>>();
  /** Of messages that clients hold. */
  private readonly keyOf = new Map<Lsn, string>();
  /** Messages that wait for their groups. */
  parkedCount = 0;
  /** Held messages of which it is not known yet to which group they belong. */
  private readonly unknown = new Set<Lsn>();
  private readonly view = new EnqueueView();

  /** @param unparked a message waits no more: it is in its place again */
  constructor(queue: ServedQueue, keys: MessageKeys, unparked: (position: Lsn) => void) {
    this.queue = queue;
    this.keys = keys;
    this.unparked = unparked;
  }

  /** Who is to have the message, which is the next one that is ready. */
  choose(entry: Entry, chunk: Chunk, consumers: QueueConsumers): Consumer | Choice {
    if (this.unknown.size > 0) return Choice.none;
    const key = this.keys.of(this.view.set(chunk.bytes!, chunk.view!, entry.offset));
    const group = key === undefined ? undefined : this.groups.get(key);
    if (group === undefined) return consumers.next() ?? Choice.none;
    if (!this.mayTake(group)) return this.park(entry, group);
    if (group.parked.length === 0) return group.consumer!;
    // Those before it go first.
    this.unpark(group);
    return Choice.parked;
  }

  /** Who holds messages of the group can be given one more. */
  private mayTake({ consumer }: Group): boolean {
    return consumer !== undefined && this.queue.consumers.mayTake(consumer);
  }

  /** The same for a get: false, if somebody else holds messages of its group; it stays in turn if that one is to have it. */
  mayGet(entry: Entry, chunk: Chunk): boolean {
    const key = this.keys.of(this.view.set(chunk.bytes!, chunk.view!, entry.offset));
    const group = key === undefined ? undefined : this.groups.get(key);
    if (this.unknown.size === 0 && group === undefined) return true;
    if (group !== undefined && !this.mayTake(group)) this.park(entry, group);
    return false;
  }

  private park(entry: Entry, group: Group): Choice {
    if (this.parkedCount >= parkedMax) return Choice.none;
    group.parked.push(entry.position);
    if (group.consumer !== undefined) this.await(group.consumer, group);
    this.parkedCount++;
    this.queue.state.index.deliver(entry, parkedSlot);
    return Choice.parked;
  }

  /** The message, in `chunk` at `offset`, is held by a client from now on. */
  held(position: Lsn, message: EnqueueView, consumer: Consumer | undefined): void {
    const key = this.keys.of(message);
    if (key !== undefined) this.hold(position, key, consumer);
  }

  /** A client of the primary before holds the message. */
  named(position: Lsn): void {
    if (this.keyOf.has(position) || this.unknown.has(position)) return;
    this.unknown.add(position);
    this.keys.read(
      this.queue,
      position,
      (key) => {
        // Its client may have settled it meanwhile.
        if (this.known(position)) this.hold(position, key, undefined);
      },
      () => void this.known(position),
    );
  }

  /** The message needs not be waited for any more. False: it was not. */
  private known(position: Lsn): boolean {
    if (!this.unknown.delete(position)) return false;
    this.keys.dispatchSoon(this.queue);
    return true;
  }

  /** The client has the message no more. */
  released(position: Lsn): void {
    if (this.known(position)) return;
    const key = this.keyOf.get(position);
    const group = key === undefined ? undefined : this.groups.get(key);
    if (key === undefined || group === undefined) return;
    this.keyOf.delete(position);
    if (--group.held > 0) return;
    this.groups.delete(key);
    this.unpark(group);
    const others = group.consumer === undefined ? undefined : this.waiting.get(group.consumer);
    if (others?.delete(group) === true && others.size === 0) this.waiting.delete(group.consumer!);
  }

  /** The consumer can take more. */
  granted(consumer: Consumer): void {
    const groups = this.waiting.get(consumer);
    if (groups === undefined) return;
    this.waiting.delete(consumer);
    for (const group of groups) this.unpark(group);
  }

  /** Nothing waits any more: the queue is given away. */
  unparkAll(): void {
    for (const group of this.groups.values()) this.unpark(group);
  }

  private await(consumer: Consumer, group: Group): void {
    const groups = this.waiting.get(consumer);
    if (groups === undefined) this.waiting.set(consumer, new Set([group]));
    else groups.add(group);
  }

  private hold(position: Lsn, key: string, consumer: Consumer | undefined): void {
    const group = this.groups.get(key);
    this.keyOf.set(position, key);
    if (group === undefined) this.groups.set(key, { consumer, held: 1, parked: [] });
    else group.held++;
  }

  private unpark(group: Group): void {
    if (group.parked.length === 0) return;
    const { index } = this.queue.state;
    for (const position of group.parked.splice(0)) {
      this.parkedCount--;
      const entry = index.find(position);
      if (entry === undefined || entry.holder !== parkedSlot) continue;
      index.giveBack(entry, false);
      this.unparked(position);
    }
    this.keys.dispatchSoon(this.queue);
  }
}
