import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView } from '../../log/record.js';
import type { Entry } from '../queue/message-index.js';
import { EntryState } from '../queue/piece.js';
import { PositionHeap } from '../queue/position-heap.js';
import type { Consumer } from './consumer.js';
import type { MessageKeys } from './message-keys.js';
import type { QueueConsumers } from './queue-consumers.js';
import type { ServedQueue } from './served-queue.js';

/** Stands in the index for "waits for its group": more than there are attachments. */
const parkedSlot = 0xffff;
/** With so many that wait for their groups, the queue waits as a whole. */
const parkedMax = 4096;

/** Messages with the same key, of which a client holds some, or did: then they go out again one after the other. */
class Group {
  readonly key: string;
  /** Who holds them. Undefined: nobody, or somebody who is given no more of them. */
  consumer: Consumer | undefined = undefined;
  held = 0;
  /** Messages of it that wait. Some may have left the queue. */
  readonly parked = new PositionHeap();
  /** Messages of it that have waited, are ready again, and have not gone out. */
  offered = 0;

  constructor(key: string) {
    this.key = key;
  }
}

/** Groups of a consumer of which messages wait for its credit, and how many it is offered already. */
interface Feed {
  readonly consumer: Consumer;
  readonly groups: Set<Group>;
  offered: number;
}

/** What is to become of the next message. */
export const Choice = {
  /** Nobody can take it. */
  none: 'none',
  /** It waits for its group, or one before it does not any more: what is next then may go. */
  parked: 'parked',
} as const;
export type Choice = (typeof Choice)[keyof typeof Choice];

/**
 * A queue whose messages belong to groups by a header (`x-group-key`): while a client holds messages of a group all others of it are its,
 * so that a group is worked on in order, by one at a time.
 *
 * The others wait ("parked"). Of these only as many become ready again ("offered") as can go out: the first one when nobody holds any,
 * and as many as the holder has credit for. So a message costs the same however many wait behind it.
 */
export class MessageGroups {
  private readonly queue: ServedQueue;
  private readonly keys: MessageKeys;
  private readonly unparked: (position: Lsn) => boolean;
  private readonly groups = new Map<string, Group>();
  private readonly feeds = new Map<Consumer, Feed>();
  /** Of what is offered: its group, and for whom it is. */
  private readonly offers = new Map<Lsn, readonly [Group, Feed | undefined]>();
  /** Of messages that clients hold. */
  private readonly keyOf = new Map<Lsn, string>();
  /** Messages that wait for their groups. */
  parkedCount = 0;
  /** Held messages of which it is not known yet to which group they belong. */
  private readonly unknown = new Set<Lsn>();
  private readonly view = new EnqueueView();

  /** @param unparked a message waits no more: it is in its place again. True: but it has left the queue for that */
  constructor(queue: ServedQueue, keys: MessageKeys, unparked: (position: Lsn) => boolean) {
    this.queue = queue;
    this.keys = keys;
    this.unparked = unparked;
  }

  /** Who is to have the message, which is the next one that is ready. */
  choose(entry: Entry, chunk: Chunk, consumers: QueueConsumers): Consumer | Choice {
    if (this.unknown.size > 0) return Choice.none;
    const group = this.groupOf(entry, chunk);
    if (group === undefined) return consumers.next() ?? Choice.none;
    if (group.held > 0 && !this.mayTake(group)) return this.park(entry, group);
    if (this.isPreceded(entry, group)) return this.offer(group);
    return (group.held > 0 ? group.consumer : consumers.next()) ?? Choice.none;
  }

  /** The same for a get: it may have it; or not, and it stays in turn if that is for who holds others. */
  mayGet(entry: Entry, chunk: Chunk): boolean | typeof Choice.parked {
    const group = this.groupOf(entry, chunk);
    const isFree = group === undefined || group.held === 0;
    if (isFree && this.unknown.size > 0) return false;
    if (!isFree && !this.mayTake(group)) return this.park(entry, group) === Choice.parked && Choice.parked;
    if (group !== undefined && this.isPreceded(entry, group)) return this.offer(group);
    return isFree;
  }

  private groupOf(entry: Entry, chunk: Chunk): Group | undefined {
    const key = this.keys.of(this.view.set(chunk.bytes!, chunk.view!, entry.offset));
    return key === undefined ? undefined : this.groups.get(key);
  }

  /** Who holds messages of the group can be given one more. */
  private mayTake({ consumer }: Group): boolean {
    return consumer !== undefined && this.queue.consumers.mayTake(consumer);
  }

  /** One that waits may have to go before it. */
  private isPreceded(entry: Entry, { parked }: Group): boolean {
    return parked.size > 0 && (this.hasPriorities || parked.peek()! < entry.position);
  }

  /** What waits goes out by priority first, which only the index knows. */
  private get hasPriorities(): boolean {
    return (this.queue.state.options.priorities ?? 0) > 0;
  }

  private park(entry: Entry, group: Group): Choice {
    if (this.parkedCount >= parkedMax) return Choice.none;
    const { position } = entry;
    group.parked.push(position);
    this.parkedCount++;
    this.queue.state.index.deliver(entry, parkedSlot);
    this.resolve(position);
    if (group.consumer !== undefined) this.feedOf(group.consumer).groups.add(group);
    return Choice.parked;
  }

  /** The message, at hand in `message`, is held by a client from now on. */
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

  /** The client has the message no more; or it has left the queue. */
  released(position: Lsn): void {
    const offered = this.resolve(position);
    const wasUnknown = this.known(position);
    if (offered !== undefined) return this.goOn(offered);
    if (wasUnknown) return;
    const key = this.keyOf.get(position);
    const group = key === undefined ? undefined : this.groups.get(key);
    if (group === undefined) return;
    this.keyOf.delete(position);
    if (--group.held > 0) return;
    const { consumer } = group;
    const feed = consumer === undefined ? undefined : this.feeds.get(consumer);
    group.consumer = undefined;
    if (feed !== undefined) {
      feed.groups.delete(group);
      this.endFeed(feed);
    }
    this.goOn(group);
  }

  /** Something of the group has left, and nothing has come instead: what waits may be the next to go out. */
  private goOn(group: Group): void {
    if (group.held > 0) return;
    if (group.offered === 0 && group.parked.size > 0) this.offer(group);
    // What is offered needs no group: it goes out in its place.
    if (group.parked.size === 0 && this.groups.get(group.key) === group) this.groups.delete(group.key);
  }

  /** The consumer can take more. */
  granted(consumer: Consumer): void {
    const feed = this.feeds.get(consumer);
    if (feed !== undefined) this.feed(feed);
  }

  /** Nothing waits any more: the queue is given away, or purged. */
  unparkAll(): void {
    for (const group of this.groups.values()) {
      while (group.parked.size > 0) this.offer(group);
      group.offered = 0;
      if (group.held === 0) this.groups.delete(group.key);
    }
    this.offers.clear();
    this.feeds.clear();
  }

  private hold(position: Lsn, key: string, consumer: Consumer | undefined): void {
    this.keyOf.set(position, key);
    let group = this.groups.get(key);
    if (group === undefined) {
      group = new Group(key);
      this.groups.set(key, group);
    }
    if (group.held++ === 0) group.consumer = consumer;
    if (group.consumer !== undefined && group.parked.size > 0) this.feedOf(group.consumer).groups.add(group);
    this.resolve(position);
    if (group.consumer !== undefined) this.granted(group.consumer);
  }

  private feedOf(consumer: Consumer): Feed {
    let feed = this.feeds.get(consumer);
    if (feed === undefined) {
      feed = { consumer, groups: new Set(), offered: 0 };
      this.feeds.set(consumer, feed);
    }
    return feed;
  }

  /** Offers the consumer as much of its groups as it has credit for, of one after the other. */
  private feed(feed: Feed): void {
    const { consumer, groups } = feed;
    for (const group of groups) {
      if (feed.offered >= consumer.credit || !this.queue.consumers.mayTake(consumer)) break;
      groups.delete(group);
      this.offer(group, feed);
      if (group.parked.size > 0) groups.add(group);
    }
    this.endFeed(feed);
  }

  private endFeed(feed: Feed): void {
    if (feed.groups.size === 0 && feed.offered === 0) this.feeds.delete(feed.consumer);
  }

  /** The first one of the group that waits is ready again; with priorities all are. */
  private offer(group: Group, feed?: Feed): typeof Choice.parked {
    const { index } = this.queue.state;
    for (let position = group.parked.peek(); position !== undefined; position = group.parked.peek()) {
      group.parked.pop();
      this.parkedCount--;
      const entry = index.find(position);
      if (entry === undefined || entry.state !== EntryState.delivered || entry.holder !== parkedSlot) continue;
      index.giveBack(entry, false);
      if (this.unparked(position)) continue;
      this.offers.set(position, [group, feed]);
      group.offered++;
      if (feed !== undefined) feed.offered++;
      if (!this.hasPriorities) break;
    }
    this.keys.dispatchSoon(this.queue);
    return Choice.parked;
  }

  /** The message is not on offer any more. Returns its group, if it was. */
  private resolve(position: Lsn): Group | undefined {
    const offer = this.offers.get(position);
    if (offer === undefined) return undefined;
    const [group, feed] = offer;
    this.offers.delete(position);
    group.offered--;
    if (feed !== undefined) {
      feed.offered--;
      this.feed(feed);
    }
    return group;
  }
}
