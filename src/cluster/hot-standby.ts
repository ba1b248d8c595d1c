/**
 * Who serves ordinary clients. With `clients: any` every node does; with `clients: primary` the one that leads the system group,
 * which leads all others too (placement single). A backup sends them to it, from the first instant; while the link to it is lost
 * and nobody has its place, nobody can say where to, and clients that come are held until it is settled: so the one who tries
 * the successor first needs no second try.
 */
import { type Admission, AdmissionState } from '../model/admission.js';
import type { ClusterMap } from './cluster-map.js';
import type { Links } from './link/links.js';
import { ClientPolicy, type Member, type Replica, sameReplica, systemGroup } from './map.js';
import { succession } from './replication/placement.js';

export class HotStandby implements Admission {
  private readonly self: Replica;
  private readonly map: ClusterMap;
  private readonly links: Links | undefined;
  private readonly listeners: Set<() => void> = new Set();
  private known: string;

  /** @param links undefined for a broker that is alone. */
  constructor(self: Replica, map: ClusterMap, links: Links | undefined) {
    this.self = self;
    this.map = map;
    this.links = links;
    this.known = this.describe();
    const check = (): void => this.check();
    map.listen({
      groupChanged: (record) => {
        if (record.value.group === systemGroup) check();
      },
      memberChanged: check,
    });
    links?.observe({ up: check, down: check });
  }

  get state(): AdmissionState {
    if (this.map.config.clients === ClientPolicy.any) return AdmissionState.serving;
    const primary = this.leader;
    if (primary === undefined) return AdmissionState.unsettled;
    if (sameReplica(primary, this.self)) return AdmissionState.serving;
    const isThere = this.links?.get(primary.node)?.peer.boot === primary.boot && this.primaryEndpoints !== '';
    return isThere ? AdmissionState.standby : AdmissionState.unsettled;
  }

  primary(secure: boolean): string {
    const member = this.primaryMember;
    return member === undefined ? '' : clientAddress(member, secure);
  }

  /** The primary (or, if every node serves clients, this one), its successors in their order, and then who is not in sync. */
  addresses(secure: boolean): string[] {
    return this.members()
      .map((member) => clientAddress(member, secure))
      .filter((address) => address !== '');
  }

  /** Its name; '' while nobody can connect to it. */
  get primaryNode(): string {
    return this.primaryEndpoints === '' ? '' : (this.leader?.node ?? '');
  }

  /** The cluster's members, in the order of `addresses`. */
  members(): Member[] {
    const { map, self } = this;
    const record = map.groups.get(systemGroup)?.value;
    if (record === undefined) return [];
    const first = map.config.clients === ClientPolicy.any ? self.node : record.primary.node;
    const order = new Set([first, ...succession(record, map, first), ...record.replicas, ...map.members.keys()]);
    return [...order].map((node) => map.members.get(node)?.value).filter((member) => member !== undefined);
  }

  onChange(listener: () => void): { close(): void } {
    this.listeners.add(listener);
    return { close: () => void this.listeners.delete(listener) };
  }

  private get leader(): Replica | undefined {
    return this.map.groups.get(systemGroup)?.value.primary;
  }

  private get primaryMember(): Member | undefined {
    const primary = this.leader;
    const member = primary === undefined ? undefined : this.map.members.get(primary.node)?.value;
    return member?.boot === primary?.boot ? member : undefined;
  }

  /** Where the primary's clients connect, in the clear and over TLS; '' while nobody can. */
  private get primaryEndpoints(): string {
    return [this.primary(false), this.primary(true)].filter((address) => address !== '').join(' ');
  }

  private check(): void {
    const now = this.describe();
    if (now === this.known) return;
    this.known = now;
    for (const listener of [...this.listeners]) listener();
  }

  private describe(): string {
    return `${this.state} ${this.primaryEndpoints}`;
  }
}

function clientAddress({ amqp, amqps = '' }: Member, secure: boolean): string {
  return secure ? amqps : amqp;
}
