/**
 * One broker, without what a process adds to it (AMQP sockets, HTTP, signals): puts the parts together and brings them up in
 * order. The simulator runs exactly this.
 *
 *   recover the store → register in the map → links, liveness → replication → wiring → ready
 *
 * A broker that is alone is a cluster of one: its coordinator is in memory, told what the store remembers of the records.
 */
import { allRules, type Rules } from './base/rules.js';
import { brokerDefaults, type BrokerOptions, type BrokerPorts } from './broker-options.js';
import { Shortages } from './cluster/alarms/shortages.js';
import { AttachmentServer } from './cluster/client/attachment-server.js';
import { QueueAccess } from './cluster/client/queue-access.js';
import { ClusterBroker } from './cluster/client/cluster-broker.js';
import { GroupClients } from './cluster/client/group-clients.js';
import { nodeGate, type SourcesGate } from './cluster/client/publish-gate.js';
import { ClusterMap } from './cluster/cluster-map.js';
import type { Coordinator } from './cluster/coordinator/coordinator.js';
import { Links } from './cluster/link/links.js';
import { Lives } from './cluster/liveness/lives.js';
import { HeartbeatLiveness } from './cluster/liveness/heartbeats.js';
import type { Liveness } from './cluster/liveness/liveness.js';
import { SoloLiveness } from './cluster/liveness/solo.js';
import { FailoverNews } from './cluster/failover-news.js';
import { Forgetting } from './cluster/forget.js';
import { HotStandby } from './cluster/hot-standby.js';
import { localGroup, type Member, MemberState, type Replica, systemGroup } from './cluster/map.js';
import { Entrance } from './cluster/entrance.js';
import { Operations } from './cluster/operations.js';
import { forgottenText } from './cluster/membership.js';
import { OwnMember } from './cluster/own-member.js';
import { Readiness } from './cluster/readiness.js';
import { JoinNews } from './cluster/join-news.js';
import { QueueMoves } from './cluster/moving/queue-moves.js';
import { Outboxes } from './cluster/outbox/outboxes.js';
import { ClusterReport } from './cluster/report.js';
import { VersionKeeper } from './cluster/version-keeper.js';
import { BackfillPace } from './cluster/replication/backfill-pace.js';
import {
  type ReplicationContext,
  type ReplicationLimits,
  replicationLimits,
  versionInUse,
} from './cluster/replication/context.js';
import type { GroupReplica } from './cluster/replication/group-replica.js';
import { GroupMaker } from './cluster/replication/group-maker.js';
import type { Restoration } from './cluster/restored/restoration.js';
import { recoverGroups } from './cluster/replication/recovered-groups.js';
import { type RecoveredGroup, Replication } from './cluster/replication/replication.js';
import { SystemReplica, wiringIncarnation } from './cluster/replication/system-group.js';
import { ClusterAccess } from './cluster/wiring/cluster-access.js';
import { ClusterParameters } from './cluster/wiring/cluster-parameters.js';
import { ClusterPolicies } from './cluster/wiring/cluster-policies.js';
import { ClusterWiring } from './cluster/wiring/cluster-wiring.js';
import { QueuePlaces } from './cluster/wiring/queue-places.js';
import { RouteLease } from './cluster/wiring/route-lease.js';
import { WiringClient } from './cluster/wiring/wiring-client.js';
import { wiredGroup } from './cluster/wiring/wired-group.js';
import { WiringReconciler } from './cluster/wiring/wiring-reconciler.js';
import { WiringServer } from './cluster/wiring/wiring-server.js';
import { Override } from './cluster/waiting/override.js';
import { WaitingGroups } from './cluster/waiting/waiting-groups.js';
import type { Broker } from './model/broker.js';
import { GroupState } from './model/group-state.js';
import { TableTraits } from './model/policy/table-traits.js';
import { WiringTables } from './model/wiring/tables.js';
import { Store } from './store/store.js';

export class BrokerNode {
  readonly ports: BrokerPorts;
  readonly options: BrokerOptions;
  readonly rules: Rules;
  /** Defined once `start` has resolved. */
  broker!: Broker;
  store!: Store;
  map!: ClusterMap;
  replication!: Replication;
  liveness!: Liveness;
  readonly tables: WiringTables;
  recoveredAccess: WiringTables['access'] | undefined;
  clients!: GroupClients;
  policies!: ClusterPolicies;
  operatorPolicies!: ClusterPolicies;
  parameters!: ClusterParameters;
  access!: ClusterAccess;
  links: Links | undefined;
  report!: ClusterReport;
  joins: JoinNews | undefined;
  /** Undefined for a broker that is alone, which waits for nobody. */
  waiting: WaitingGroups | undefined;
  override: Override | undefined;
  forgetting: Forgetting | undefined;
  /** Undefined for a broker that is alone, and before `start`. */
  restoration: Restoration | undefined;
  /** Why this node acts no more and must be started anew; '' if it does. */
  failure = '';
  /** Told of it. */
  onFailure: (reason: string) => void = () => {};
  /** Whether clients are served here; defined once `start` has resolved. */
  admission!: HotStandby;
  /** What this node runs short of, and the others; defined once `start` has resolved. */
  shortages!: Shortages;
  /** What operators ask for; defined once `start` has resolved. */
  operations!: Operations;
  self!: Replica;
  private coordinator!: Coordinator;
  private clusterBroker: ClusterBroker | undefined;
  private wiringClient!: WiringClient;
  private wiringServer!: WiringServer;
  private wiring!: ClusterWiring;
  private queues!: QueueAccess;
  private gate!: SourcesGate;
  private reconciler!: WiringReconciler;
  private attachments: AttachmentServer | undefined;
  private system!: SystemReplica;
  private member!: Member;
  private entry!: OwnMember;
  private news: FailoverNews | undefined;
  private moves: QueueMoves | undefined;
  outboxes!: Outboxes;
  private versionKeeper: VersionKeeper | undefined;
  private recovered: Map<number, RecoveredGroup> = new Map();
  private readiness: Readiness | undefined;
  private stopping = false;
  /** Undefined for a broker that is alone. */
  private routeLease: RouteLease | undefined;

  constructor(ports: BrokerPorts, options: Partial<BrokerOptions> & { node: string }) {
    this.ports = ports;
    this.rules = ports.rules ?? allRules;
    this.tables = new WiringTables(ports.random, this.rules);
    this.options = { ...brokerDefaults, ...options };
  }

  /** Resolves when the node is ready: in the system group's in-sync set, with all wiring. Rejects if it cannot be. */
  async start(): Promise<void> {
    const { ports, options } = this;
    const { clock, turn, random, logger, disk } = ports;
    const { memoryBytes, diskFreeBytesMin: lowWaterBytes } = options;
    const sizes = { memoryBytes, lowWaterBytes, formatMax: options.versions.max, ...options.journal };
    const alone = ports.cluster === undefined;
    this.store = await Store.open({ disk, clock, turn, random, logger, rules: this.rules, alone, ...sizes });
    const recovered = await recoverGroups(this.store, (group) => this.newState(group));
    this.recovered = recovered.groups;
    this.recoveredAccess = recovered.access;
    const places = recovered.damaged;
    if (places > 0) logger.error('the journal is damaged: see its report above', { places });
    await this.enter();
    this.map = new ClusterMap({ coordinator: this.coordinator, clock, turn, logger, rules: this.rules });
    this.restoration?.watch(this.map, (reason) => this.fail(reason));
    this.entry = new OwnMember(this.self, this.coordinator, this.map, clock);
    this.connect();
    await this.map.open();
    this.compose();
    this.replication.start(this.links);
    // Not before everybody is there whom links concern.
    await this.listen();
    const replica = this.replication.replica(systemGroup);
    this.keepVersion(replica);
    await this.system.attach(replica);
    this.readiness = new Readiness(this.self, replica, clock);
    const leads = (): boolean => this.system.leader() !== undefined;
    await this.readiness.until(leads, () => this.stopping);
    await this.entry.change((member) => ({ ...member, state: MemberState.ready }));
  }

  /** Says goodbye to nobody: the others see the links close. Everything acknowledged is on disk. */
  async stop(): Promise<void> {
    this.stopping = true;
    const outer = [this.restoration, this.readiness, this.entry, this.versionKeeper, this.news, this.gate];
    const wiring = [this.reconciler, this.wiringClient, this.wiringServer, this.clusterBroker, this.clients];
    const groups = [this.moves, this.joins, this.waiting, this.routeLease, this.replication, this.liveness, this.map];
    for (const part of [this.outboxes, this.shortages, ...outer, ...wiring, ...groups]) part?.close();
    await this.links?.close();
    await this.store?.close();
    if (this.ports.cluster === undefined) await this.coordinator?.close();
  }

  /** Tells the cluster where this node's clients connect. */
  async announce(endpoints: Pick<Member, 'amqp' | 'http' | 'amqps' | 'https'>): Promise<void> {
    await this.entry.change((member) => ({ ...member, ...endpoints }));
  }

  /** For a stop that others' clients do not notice: others lead what this node has led, if they can. */
  async handOver(): Promise<void> {
    if (this.links !== undefined && this.isReady) await this.entry.handOver(() => this.replication.hasMoves);
  }

  /** This node's clients are about to be dismissed. Resolves when the cluster knows, or soon if it cannot be told. */
  async servesNoMore(): Promise<void> {
    if (this.links !== undefined) await this.entry.servesNoMore();
  }

  /** Whoever cannot write cannot lead. */
  private makesProgress(): boolean {
    return this.store.journal.stuckMs < this.limits.slowMs;
  }

  private get limits(): ReplicationLimits {
    return { ...replicationLimits(this.options.times.leaseMs), ...this.options.limits };
  }

  /** It serves clients; drained or not. */
  get isReady(): boolean {
    const state = this.map?.members.get(this.options.node)?.value.state;
    return state === MemberState.ready || state === MemberState.draining;
  }

  private newState(group: number): GroupState {
    const reserved = group === systemGroup ? [wiringIncarnation] : [];
    return new GroupState(group, this.store.chunks, this.ports.slices, reserved);
  }

  // ---- the map ----

  /** Nothing is acted on any more, from this moment. */
  private fail(reason: string): void {
    this.failure = reason;
    this.replication?.close();
    this.map?.close();
    this.onFailure(reason);
  }

  private async enter(): Promise<void> {
    const { ports, options, rules, recovered } = this;
    const { clock, random, logger, cluster } = ports;
    const store = this.store.identity;
    const { node, address, pid, lead, versions: speaks } = options;
    const entrance = new Entrance(node, { clock, random, logger, rules, store, recovered, cluster });
    this.restoration = entrance.restoration;
    this.member = await entrance.enter({ node, address, amqp: '', http: '', pid, lead, speaks }, options);
    this.coordinator = entrance.coordinator;
    const { store: storeId, boot } = this.member;
    this.self = { node, store: storeId, boot };
  }

  private connect(): void {
    const { ports, options, member } = this;
    const { clock, turn, random, logger, cluster } = ports;
    if (cluster === undefined) {
      this.liveness = new SoloLiveness(this.self);
      return;
    }
    const { node, store, boot, ordinal, address, amqp, http } = member;
    const links = new Links({
      self: { cluster: this.store.identity.cluster, node, store, boot, ordinal, address, amqp, http },
      versions: options.versions,
      spoken: () => this.map.config,
      stranger: (other) => (this.map.forgotten.has(other) ? forgottenText(this.map.forgotten.get(other)!) : ''),
      secret: cluster.secret,
      transport: cluster.transport,
      clock,
      turn,
      random,
      logger,
    });
    this.links = links;
    this.liveness = new HeartbeatLiveness({
      self: this.self,
      links,
      clock,
      logger,
      rules: this.rules,
      times: options.times,
      mayRenew: () => this.makesProgress(),
    });
    this.map.listen({
      groupChanged: () => {},
      memberChanged: (known) => {
        if (known?.node === node && known.boot > boot) this.fail(`another process has started as node ${node}`);
        links.setMembers([...this.map.members.values()].map(({ value }) => value));
      },
      forgotten: (other, what) => {
        if (other === store) this.fail(forgottenText(what));
      },
    });
  }

  private keepVersion(system: GroupReplica): void {
    const { options, map, coordinator, entry } = this;
    const { clock, logger } = this.ports;
    this.versionKeeper = new VersionKeeper({
      node: options.node,
      map,
      coordinator,
      entry,
      clock,
      logger,
      raiseFormat: (format) => this.store.identity.raiseFormat(format),
      leads: () => system.primary !== undefined,
    });
    this.versionKeeper.start();
  }

  /** Takes calls of other nodes, and tells them where. */
  private async listen(): Promise<void> {
    const address = await this.links?.listen(this.options.address);
    if (address !== undefined) await this.entry.change((member) => ({ ...member, address }));
  }

  // ---- parts ----

  private compose(): void {
    const { ports, options, map, tables } = this;
    const { clock, turn, logger } = ports;
    this.system = new SystemReplica(tables);
    this.reconciler = new WiringReconciler(tables, logger, ports.slices, this.rules);
    this.replication = new Replication(this.context(), this.member.ordinal, this.recovered);
    const directory = this.replication;
    this.clients = new GroupClients({
      node: options.node,
      boot: this.self.boot,
      turn,
      clock,
      slices: ports.slices,
      logger,
      rules: this.rules,
      directory,
      links: this.links,
      leaseMs: options.times.leaseMs,
      partBytes: options.partBytes,
      wiringVersion: () => tables.version,
    });
    const { links, rules } = this;
    if (links !== undefined) {
      this.attachments = new AttachmentServer({ turn, rules, directory, links });
      this.joins = new JoinNews(links, directory, clock);
      this.composeWaiting(links);
      this.routeLease = new RouteLease({
        self: this.self,
        map: this.map,
        links,
        clock,
        leaseMs: options.times.leaseMs,
        primary: () => directory.replica(systemGroup).primary,
      });
    }
    const places = new QueuePlaces(tables, map, new GroupMaker(map, logger), options.node);
    this.wiringServer = new WiringServer({
      system: this.system,
      tables,
      chooseGroup: (queue, node) => places.choose(queue, node),
      replicasMax: () => map.config.replicas,
      version: () => map.config.version,
      lives: new Lives(map, this.liveness),
      firstUsers: ports.firstUsers,
      links: this.links,
      clock,
      logger,
    });
    this.wiringClient = new WiringClient({
      node: options.node,
      tables,
      feed: this.system,
      directory,
      server: this.wiringServer,
      links: this.links,
      clock,
    });
    this.queues = new QueueAccess({ tables, clock, isCurrent: () => this.mayRoute() });
    this.composeWiring();
    this.system.onVersion(() => this.reconciler.advanced());
    this.composeBroker();
  }

  private composeWiring(): void {
    const { ports, map, tables, clients, queues, wiringClient: client, system, replication, rules } = this;
    const { minInSync, replicate } = map.config;
    tables.settings.defaults = { minInSync, replicate };
    const version = (): number => map.config.version;
    this.policies = new ClusterPolicies('policy', tables, client, version);
    this.operatorPolicies = new ClusterPolicies('operatorPolicy', tables, client, version);
    this.parameters = new ClusterParameters(tables, client, version);
    this.access = new ClusterAccess(tables, client, version);
    this.wiring = new ClusterWiring({ ...ports, tables, client, clients, queues });
    this.outboxes = new Outboxes({
      ...ports,
      tables,
      clients,
      rules,
      directory: replication,
      state: (group) => replication.replica(group).state,
      mayRoute: () => this.mayRoute(),
    });
    if (this.links === undefined) return;
    const { leaseMs } = this.options.times;
    const used = { tables, system, map, clients, replication, leaseMs, rules };
    this.moves = new QueueMoves({ ...ports, ...used, wiring: client });
  }

  private composeWaiting(links: Links): void {
    const { self, map, liveness, replication, ports } = this;
    const { clock, random, logger } = ports;
    const waiting = new WaitingGroups({ self, map, liveness, replication, links, clock, logger });
    const { leaseMs } = this.options.times;
    this.waiting = waiting;
    this.override = new Override({ map, liveness, waiting, clock, random, logger, rules: this.rules, leaseMs });
    const { coordinator } = this;
    this.forgetting = new Forgetting({ self, map, coordinator, liveness, clock, logger, leaseMs });
  }

  private composeBroker(): void {
    const { options, store, ports } = this;
    const { links, entry, map } = this;
    const changed = (): void => this.gate?.check();
    const { journal, chunks } = store;
    this.shortages = new Shortages({ ...ports, ...options, map, links, entry, journal, changed });
    this.report = new ClusterReport(this);
    this.operations = new Operations(this.map, this.report, ports.clock);
    this.admission = new HotStandby(this.self, this.map, this.links);
    const { tables, clients, report, admission } = this;
    const leads = (): boolean => this.mayRoute() && this.system.leader()?.appender.mayAct() === true;
    this.news = new FailoverNews({ tables, clients, map, report, admission, clock: ports.clock, leads });
    const publishStop = (): string => (this.mayRoute() ? '' : 'this node is not in sync with the cluster');
    const health = { publishStop, onChange: () => {} };
    const { alarms } = this.shortages;
    const watched = { health, journal, chunks, outbox: this.clients.memory, alarms };
    this.gate = nodeGate(watched, options, ports.clock, ports.logger);
    const { wiring, gate, queues, rules } = this;
    const { node, versions } = options;
    const own = { ...ports, node, boot: this.self.boot, links, tables, clients, wiring, gate, queues, rules };
    this.clusterBroker = new ClusterBroker({
      ...own,
      members: report,
      largeBytes: options.largeBytes,
      mayRoute: () => this.mayRoute(),
      version: () => versionInUse({ rules, map, versions }),
    });
    this.broker = this.clusterBroker;
  }

  private context(): ReplicationContext {
    const { ports, options, store, limits } = this;
    const { journal } = store;
    return {
      self: this.self,
      // Alone there is nobody who might have more: it serves what is left, and has said what is not.
      journalIntact: ports.cluster === undefined || !store.identity.damaged,
      clock: ports.clock,
      turn: ports.turn,
      random: ports.random,
      logger: ports.logger,
      rules: this.rules,
      versions: options.versions,
      journal,
      chunks: store.chunks,
      map: this.map,
      liveness: this.liveness,
      limits,
      pace: new BackfillPace(ports.clock, limits),
      keeper: { keepPublish: (group, bytes, view, start) => this.clients.keepPublish(group, bytes, view, start) },
      newState: (group) => this.newState(group),
      leading: (replica) => this.leading(replica),
      released: (group) => this.reconciler.release(group),
      queueUse: (incarnation, use) => this.wiring.queueUse(incarnation, use),
      attachmentBroken: (group, node, boot) => {
        if (node === options.node) this.clients.broken(group);
        else this.attachments?.broken(group, node, boot);
      },
      rejoined: () => store.mend(),
      systemCommitted: (replica) => this.system.committed(replica),
      systemProgressed: () => this.system.progressed(),
      syncsInTime: () => journal.state === 'ok' && journal.stuckMs < limits.syncWithinMs,
      headers: ports.headers,
      traits: new TableTraits(this.tables),
      rivals: (record) => this.waiting?.rivals(record) ?? { ahead: false, unknown: false },
      makesProgress: () => this.makesProgress(),
      hasQueues: (group) => this.tables.hasQueues(group),
      isDead: (boot) => this.replication.isDead(boot),
      link: (node, boot) => {
        const link = this.links?.get(node);
        return link?.peer.boot === boot ? link : undefined;
      },
    };
  }

  /** We lead a group: its log is brought to the wiring that we have, before what waits for that wiring goes on. */
  private leading(replica: GroupReplica): void {
    if (replica.group === systemGroup) {
      this.system.begin(replica.primary!);
      this.system.progressed();
      return;
    }
    this.reconciler.lead(wiredGroup(replica));
  }

  private mayRoute(): boolean {
    return this.system.isCurrent && (this.routeLease?.holds() ?? true);
  }

  /** The local group of this node. */
  get localGroup(): number {
    return localGroup + this.member.ordinal;
  }
}
