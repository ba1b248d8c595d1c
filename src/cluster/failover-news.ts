/**
 * Tells clients of the cluster as it changes: queues bound to the exchange `amq.failover` get the list of its members when they are bound,
 * and whenever it has changed. The system group's primary sends it; a new one sends it anew, since nobody knows what the last one
 * still did. A change that is over before it is looked at is not told.
 */
import type { Clock, Timer } from '../base/clock.js';
import type { Lsn } from '../log/lsn.js';
import { MessageParts } from '../log/record.js';
import { nobody } from '../model/broker.js';
import type { Routing } from '../model/exchange/router.js';
import type { BindingObject } from '../model/wiring/objects.js';
import type { WiringTables } from '../model/wiring/tables.js';
import { failoverExchange } from '../model/wiring/vhost-names.js';
import { ClusterRoute } from './client/cluster-route.js';
import type { GroupClients } from './client/group-clients.js';
import type { ClusterMap } from './cluster-map.js';
import type { HotStandby } from './hot-standby.js';
import { ClientPolicy } from './map.js';
import type { ClusterReport } from './report.js';

export interface FailoverSources {
  readonly tables: WiringTables;
  readonly clients: GroupClients;
  readonly map: ClusterMap;
  readonly report: ClusterReport;
  readonly admission: HotStandby;
  readonly clock: Clock;
  /** This node leads the system group, and may act for it now. */
  leads(): boolean;
}

/** What a message's body has, as JSON. */
export interface FailoverList {
  cluster: string;
  /** Hot standby: the node that serves clients; '' while there is none. Left out where every node does. */
  primary?: string;
  /** In the order in which a client should try them. */
  members: { name: string; amqp: string; amqps?: string | undefined; state: string }[];
}

const lookMs = 250;

export class FailoverNews {
  private readonly sources: FailoverSources;
  private readonly timer: Timer;
  /** What was sent to all that were bound; undefined: nothing, or not by us. */
  private sent: string | undefined;
  /** The bindings that have had it. */
  private told: Set<Lsn> = new Set();

  constructor(sources: FailoverSources) {
    this.sources = sources;
    this.timer = sources.clock.every(lookMs, () => this.look());
  }

  close(): void {
    this.timer.cancel();
  }

  private look(): void {
    const { tables } = this.sources;
    const bindings = this.sources.leads() ? [...tables.bindingsFrom(failoverExchange)] : [];
    if (bindings.length === 0) {
      this.sent = undefined;
      return;
    }
    const text = JSON.stringify(this.list());
    if (text !== this.sent) {
      for (const vhost of new Set(bindings.map((binding) => binding.vhost)))
        this.send(tables.routeFrom(vhost, failoverExchange), text);
    } else for (const binding of bindings) if (!this.told.has(binding.position)) this.send(this.behind(binding), text);
    this.sent = text;
    this.told = new Set(bindings.map((binding) => binding.position));
  }

  private list(): FailoverList {
    const { map, report, admission } = this.sources;
    const states = new Map(report.members().map(({ name, state }) => [name, state]));
    const members = admission
      .members()
      .map(({ node, amqp, amqps }) => ({ name: node, amqp, amqps, state: states.get(node) ?? '' }));
    const cluster = map.config.id;
    if (map.config.clients === ClientPolicy.any) return { cluster, members };
    const primary = admission.primaryNode;
    return { cluster, primary, members };
  }

  /** Where one binding leads. */
  private behind({ vhost, destination, destinationKind }: BindingObject): Routing {
    const { tables } = this.sources;
    if (destinationKind === 'exchange') return tables.routeFrom(vhost, destination);
    return tables.route(vhost, '', destination, () => ({}));
  }

  private send(routing: Routing, text: string): void {
    const { tables, clients } = this.sources;
    if (routing.queues.length === 0) return;
    const parts = message(text);
    const { targets } = new ClusterRoute(routing, tables.routingVersion, clients, tables);
    for (const { client, incarnations, gate } of targets) client.publish(parts, incarnations, false, nobody, 0, gate);
  }
}

const encoder = new TextEncoder();
const exchangeName = encoder.encode(failoverExchange);
const contentType = encoder.encode('application/json');
/** Basic properties: content-type, and delivery-mode 1, not persistent. */
const properties = new Uint8Array([0x90, 0x00, contentType.length, ...contentType, 1]);
/** Exchange, and an empty routing key. */
const meta = new Uint8Array([exchangeName.length, ...exchangeName, 0]);

function message(text: string): MessageParts {
  const parts = new MessageParts();
  parts.setMeta(meta);
  parts.setHeader(properties);
  parts.setBody(encoder.encode(text));
  return parts;
}
