import { Refusal, RefusedError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { Lsn } from '../../log/lsn.js';
import type { MessageParts } from '../../log/record.js';
import type { PublishOwner, Subscription } from '../../model/broker.js';
import { terminiIncarnation } from '../../model/queue/outbox.js';
import type {
  AcquiredOutcomes,
  TerminusAnswer,
  TerminusInfo,
  TerminusOperation,
  UnsettledKey,
} from '../../model/terminus/operations.js';
import type { Terminus, TerminusOwner, TerminusPort, TerminusRequest } from '../../model/terminus/port.js';
import { ofSent } from '../../model/terminus/terminus-record.js';
import { isDurable, type QueueObject } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { isLocalGroup } from '../map.js';
import { ConfirmGate } from './confirm-gate.js';
import type { GroupClient } from './group-client.js';
import type { GroupClients } from './group-clients.js';
import type { QueueAccess } from './queue-access.js';
import { queueRefused } from './refusal.js';
import { ClusterSubscription } from './subscription.js';

export interface TerminiOptions {
  readonly tables: WiringTables;
  readonly clients: GroupClients;
  readonly queues: QueueAccess;
  readonly clock: Clock;
  readonly boot: number;
}

export class ClusterTermini implements TerminusPort {
  private readonly options: TerminiOptions;
  private lastAttach = 0;

  constructor(options: TerminiOptions) {
    this.options = options;
  }

  async attach(request: TerminusRequest): Promise<Terminus | undefined> {
    const { tables, clients, queues, boot, clock } = this.options;
    const { vhost, user, container, link, toClient, timeoutMs, outcomes } = request;
    const queue = queues.find(vhost, request.queue) ?? (await queues.found(vhost, request.queue));
    if (queue.owner !== '' || isLocalGroup(queue.group) || tables.moves.of(queue) !== undefined) return undefined;
    const key = JSON.stringify([vhost, user, container, toClient, link]);
    const info = { key, queue: queue.position, durable: isDurable(queue), toClient, timeoutMs };
    const attach = `${boot}.${++this.lastAttach}`;
    const client = clients.client(queue.group);
    const { refusal, id, keys } = await ask(client, clock, info, { kind: 'attach', attach, info, outcomes });
    if (refusal !== '') throw queueRefused(refusal, vhost, request.queue);
    const gate = new ConfirmGate(tables);
    gate.add(queue);
    return new ClusterTerminus(client, clock, gate, queue, info, id, attach, keys);
  }
}

function ask(
  client: GroupClient,
  clock: Clock,
  { queue }: TerminusInfo,
  operation: TerminusOperation,
): Promise<TerminusAnswer> {
  return new Promise((resolve, reject) => {
    client.ask(client.requests.terminus(queue, operation, clock.now(), resolve, reject));
  });
}

/** What is asked for in this turn. */
interface Asked {
  readonly forget: string[];
  readonly acquire: Lsn[];
  readonly outcomes: Record<keyof AcquiredOutcomes, Lsn[]>;
  readonly settled: Lsn[];
}

class ClusterTerminus implements Terminus {
  readonly unsettled: readonly UnsettledKey[];
  owner: TerminusOwner | undefined = undefined;
  private readonly client: GroupClient;
  private readonly clock: Clock;
  private readonly gate: ConfirmGate;
  private readonly incarnations: readonly number[];
  private readonly isDurable: boolean;
  private readonly info: TerminusInfo;
  private readonly id: string;
  private readonly attach: string;
  private asked: Asked | undefined;
  private isDetached = false;

  constructor(
    client: GroupClient,
    clock: Clock,
    gate: ConfirmGate,
    queue: QueueObject,
    info: TerminusInfo,
    id: string,
    attach: string,
    unsettled: readonly UnsettledKey[],
  ) {
    this.client = client;
    this.clock = clock;
    this.gate = gate;
    this.incarnations = [queue.position];
    this.isDurable = isDurable(queue);
    this.info = info;
    this.id = id;
    this.attach = attach;
    this.unsettled = unsettled;
  }

  publish(parts: MessageParts, tag: string, owner: PublishOwner, number: number): void {
    const { client, gate, incarnations, id, attach } = this;
    if (client.isClosed(gate)) return client.refuse(owner, number);
    const durable = this.isDurable && parts.persistent;
    const entry = { parts: ofSent(id, attach, tag), incarnations: ownQueue, durable };
    client.transact([entry, { parts, incarnations, durable }], [], owner, number, gate);
  }

  async isThere(tag: string): Promise<boolean> {
    const { id, attach } = this;
    const { isOver, keys } = await this.ask({ kind: 'check', id, attach, tags: [tag] });
    if (isOver) this.owner?.isOver();
    return keys.length > 0;
  }

  forget(tag: string): void {
    this.thisTurn.forget.push(tag);
  }

  acquire(position: Lsn): void {
    this.thisTurn.acquire.push(position);
  }

  settle(kind: keyof AcquiredOutcomes, position: Lsn): void {
    const { outcomes, settled } = this.thisTurn;
    outcomes[kind].push(position);
    settled.push(position);
  }

  again(subscription: Subscription, positions: readonly Lsn[]): void {
    if (!(subscription instanceof ClusterSubscription) || positions.length === 0) return;
    const { id, attach } = this;
    void this.say({ kind: 'again', id, attach, subscriber: subscription.subscriber, positions });
  }

  detach(ends: boolean): void {
    if (this.isDetached) return;
    this.flush();
    const { id, attach } = this;
    void this.say({ kind: 'detach', id, attach, ends });
    this.isDetached = true;
    this.owner = undefined;
  }

  private get thisTurn(): Asked {
    if (this.asked !== undefined) return this.asked;
    this.asked = {
      forget: [],
      acquire: [],
      outcomes: { acks: [], rejects: [], requeues: [], putBacks: [], releases: [] },
      settled: [],
    };
    queueMicrotask(() => this.flush());
    return this.asked;
  }

  private flush(): void {
    const { asked, id, attach } = this;
    this.asked = undefined;
    if (asked === undefined || this.isDetached) return;
    const { forget, acquire, outcomes, settled } = asked;
    if (forget.length > 0) void this.say({ kind: 'forget', id, attach, tags: forget });
    if (settled.length > 0)
      void this.say({ kind: 'settle', id, attach, outcomes }).then((answer) => {
        if (answer !== undefined) this.owner?.settled(settled);
      });
    if (acquire.length > 0)
      void this.say({ kind: 'acquire', id, attach, positions: acquire }).then((answer) => {
        const taken = new Set(answer?.keys ?? []);
        for (const position of acquire) this.owner?.acquired(position, taken.has(position));
      });
  }

  /** Undefined: it was not done. */
  private async say(operation: TerminusOperation): Promise<TerminusAnswer | undefined> {
    try {
      const answer = await this.ask(operation);
      if (!answer.isOver) return answer;
      this.owner?.isOver();
    } catch (error) {
      this.owner?.lost(error as Error);
    }
    return undefined;
  }

  private async ask(operation: TerminusOperation): Promise<TerminusAnswer> {
    const answer = await ask(this.client, this.clock, this.info, operation);
    if (answer.refusal !== '') throw new RefusedError(Refusal.internalError, answer.refusal);
    return answer;
  }
}

const ownQueue: readonly number[] = [terminiIncarnation];
