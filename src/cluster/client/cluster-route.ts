import type { Route } from '../../model/broker.js';
import type { Delay, Routing } from '../../model/exchange/router.js';
import { delayedIncarnation } from '../../model/queue/outbox.js';
import { isDurable } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { ConfirmGate } from './confirm-gate.js';
import type { GroupClient } from './group-client.js';
import type { GroupClients } from './group-clients.js';

/** Queues of one record, at most: their number is a u16 there. */
export const targetQueuesMax = 16_384;

/** The queues of one group that a message goes to: it is sent there once (or several times, if they are very many). */
export class RouteTarget {
  readonly client: GroupClient;
  readonly incarnations: number[] = [];
  /** One of the queues is durable: so is a persistent message. */
  durable = false;
  /** What the queues want of confirms. */
  readonly gate: ConfirmGate;
  /** It waits there so long, and goes on from that exchange then. */
  delay: Delay | undefined = undefined;

  constructor(client: GroupClient, gate: ConfirmGate) {
    this.client = client;
    this.gate = gate;
  }
}

/** A route over the groups of a cluster. */
export class ClusterRoute implements Route {
  readonly version: number;
  readonly keyed: boolean;
  readonly queueCount: number;
  readonly isKnown: boolean = true;
  readonly targets: readonly RouteTarget[];
  /** One of the queues is about to move: what is published waits, and is routed again. */
  waits: boolean;
  /** Waiting clients to which it goes besides: addresses of Replies. */
  replies: readonly string[] | undefined = undefined;

  /** The one through which a message is to be refused now, if any: too few replicas are in sync. */
  get refusing(): RouteTarget | undefined {
    const { targets } = this;
    for (let i = 0; i < targets.length; i++) if (targets[i]!.client.isClosed(targets[i]!.gate)) return targets[i];
    return undefined;
  }

  constructor(
    routing: Routing,
    version: number,
    clients: GroupClients,
    tables: WiringTables,
    newGate: () => ConfirmGate = () => new ConfirmGate(tables),
  ) {
    this.version = version;
    this.keyed = routing.keyed;
    this.waits = routing.waits;
    this.queueCount = routing.queues.length + routing.delays.length;
    const targets: RouteTarget[] = [];
    for (const queue of routing.queues) {
      const client = clients.client(queue.group);
      let target = targets.find((one) => one.client === client && one.incarnations.length < targetQueuesMax);
      if (target === undefined) {
        target = new RouteTarget(client, newGate());
        targets.push(target);
      }
      target.incarnations.push(queue.position);
      target.durable ||= isDurable(queue);
      target.gate.add(queue);
    }
    for (const delay of routing.delays) {
      const target = new RouteTarget(clients.delaying(delay.exchange), newGate());
      target.delay = delay;
      target.incarnations.push(delayedIncarnation);
      target.durable = true;
      target.gate.addDelayed();
      targets.push(target);
    }
    this.targets = targets;
  }
}
