/**
 * Nodes with links and group clients on the simulated network, and groups with the real service on a log that commits at
 * the end of the turn, unless it is told to wait. Who leads a group is said by the test; what committed survives a move.
 */
import { silentLogger } from '../../../src/base/logger.js';
import { allRules, type Rules } from '../../../src/base/rules.js';
import { type Flushable, Phase, Turn } from '../../../src/base/turn.js';
import { protocolVersions } from '../../../src/base/versions.js';
import { fullSlices } from '../../../src/base/slices.js';
import { AttachmentServer } from '../../../src/cluster/client/attachment-server.js';
import { GroupClients } from '../../../src/cluster/client/group-clients.js';
import type { GroupDirectory, Leadership, LedGroup } from '../../../src/cluster/client/ports.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { Links } from '../../../src/cluster/link/links.js';
import type { Member } from '../../../src/cluster/map.js';
import type { Chunk } from '../../../src/log/chunk.js';
import { ChunkStore } from '../../../src/log/chunk-store.js';
import { forEachRecord, GroupLog } from '../../../src/log/group-log.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { encodeDrop, encodeOpen } from '../../../src/log/open-record.js';
import { MessageParts, RecordKind } from '../../../src/log/record.js';
import type { GroupAppender, GroupServicePort } from '../../../src/model/group-port.js';
import { GroupService } from '../../../src/model/group-service/group-service.js';
import { allPlain, type QueueTraitsSource } from '../../../src/model/group-service/traits-of.js';
import { GroupState } from '../../../src/model/group-state.js';
import { SimClock } from '../../../sim/clock.js';
import { type Context, EventLoop } from '../../../sim/event-loop.js';
import { SimNetwork } from '../../../sim/network.js';
import { SimRandom } from '../../../sim/random.js';

/** A group as its primary runs it, alone. */
export class TestPrimary implements GroupAppender, Flushable {
  readonly epoch: number;
  readonly state: GroupState;
  readonly service: GroupService;
  readonly version: number = protocolVersions.max;
  replicated = true;
  /** False: nothing commits. */
  commits = true;
  acts = true;
  private readonly log: GroupLog;
  private readonly node: TestNode;
  private readonly group: TestGroup;
  private readonly attached = new Set<string>();
  private due = false;
  private closed = false;

  constructor(group: TestGroup, node: TestNode, epoch: number) {
    this.group = group;
    this.node = node;
    this.epoch = epoch;
    const chunks = new ChunkStore(node.turn, silentLogger, 1 << 28);
    this.state = new GroupState(
      group.id,
      chunks,
      fullSlices((run) => node.world.loop.after(0, node.context, run)),
    );
    this.replay(chunks);
    this.log = new GroupLog(group.id, chunks);
    this.log.resetTo(this.state.applied);
    this.log.beginEpoch(epoch);
    this.service = new GroupService({
      state: this.state,
      appender: this,
      epoch,
      turn: node.turn,
      clock: node.clock,
      logger: silentLogger,
      rules: node.rules,
      tookOver: false,
      traits: group.traits,
      queueUse: (incarnation, { kind }) => {
        if (kind === 'unused') group.unused.push(incarnation);
      },
      broken: (name, boot) => {
        group.brokenTies++;
        if (name === node.name) node.clients.broken(group.id);
        else node.server.broken(group.id, name, boot);
      },
    });
    this.service.advanceWiring(group.wiringVersion, 0);
  }

  /** Attaches a node; deliveries begin when all have attached (rule 13). */
  attach(...[node, boot, client, held, confirmed]: Parameters<GroupService['attach']>): GroupServicePort {
    return this.service.attach(node, boot, client, held, confirmed, () => {
      this.attached.add(node);
      if ([...this.node.world.nodes.keys()].every((name) => this.attached.has(name))) this.service.open();
    });
  }

  get chunk(): Chunk {
    return this.log.openChunk;
  }
  get offset(): number {
    return this.log.openOffset;
  }
  reserve(bytes: number): void {
    this.log.reserve(bytes, () => {});
    this.wake();
  }
  append(length: number): Lsn {
    return this.log.append(length);
  }
  together(run: () => void): void {
    this.log.together(run);
  }
  mayRelax(): boolean {
    return true;
  }
  mayAct(): boolean {
    return this.acts && !this.closed;
  }

  wake(): void {
    if (this.due || this.closed) return;
    this.due = true;
    this.node.turn.add(Phase.log, this);
  }

  flush(): void {
    this.due = false;
    if (this.closed) return;
    this.log.seal(false);
    if (!this.commits) return;
    this.log.commitTo(this.log.end, (chunk, offset) => {
      this.state.apply(chunk, offset);
      const length = chunk.view!.getUint32(offset, true);
      this.group.committed.push(chunk.bytes!.slice(offset, offset + length));
    });
    this.service.committed(this.log.committed);
  }

  appendRecord(record: Uint8Array): Lsn {
    this.reserve(record.length);
    this.chunk.bytes!.set(record, this.offset);
    return this.append(record.length);
  }

  /** Deposed: gives back what did not commit. */
  close(): void {
    this.closed = true;
    const { clients, boot, name } = this.node;
    this.log.seal(false);
    for (let number = this.log.numberAfter(this.log.committed); number < this.log.endNumber; number++)
      forEachRecord(this.log.batch(number)!, (chunk, offset) => {
        const isOwn = chunk.view!.getUint32(offset + 16, true) === boot;
        if (chunk.bytes![offset + 4] === RecordKind.enqueue && isOwn)
          clients.keepPublish(this.group.id, chunk.bytes!, chunk.view!, offset);
      });
    this.service.forEachWaitingPublish(name, (bytes, view, start) => {
      clients.keepPublish(this.group.id, bytes, view, start);
    });
    this.service.close();
  }

  private replay(chunks: ChunkStore): void {
    for (const record of this.group.committed) {
      const chunk = chunks.open(this.group.id, record.length);
      chunk.bytes!.set(record, 0);
      chunk.used = record.length;
      this.state.apply(chunk, 0);
    }
  }
}

export class TestGroup {
  readonly id: number;
  /** Committed records, in order. */
  readonly committed: Uint8Array[] = [];
  readonly unused: Lsn[] = [];
  brokenTies = 0;
  traits: QueueTraitsSource = allPlain;
  wiringVersion = 1;
  epoch = 0;
  leader: TestNode | undefined;
  primary: TestPrimary | undefined;
  over = false;
  private readonly world: World;

  constructor(world: World, id: number) {
    this.world = world;
    this.id = id;
  }

  /**
   * The node takes over; the others hear of it `hearAfterMs` later. The old primary is deposed when it hears; it has no lease
   * any more, and what it appends does not commit.
   */
  lead(node: TestNode, hearAfterMs = 0): void {
    const { primary: old } = this;
    if (old !== undefined) {
      old.commits = false;
      old.acts = false;
    }
    this.epoch++;
    this.leader = node;
    const primary = new TestPrimary(this, node, this.epoch);
    this.primary = primary;
    const leadership: Leadership = { epoch: this.epoch, node: node.name, boot: node.boot };
    for (const other of this.world.nodes.values())
      this.world.loop.after(other === node ? 0 : hearAfterMs, other.context, () => {
        const led = other.leads.get(this.id);
        if (led !== undefined && led.epoch < primary.epoch) {
          led.close();
          other.leads.delete(this.id);
        }
        if (other === node) other.leads.set(this.id, primary);
        other.directory.learn(this, leadership);
      });
  }

  open(incarnation: number): void {
    const lsn = this.primary!.appendRecord(encodeOpen(incarnation, this.wiringVersion, { durable: true }));
    this.primary!.service.advanceWiring(this.wiringVersion, lsn);
  }

  drop(incarnation: number): void {
    this.wiringVersion++;
    const lsn = this.primary!.appendRecord(encodeDrop(incarnation, this.wiringVersion));
    this.primary!.service.advanceWiring(this.wiringVersion, lsn);
  }
}

class TestDirectory implements GroupDirectory {
  learnSoon(): void {}
  delayGroup(): number {
    return 1;
  }
  private readonly node: TestNode;
  private readonly known = new Map<number, Leadership>();
  private readonly groups: Map<number, TestGroup> = new Map();
  private readonly listeners: ((group: number) => void)[] = [];

  constructor(node: TestNode) {
    this.node = node;
  }

  learn(group: TestGroup, leadership: Leadership): void {
    if (leadership.epoch <= (this.known.get(group.id)?.epoch ?? 0)) return;
    this.known.set(group.id, leadership);
    this.groups.set(group.id, group);
    this.changed(group.id);
  }
  changed(group: number): void {
    for (const listener of this.listeners) listener(group);
  }

  leadership(group: number): Leadership | undefined {
    return this.known.get(group);
  }
  isOver(group: number): boolean {
    return this.groups.get(group)?.over ?? false;
  }
  led(id: number): LedGroup | undefined {
    const group = this.groups.get(id);
    const primary = group?.primary;
    if (group?.leader !== this.node || primary === undefined || this.known.get(id)?.epoch !== primary.epoch)
      return undefined;
    const service = {
      attach: (...call: Parameters<GroupService['attach']>): GroupServicePort => primary.attach(...call),
      taken: (boot: number): number => primary.service.taken(boot),
      detach: (node: string, boot: number): void => primary.service.detach(node, boot),
    };
    return { epoch: primary.epoch, service };
  }
  onChange(listener: (group: number) => void): void {
    this.listeners.push(listener);
  }
}

export class TestNode {
  readonly world: World;
  readonly name: string;
  readonly boot: number;
  readonly context: Context;
  readonly clock: SimClock;
  readonly turn: Turn;
  readonly rules: Rules;
  readonly links: Links;
  readonly directory: TestDirectory;
  readonly clients: GroupClients;
  readonly server: AttachmentServer;
  /** What it leads, as far as it knows, by group. */
  readonly leads: Map<number, TestPrimary> = new Map();

  constructor(world: World, name: string, boot: number, rules: Rules) {
    this.world = world;
    this.name = name;
    this.boot = boot;
    this.rules = rules;
    this.context = world.loop.context(name);
    this.clock = new SimClock(world.loop, this.context, 1, 1000);
    this.turn = new Turn((run) => world.loop.after(0, this.context, run));
    this.links = new Links({
      self: { cluster: 'c', node: name, store: name, boot, ordinal: boot, address: '', amqp: '', http: '' },
      secret: ClusterSecret.none,
      transport: world.network.transport(name, this.context),
      clock: this.clock,
      turn: this.turn,
      random: world.random.fork(`links of ${name}`),
      logger: silentLogger,
    });
    this.directory = new TestDirectory(this);
    this.clients = new GroupClients({
      node: name,
      boot,
      turn: this.turn,
      clock: this.clock,
      slices: fullSlices((run) => world.loop.after(0, this.context, run)),
      logger: silentLogger,
      rules,
      directory: this.directory,
      links: this.links,
      leaseMs: 2000,
      wiringVersion: () => Math.max(...[...world.groups.values()].map((group) => group.wiringVersion)),
    });
    this.server = new AttachmentServer({ turn: this.turn, rules, directory: this.directory, links: this.links });
    void this.links.listen(`${name}:1`);
  }

  get member(): Member {
    const { name, boot } = this;
    return {
      node: name,
      store: name,
      boot,
      ordinal: boot,
      address: `${name}:1`,
      amqp: '',
      http: '',
      pid: 1,
      lead: true,
      state: 'ready',
    };
  }

  /** kill -9. */
  kill(): void {
    this.world.nodes.delete(this.name);
    this.world.loop.kill(this.context);
    this.world.network.processDied(this.name, this.context, false, true);
    for (const group of this.world.groups.values()) if (group.leader === this) group.primary = undefined;
  }
}

export class World {
  readonly loop: EventLoop = new EventLoop();
  readonly random: SimRandom;
  readonly network: SimNetwork;
  readonly nodes: Map<string, TestNode> = new Map();
  readonly groups: Map<number, TestGroup> = new Map();

  constructor(seed = 1) {
    this.random = new SimRandom(seed);
    this.network = new SimNetwork(this.loop, this.random.fork('network'), {
      latencyMs: 0.1,
      jitterMs: 0.1,
      bytesPerMs: 100_000,
    });
  }

  /** Makes nodes and joins them by links. */
  async start(names: readonly string[], rules: Rules = allRules): Promise<TestNode[]> {
    const nodes = names.map((name, i) => new TestNode(this, name, i + 1, rules));
    for (const node of nodes) this.nodes.set(node.name, node);
    const members = nodes.map((node) => node.member);
    for (const node of nodes) this.loop.after(1, node.context, () => node.links.setMembers(members));
    await this.run(50);
    return nodes;
  }

  group(id: number): TestGroup {
    const group = new TestGroup(this, id);
    this.groups.set(id, group);
    return group;
  }

  /** Lets `ms` pass. Somebody else's time may be over meanwhile. */
  async run(ms: number): Promise<void> {
    const end = this.loop.now + ms;
    this.loop.at(end, null, () => this.loop.stop());
    while (this.loop.now < end) await this.loop.run();
  }
}

const encoder = new TextEncoder();

/** A message whose body is the text. */
export function message(text: string): MessageParts {
  const parts = new MessageParts();
  parts.bodyBytes = encoder.encode(text);
  parts.bodyLength = parts.bodyBytes.length;
  parts.persistent = true;
  return parts;
}
