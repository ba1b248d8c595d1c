import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterMap, MapListener } from '../../../src/cluster/cluster-map.js';
import { HotStandby } from '../../../src/cluster/hot-standby.js';
import type { Links, LinksListener } from '../../../src/cluster/link/links.js';
import { ClientPolicy, MemberState, noConfig, type Replica, systemGroup } from '../../../src/cluster/map.js';

const replica = (node: string, boot = 1): Replica => ({ node, store: node, boot });

/** Node n2 of three; n1 leads. */
class World {
  readonly listeners: MapListener[] = [];
  readonly linkListeners: LinksListener[] = [];
  readonly links: Map<string, { peer: { boot: number } }> = new Map([['n1', { peer: { boot: 1 } }]]);
  readonly map: ClusterMap;
  readonly standby: HotStandby;
  readonly changes: string[] = [];

  constructor(clients: ClientPolicy) {
    this.map = {
      config: { ...noConfig, clients },
      members: new Map(),
      groups: new Map(),
      listen: (listener: MapListener) => void this.listeners.push(listener),
    } as unknown as ClusterMap;
    const links = {
      get: (node: string) => this.links.get(node),
      observe: (listener: LinksListener) => void this.linkListeners.push(listener),
    } as unknown as Links;
    for (const node of ['n1', 'n2', 'n3']) this.member(node);
    this.lead('n1', 1, ['n1', 'n2', 'n3']);
    this.standby = new HotStandby(replica('n2'), this.map, links);
    this.standby.onChange(() => this.changes.push(this.now));
  }

  get now(): string {
    return `${this.standby.state} ${this.standby.primary(false)}`;
  }

  member(node: string, amqp = `${node}:5672`, boot = 1, amqps?: string): void {
    const value = { ...replica(node, boot), ordinal: 1, address: '', amqp, http: '', amqps, pid: 1, lead: true };
    this.map.members.set(node, { version: 1, value: { ...value, state: MemberState.ready } });
    for (const listener of this.listeners) listener.memberChanged(undefined, node);
  }

  lead(node: string, boot: number, inSync: string[]): void {
    const members = inSync.map((name) => replica(name, name === node ? boot : 1));
    const record = { group: systemGroup, epoch: 1, primary: replica(node, boot), inSync: members };
    const known = { version: 1, value: { ...record, replicas: ['n1', 'n2', 'n3'] } };
    this.map.groups.set(systemGroup, known);
    for (const listener of this.listeners) listener.groupChanged(known);
  }

  link(node: string, boot: number | undefined): void {
    if (boot === undefined) this.links.delete(node);
    else this.links.set(node, { peer: { boot } });
    for (const listener of this.linkListeners) listener.down?.(undefined as never, 'closed' as never);
  }
}

describe('hot standby', () => {
  it('serves clients on every node unless asked for', () => {
    const world = new World(ClientPolicy.any);
    world.link('n1', undefined);
    assert.equal(world.standby.state, 'serving');
    assert.deepEqual(world.standby.addresses(false), ['n2:5672', 'n3:5672', 'n1:5672']);
  });

  it('sends them to the primary, and lists the successors after it', () => {
    const world = new World(ClientPolicy.primary);
    assert.equal(world.now, 'standby n1:5672');
    assert.deepEqual(world.standby.addresses(false), ['n1:5672', 'n2:5672', 'n3:5672']);
    world.lead('n1', 1, ['n1', 'n3']);
    assert.deepEqual(world.standby.addresses(false), ['n1:5672', 'n3:5672', 'n2:5672']);
  });

  it('sends those who come over TLS where TLS is, and a primary without any other port is there as well', () => {
    const world = new World(ClientPolicy.primary);
    assert.equal(world.standby.primary(true), '');
    world.member('n3', 'n3:5672', 1, 'n3:5671');
    world.member('n1', '', 1, 'n1:5671');
    assert.deepEqual(world.standby.addresses(true), ['n1:5671', 'n3:5671']);
    assert.deepEqual(world.standby.addresses(false), ['n2:5672', 'n3:5672']);
    assert.equal(world.standby.primary(true), 'n1:5671');
    assert.equal(world.standby.primaryNode, 'n1');
    assert.equal(world.now, 'standby ');
  });

  it('tells what happens from the loss of the primary to the takeover, each once', () => {
    const world = new World(ClientPolicy.primary);
    world.link('n3', undefined);
    world.link('n1', undefined);
    world.lead('n2', 1, ['n2', 'n3']);
    world.member('n1', '', 4);
    assert.deepEqual(world.changes, ['unsettled n1:5672', 'serving n2:5672']);
    assert.deepEqual(world.standby.addresses(false), ['n2:5672', 'n3:5672']);
  });

  it('sends nobody to another boot of the primary, nor to one whose clients are being dismissed', () => {
    const world = new World(ClientPolicy.primary);
    world.member('n1', '');
    world.member('n1', 'n1:5672');
    world.link('n1', 2);
    world.member('n1', 'n1:5672', 2);
    assert.deepEqual(world.changes, ['unsettled ', 'standby n1:5672', 'unsettled n1:5672', 'unsettled ']);
  });
});
