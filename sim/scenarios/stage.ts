/** What a scenario's script may do to a cluster, and see of it. */
import { type GroupRecord, MapKey } from '../../src/cluster/map.js';
import type { CrashMode } from '../disk-file.js';
import type { FaultDirector } from '../faults.js';
import type { SimNode } from '../node.js';
import { Operator } from '../operator.js';
import type { SimRandom } from '../random.js';
import { excuseWhatMayBeLost, rollBack } from '../survivors.js';
import type { Upgrades } from '../upgrades.js';
import type { SimWorld } from '../world.js';

export class Stage {
  readonly world: SimWorld;
  readonly director: FaultDirector;
  readonly random: SimRandom;
  readonly operator: Operator;
  private readonly upgrades: Upgrades;
  private readonly isWhole: () => boolean;

  constructor(world: SimWorld, director: FaultDirector, upgrades: Upgrades, isWhole: () => boolean) {
    this.world = world;
    this.director = director;
    this.upgrades = upgrades;
    this.random = world.random.fork('stage');
    this.operator = new Operator(world, this.random);
    this.isWhole = isWhole;
  }

  sleep(minMs: number, maxMs: number = minMs): Promise<void> {
    return this.world.loop.sleep(this.random.between(minMs, maxMs));
  }

  /** Makes the clients busy; to be followed by a fault within milliseconds. Returns true. */
  stir(): true {
    for (const client of this.world.onTrouble) client.stir();
    return true;
  }

  // ---- who is who ----

  /** One of the groups that hold queues. */
  group(): number {
    return 1 + this.random.int(this.world.options.groups);
  }

  /** All of them. */
  groups(): number[] {
    return Array.from({ length: this.world.options.groups }, (_, i) => i + 1);
  }

  record(group: number): GroupRecord {
    return JSON.parse(this.world.coordinator.peek(MapKey.group(group))!.value) as GroupRecord;
  }

  primary(group: number): SimNode {
    return this.world.node(this.record(group).primary.node);
  }

  /** The other members of the in-sync set, in random order. */
  backups(group: number): SimNode[] {
    const { inSync, primary } = this.record(group);
    const others = inSync.filter((member) => member.node !== primary.node);
    return this.random.shuffle(others.map((member) => this.world.node(member.node)));
  }

  /** How many groups the node leads. */
  leads(node: SimNode): number {
    const groups = Array.from({ length: 1 + this.world.options.groups }, (_, group) => group);
    return groups.filter((group) => this.primary(group) === node).length;
  }

  /** The primary of a later epoch than `epoch`, as soon as there is one; undefined if there is none within `limitMs`. */
  async successor(group: number, epoch: number, limitMs = 6000): Promise<SimNode | undefined> {
    const found = await this.until(() => this.record(group).epoch > epoch, limitMs);
    return found ? this.primary(group) : undefined;
  }

  /** All nodes serve and all groups have their full in-sync sets. */
  whole(limitMs = 15_000): Promise<boolean> {
    return this.until(this.isWhole, limitMs);
  }

  /** As `whole`, where not to be is what the scenario is about. */
  async mustBeWhole(when: string, limitMs = 30_000): Promise<void> {
    if (!(await this.whole(limitMs))) this.world.fail('in-sync-full', `not after ${limitMs} ms ${when}`);
  }

  /** Nodes that publishers are connected to, in random order. */
  publishersAt(): SimNode[] {
    const at = new Set<SimNode>();
    for (const client of this.world.onTrouble) if (client.at !== undefined) at.add(client.at);
    return this.random.shuffle([...at]);
  }

  async until(condition: () => boolean, limitMs: number): Promise<boolean> {
    const { loop } = this.world;
    const deadline = loop.now + limitMs;
    while (!condition()) {
      if (loop.now >= deadline) return false;
      await loop.sleep(0.5);
    }
    return true;
  }

  expect(what: string, isSo: boolean): void {
    if (!isSo) this.world.fail('stage', `it does not come about that ${what}`);
  }

  // ---- what harms nobody ----

  /** One direction takes so much longer, which is nobody's fault. */
  slow(from: SimNode, to: SimNode, extraMs: number): void {
    this.world.network.delay(from.name, to.name, extraMs);
  }

  // ---- faults ----

  /** `disk` other than 'all': the power went. */
  crash(nodes: readonly SimNode[], disk: CrashMode = 'all'): void {
    this.begin();
    const alive = nodes.filter((node) => node.alive);
    excuseWhatMayBeLost(this.world, alive);
    for (const node of alive) {
      this.world.inTrouble(node.name);
      node.crash({ disk, machine: false });
    }
  }

  start(nodes: readonly SimNode[]): void {
    for (const node of nodes) {
      node.start();
      this.world.outOfTrouble(node.name);
    }
  }

  /** The node's disk is lost with all that groups did since then that it had alone. */
  wipe(node: SimNode, groups: readonly number[], since: number): void {
    for (const group of groups) rollBack(this.world, group, since);
    node.disk.wipe();
  }

  /** Starts the node again as a newer program. */
  upgrade(node: SimNode): void {
    this.upgrades.restart(node, true);
  }

  /** The node closes its clients' connections, as one does that is stopped. */
  dismissClients(node: SimNode): void {
    this.begin();
    for (const connection of [...this.world.connections]) if (connection.node === node) connection.dismiss();
  }

  freeze(node: SimNode): void {
    this.begin();
    excuseWhatMayBeLost(this.world, [node]);
    this.world.inTrouble(node.name);
    node.freeze();
  }

  thaw(node: SimNode): void {
    node.thaw();
    this.world.outOfTrouble(node.name);
  }

  /** Everything from one node to the other takes so much longer. */
  delay(from: SimNode, to: SimNode, extraMs: number): void {
    this.begin();
    this.world.network.delay(from.name, to.name, extraMs);
    this.world.inTrouble(from.name);
    this.world.inTrouble(to.name);
  }

  /** Nothing comes from or to it. */
  cutOff(node: SimNode, others: readonly SimNode[], coordinatorToo: boolean): void {
    this.begin();
    for (const other of others) {
      this.world.network.block(node.name, other.name);
      this.world.network.block(other.name, node.name);
      this.world.inTrouble(other.name);
    }
    this.world.inTrouble(node.name);
    if (coordinatorToo) this.world.coordinator.cut(node.name);
  }

  breakLinks(a: SimNode, b: SimNode): void {
    this.begin();
    this.world.network.breakConnections(a.name, b.name, 0);
  }

  /** Ends all that still goes on, and waits until everybody is well. */
  async heal(): Promise<void> {
    this.director.mend();
    await this.whole();
  }

  /** One more fault. */
  begin(): void {
    this.director.count++;
    this.world.history.disturb();
  }
}
