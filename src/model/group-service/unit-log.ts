/**
 * Takes what transactions do in this group into the log (model/unit.ts): number, publishes and dequeues in one batch, so that all of it
 * is there or nothing, and that who sends it again finds its number and with it the rest.
 *
 * A message that a unit settles leaves its queue whoever holds it by then: if the client's node was taken for dead meanwhile, somebody else
 * may have been given it, flagged. Otherwise the transaction would be half done.
 */
import type { Rules } from '../../base/rules.js';
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView, MessageParts, RecordFlag } from '../../log/record.js';
import { DeathReason } from '../dead-letter/death.js';
import type { GroupAppender } from '../group-port.js';
import { EntryState } from '../queue/queue-index.js';
import { forEachSettlement, messagesStart } from '../unit.js';
import { terminiIncarnation } from '../queue/outbox.js';
import type { OutboxLog } from './outbox-log.js';
import type { PublishLog } from './publish-log.js';
import type { ServedQueue } from './served-queue.js';
import type { ServiceTimers } from './service-timers.js';
import { SettlementBatch } from './settlement-batch.js';
import type { Termini } from './termini.js';

/** What it needs of its service. */
export interface UnitService {
  readonly publishes: PublishLog;
  readonly outbox: OutboxLog;
  readonly rules: Rules;
  readonly termini: Termini;
  served(incarnation: Lsn): ServedQueue | undefined;
  readonly timers: ServiceTimers;
}

/** What records take besides what the unit takes: the number, the heads of dequeues. */
const spareBytes = 4096;
/** Only without `wholeUnits`: the second half comes so much later. */
const halfMs = 5;

/** What leaves queues: for good, or for the outbox. */
interface Settled {
  readonly queues: Map<ServedQueue, SettlementBatch>;
  readonly dead: [queue: ServedQueue, position: Lsn][];
}

export class UnitLog {
  /** The last lsn given to a dequeue. */
  last: Lsn = 0;
  private readonly appender: GroupAppender;
  private readonly service: UnitService;
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();
  private readonly incarnations: number[] = [];

  constructor(appender: GroupAppender, service: UnitService) {
    this.appender = appender;
    this.service = service;
  }

  /**
   * Takes the unit at `start`, whose number was checked. Its bytes are copied. False: a queue has refused one of its messages, which its
   * publisher is to be told; the rest is done.
   */
  append(bytes: Uint8Array, view: DataView, start: number): boolean {
    const { appender } = this;
    const { publishes, rules, termini } = this.service;
    if (!termini.admits(bytes, view, messagesStart(view, start), start + view.getUint32(start, true))) {
      publishes.appendNumber(view.getUint32(start + 16, true), view.getFloat64(start + 24, true));
      return false;
    }
    const settled = this.settle(bytes, view, start);
    const end = start + view.getUint32(start, true);
    let durable = settled.dead.length > 0;
    for (const batch of settled.queues.values()) durable ||= batch.durable;
    for (let at = messagesStart(view, start); at < end; at += view.getUint32(at, true))
      durable ||= (bytes[at + 5]! & RecordFlag.durable) !== 0;
    let isTaken = true;
    appender.together(() => {
      // Room for it at once, as a rule; what it takes besides is found as it comes.
      appender.reserve(end - start + spareBytes);
      publishes.appendNumber(view.getUint32(start + 16, true), view.getFloat64(start + 24, true), durable);
      isTaken = this.publish(bytes, view, messagesStart(view, start), end);
      if (rules.wholeUnits) this.dequeue(settled);
    });
    if (!rules.wholeUnits) this.service.timers.after(halfMs, () => this.dequeue(settled));
    return isTaken;
  }

  /** False: one of them was refused. */
  private publish(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    let isTaken = true;
    /** That the message is unsettled is said of one that is there, and in its batch. */
    let entryAt = -1;
    const message = this.view;
    for (let at = start; at < end; at += view.getUint32(at, true)) {
      message.set(bytes, view, at);
      this.parts.setFrom(message);
      const { incarnations } = this;
      incarnations.length = message.queueCount;
      for (let i = 0; i < message.queueCount; i++) incarnations[i] = message.incarnation(i);
      if (incarnations[0] === terminiIncarnation) {
        entryAt = at;
        continue;
      }
      const durable = (message.flags & RecordFlag.durable) !== 0;
      if (!this.service.publishes.append(this.parts, incarnations, durable, 0, 0)) isTaken = false;
    }
    if (entryAt >= 0 && isTaken) this.service.termini.append(message.set(bytes, view, entryAt));
    return isTaken;
  }

  /** Takes what it settles out of the queues' hands; what is not there any more was settled otherwise. */
  private settle(bytes: Uint8Array, view: DataView, start: number): Settled {
    const settled: Settled = { queues: new Map(), dead: [] };
    forEachSettlement(bytes, view, start, (incarnation, position, rejects) => {
      const queue = this.service.served(incarnation);
      const entry = queue?.state.index.find(position);
      if (queue === undefined || entry === undefined || entry.state === EntryState.settling) return;
      const { durable } = entry;
      queue.state.index.settle(entry);
      queue.left(position);
      if (rejects && this.isWanted(queue)) {
        settled.dead.push([queue, position]);
        return;
      }
      let batch = settled.queues.get(queue);
      if (batch === undefined) {
        batch = new SettlementBatch();
        settled.queues.set(queue, batch);
      }
      batch.add(position, durable);
    });
    return settled;
  }

  /** What is refused goes elsewhere, or may have to. */
  private isWanted(queue: ServedQueue): boolean {
    return !queue.isKnown || (queue.traits.deadLettering !== undefined && this.service.outbox.isUsable);
  }

  private dequeue({ queues, dead }: Settled): void {
    for (const [queue, batch] of queues)
      if (!queue.gone) this.last = batch.append(queue.incarnation, this.appender, false);
    for (const [queue, position] of dead) this.service.outbox.addNow(queue, position, DeathReason.rejected);
  }
}
