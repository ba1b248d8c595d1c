/**
 * Queues that have more than their publishers' connections may go on filling (`x-flow-stop-count`): the nodes are told which ones, when
 * they have so much, and when they have little enough again. What is published meanwhile is taken all the same: it was on its way.
 *
 * Nothing of it is in the log. A new primary begins with what its own node was told by the last one, so that a queue whose publishers
 * wait has them wait on, though it has less than where they stop; then all nodes are told the whole list.
 */
import type { Rules } from '../../base/rules.js';
import { Feature } from '../../base/versions.js';
import type { Lsn } from '../../log/lsn.js';
import type { GroupAppender, GroupClientPort } from '../group-port.js';
import type { FlowLimits } from '../queue/queue-traits.js';
import { AttachmentState } from './attachment.js';
import type { ServedQueue } from './served-queue.js';

/** What it needs of its service. */
export interface FlowPorts {
  served(incarnation: Lsn): ServedQueue | undefined;
  /** Goes through many things, in slices. */
  walk(steps: Iterator<number, void>, done?: () => void): void;
}

/** Those that are attached, or were. */
interface FlowClients {
  values(): Iterable<{ readonly client: GroupClientPort; readonly state: AttachmentState }>;
}

/** Of one queue with such limits. */
export class QueueFlow {
  isStopped = false;
  /** It is in the list of those that messages leave. */
  isLeaving = false;
  private readonly queue: ServedQueue;

  constructor(queue: ServedQueue) {
    this.queue = queue;
  }

  isAbove({ stopCount, stopBytes }: FlowLimits): boolean {
    return this.count > stopCount || this.bytes > stopBytes;
  }

  isBelow({ resumeCount, resumeBytes }: FlowLimits): boolean {
    return this.count < resumeCount && this.bytes < resumeBytes;
  }

  /** Messages are on their way out of the queue, and count until that is committed. */
  get hasLeaving(): boolean {
    const { size, ready, delivered } = this.queue.state.index;
    return size > ready + delivered;
  }

  /** Messages that clients hold count as well: they may come back. */
  private get count(): number {
    return this.queue.state.index.size + (this.queue.coming?.count ?? 0);
  }

  private get bytes(): number {
    return this.queue.state.index.bodyBytes + (this.queue.coming?.bytes ?? 0);
  }
}

export class Flows {
  private readonly ports: FlowPorts;
  private readonly clients: FlowClients;
  private readonly appender: Pick<GroupAppender, 'version'>;
  private readonly rules: Rules;
  private readonly stopped = new Set<Lsn>();
  /** Stopped ones that messages are leaving. */
  private leaving: ServedQueue[] = [];
  /** Nodes were told the whole list: they need to be told of changes only. */
  private hasBegun = false;

  constructor(ports: FlowPorts, clients: FlowClients, appender: Pick<GroupAppender, 'version'>, rules: Rules) {
    this.ports = ports;
    this.clients = clients;
    this.rules = rules;
    this.appender = appender;
  }

  // ---- nodes ----

  /** A node attaches. Only our own one says what the last primary told it. */
  attached(client: GroupClientPort): void {
    if (this.hasBegun) this.tellAll(client);
    else for (const incarnation of client.stopped) this.stopped.add(incarnation);
  }

  /** The service begins to hand out messages. Queues that have too much were found, or are being found. */
  begin(): void {
    this.ports.walk(this.lookAtAll(), () => {
      this.hasBegun = true;
      for (const { client, state } of this.clients.values())
        if (state === AttachmentState.attached) this.tellAll(client);
    });
  }

  private *lookAtAll(): Generator<number, void> {
    for (const incarnation of this.stopped) {
      const queue = this.ports.served(incarnation);
      if (queue === undefined) this.stopped.delete(incarnation);
      else this.look(queue);
      yield 1;
    }
  }

  private tellAll(client: GroupClientPort): void {
    if (this.isUsable && this.rules.stopsListed) client.flow([...this.stopped], true, true);
  }

  private tell(incarnation: Lsn, isStopped: boolean): void {
    for (const { client, state } of this.clients.values())
      if (state === AttachmentState.attached) client.flow([incarnation], isStopped, false);
  }

  /** All nodes know what they are told. */
  private get isUsable(): boolean {
    return this.appender.version >= Feature.flows;
  }

  // ---- queues ----

  /** A message is about to be put into the log for a queue with such limits, and counted as coming. */
  taken(queue: ServedQueue): void {
    if (queue.flow === undefined || !queue.flow.isStopped) this.look(queue);
  }

  /** Messages may have come into the queue, or left it, or its limits may be others. */
  look(queue: ServedQueue): void {
    const limits = queue.traits.flow;
    if (limits === undefined && queue.flow === undefined) return this.go(queue);
    queue.flow ??= new QueueFlow(queue);
    const { flow } = queue;
    const { incarnation } = queue;
    if (!flow.isStopped && this.stopped.has(incarnation)) flow.isStopped = true;
    if (flow.isStopped) {
      if (limits === undefined || flow.isBelow(limits)) this.go(queue);
    } else if (limits !== undefined && this.isUsable && flow.isAbove(limits)) {
      flow.isStopped = true;
      this.stopped.add(incarnation);
      this.tell(incarnation, true);
    }
    // They may have begun to leave before it was stopped.
    if (flow.isStopped && flow.hasLeaving) this.left(queue);
  }

  /** A message is leaving a queue that is stopped. */
  left(queue: ServedQueue): void {
    if (queue.flow!.isLeaving) return;
    queue.flow!.isLeaving = true;
    this.leaving.push(queue);
  }

  /** Messages that were leaving may be gone now. */
  review(): void {
    if (this.leaving.length === 0) return;
    const { leaving } = this;
    this.leaving = [];
    for (const queue of leaving) {
      queue.flow!.isLeaving = false;
      if (!queue.gone) this.look(queue);
    }
  }

  gone(queue: ServedQueue): void {
    this.go(queue);
  }

  private go(queue: ServedQueue): void {
    if (queue.flow !== undefined) queue.flow.isStopped = false;
    if (this.stopped.delete(queue.incarnation)) this.tell(queue.incarnation, false);
  }
}
