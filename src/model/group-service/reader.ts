/**
 * Goes through a queue for one subscription that does not take whatever is next: it has a filter, or it browses. Its cursor moves on, so
 * that a message is looked at once, and again only if it comes back; a turn has a bound.
 */
import type { Chunk } from '../../log/chunk.js';
import { EnqueueView } from '../../log/record.js';
import { DeathReason } from '../dead-letter/death.js';
import type { SubscribeOptions } from '../group-port.js';
import type { Entry } from '../queue/message-index.js';
import type { PieceList } from '../queue/piece-list.js';
import { MessageFilter } from '../selection/message-filter.js';
import type { Consumer } from './consumer.js';
import type { GroupService } from './group-service.js';
import { LaneReading } from './lane-reading.js';
import { markerFormat } from './marker-format.js';
import { QueueReads } from './queue-reads.js';
import type { Readers } from './readers.js';
import type { ServedQueue } from './served-queue.js';

/** Bytes of a head that cost as much to look at as a message with a small one. */
const headUnit = 512;
/** Entries that are passed for the cost of one message that is looked at. */
const passedUnit = 64;
const noFilter = { base: 1, weight: 1 };

const view = new EnqueueView();

export class Reader {
  readonly browses: boolean;
  /** How many positions that came back it has been told. */
  toldBack = 0;
  /** Those of its queue, once it is one of them. */
  readers: Readers | undefined = undefined;
  private readonly consumer: Consumer;
  private readonly queue: ServedQueue;
  private readonly service: GroupService;
  private readonly filter: MessageFilter | undefined;
  private readonly after: number;
  private readonly reads: QueueReads;
  /** By lane; made anew with the index. */
  private lanes = new Map<PieceList, LaneReading>();
  private hasAll = false;
  private found: Entry | undefined = undefined;
  /** Entries that were passed to find it. */
  private looked = 0;

  /** Throws SelectorError. */
  constructor(consumer: Consumer, options: SubscribeOptions, service: GroupService) {
    this.consumer = consumer;
    this.queue = consumer.queue;
    this.service = service;
    this.browses = options.browses === true;
    this.filter = options.filter === undefined ? undefined : new MessageFilter(options.filter);
    this.after = options.after ?? -1;
    this.reads = new QueueReads(this.queue, service);
  }

  get wants(): boolean {
    const { closed, parked, credit } = this.consumer;
    return credit > 0 && !closed && !parked;
  }

  /** Everything was looked at, and what was to be delivered was. */
  get isAtEnd(): boolean {
    return this.hasAll && !this.queue.isDirty && !this.isBehind;
  }

  /** Something came back that it was not told of. */
  get isBehind(): boolean {
    return this.readers !== undefined && this.toldBack < this.readers.backEnd;
  }

  /** Looks at messages until it can deliver no more, or about `max` were looked at. Returns about how many were. */
  run(max: number): number {
    const { consumer, queue, service } = this;
    let cost = 0;
    this.hasAll = false;
    while (cost < max) {
      if (!queue.consumers.mayTake(consumer)) return cost;
      const lane = this.find();
      cost += this.looked / passedUnit;
      if (lane === undefined) {
        this.hasAll = true;
        return cost;
      }
      const { found: entry } = this;
      if (entry === undefined) continue;
      const chunk = service.state.chunk(entry.chunk);
      if (chunk.bytes === undefined) {
        this.reads.load(chunk);
        return cost;
      }
      if (!this.look(lane, entry, chunk)) return cost;
      const { base, weight } = this.filter ?? noFilter;
      cost += base + (view.headerLength / headUnit) * weight;
    }
    return cost;
  }

  /** False: it cannot go on now. */
  private look(lane: LaneReading, entry: Entry, chunk: Chunk): boolean {
    const { queue, service, filter, browses } = this;
    const { position } = entry;
    const isExpired = queue.shedding.hasExpired(entry, chunk);
    if (isExpired && !browses && queue.shedding.mustKeep) return false;
    lane.passed(position);
    view.set(chunk.bytes!, chunk.view!, entry.offset);
    if (isExpired) {
      if (!browses) queue.bury(entry, DeathReason.expired);
    } else if (view.format === markerFormat) return true;
    else if (filter?.matches(view, service.headers) !== false) queue.deliverTo(this.consumer, entry, chunk);
    else if (filter.discards && !browses) queue.dequeue(entry);
    return true;
  }

  /** The lane in which the next message is, `found`, the highest first; it may be further on. Undefined: there is none. */
  private find(): LaneReading | undefined {
    this.looked = 0;
    for (const list of this.queue.state.index.lists) {
      const lane = this.lane(list);
      this.found = lane.next();
      this.looked += lane.looked;
      if (this.found !== undefined || !lane.isAtEnd) return lane;
    }
    return undefined;
  }

  private lane(list: PieceList): LaneReading {
    let lane = this.lanes.get(list);
    if (lane === undefined) {
      const { lists } = this.queue.state.index;
      const kept = [...this.lanes].filter(([one]) => lists.includes(one));
      // With several lanes a position does not say how far it has come.
      lane = new LaneReading(list, lists.length === 1 ? this.after : -1);
      this.lanes = new Map([...kept, [list, lane]]);
    }
    return lane;
  }

  /** The message came back to its place. A browser has passed it, or will come to it. */
  returned(position: number): void {
    if (this.browses || !this.service.rules.readersTold) return;
    for (const lane of this.lanes.values()) lane.returned(position);
  }

  /** So many came back that only the first of them is known. */
  rewind(position: number): void {
    if (!this.browses) for (const lane of this.lanes.values()) lane.rewind(position);
  }

  /** A browser's client could not take what it was sent, from that message on. */
  browseFrom(position: number): void {
    for (const lane of this.lanes.values()) if (lane.has(position)) lane.rewind(position);
  }
}
