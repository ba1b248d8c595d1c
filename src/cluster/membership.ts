/**
 * How a node enters the cluster map: draws a boot, founds the cluster if there is none, registers itself under its name, and
 * says later that it is ready. All by compare-and-set, so that any number of nodes may do it at once.
 */
import { type Clock, sleep } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Random } from '../base/random.js';
import { judgeVersions, type VersionRange } from '../base/versions.js';
import { ReplicateDefault } from '../model/policy/definition.js';
import type { Transport } from './byte-stream.js';
import type { Change, Coordinator, Entry } from './coordinator/coordinator.js';
import {
  type ClientPolicy,
  type ClusterConfig,
  type Forgotten,
  type GroupRecord,
  MapKey,
  type Member,
  MemberState,
  parseConfig,
  parseEntry,
  type Placement,
  systemGroup,
} from './map.js';

export interface NodeDescription {
  node: string;
  store: string;
  address: string;
  amqp: string;
  http: string;
  pid: number;
  lead: boolean;
  damaged: boolean;
  speaks: VersionRange;
}

export interface ClusterDefaults {
  groups: number;
  replicas: number;
  minInSync: number;
  clients: ClientPolicy;
  placement: Placement;
  /** Default: all. */
  replicate?: ReplicateDefault;
}

export interface Registration {
  member: Member;
  config: ClusterConfig;
}

/**
 * A new cluster's entry. @param defaults may have more than what is meant. @param version that it speaks from the beginning: the
 * first is not written, since its programs did not.
 */
export function foundingConfig(id: string, defaults: ClusterDefaults, version: number): Partial<ClusterConfig> {
  const { groups, replicas, minInSync, clients, placement, replicate = ReplicateDefault.all } = defaults;
  const common = { id, groups, replicas, minInSync, clients, placement };
  const config = replicate === ReplicateDefault.all ? common : { ...common, replicate };
  return version === 1 ? config : { ...config, version, versionFloor: version };
}

/** This node's store, as far as protocol versions matter. */
export interface MarkedStore {
  /** The newest version of what its journal may hold. */
  readonly format: number;
  /** Older programs than this version's are not to open it any more; resolves when that is on disk. */
  raiseFormat(format: number): Promise<void>;
}

/** The node may not enter: the text says why and what to do. */
export class MembershipError extends Error {
  override readonly name = 'MembershipError';
}

const ordinalsKey = 'ordinals';

/** Why a node with this store is a stranger. */
export function forgottenText({ node, by, at }: Forgotten): string {
  return (
    `the cluster has forgotten node ${node} with this data folder, at ${new Date(at).toISOString()}, asked by ${by}: ` +
    'start it with an empty data folder'
  );
}

export class Membership {
  private readonly coordinator: Coordinator;
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly logger: Logger;
  private readonly transport: Transport | undefined;
  private readonly store: MarkedStore;

  constructor(ports: {
    coordinator: Coordinator;
    clock: Clock;
    random: Random;
    logger: Logger;
    transport: Transport | undefined;
    store: MarkedStore;
  }) {
    this.coordinator = ports.coordinator;
    this.clock = ports.clock;
    this.random = ports.random;
    this.logger = ports.logger;
    this.transport = ports.transport;
    this.store = ports.store;
  }

  /**
   * Registers a new boot of the node. `knownCluster`: the id of the cluster that the store belongs to, '' if none yet;
   * `bootAfter`: the boot must be greater (a broker that is alone counts its boots in its store).
   */
  async register(
    description: NodeDescription,
    defaults: ClusterDefaults,
    knownCluster: string,
    bootAfter: number,
  ): Promise<Registration> {
    const boot = await this.draw(MapKey.boots, bootAfter);
    const config = await this.found(description, boot, defaults, knownCluster);
    if (knownCluster !== '' && config.id !== knownCluster)
      throw new MembershipError(
        `the data folder belongs to cluster ${knownCluster}, the coordinator to cluster ${config.id}: ` +
          'start this node with its own coordinator, or with an empty data folder',
      );
    return await this.enter(description, boot);
  }

  /** Takes the next number of a counter, greater than `after`. */
  private draw(key: string, after: number): Promise<number> {
    return this.change(key, (entry) => {
      const next = Math.max(after, entry === undefined ? 0 : Number(entry.value)) + 1;
      return { value: String(next), result: next };
    });
  }

  /** The cluster's configuration; the first node founds it, with an empty store, and leads all groups at first. */
  private async found(
    description: NodeDescription,
    boot: number,
    defaults: ClusterDefaults,
    knownCluster: string,
  ): Promise<ClusterConfig> {
    for (;;) {
      const entries = await this.retry(() => this.coordinator.read(MapKey.cluster));
      const existing = entries.find((entry) => entry.key === MapKey.cluster);
      if (existing !== undefined) return parseConfig(existing);
      // Records that begin anew do not fit a journal that is there; a broker that is alone has them from its journal.
      if (knownCluster !== '' && this.transport !== undefined)
        throw new MembershipError(
          `the data folder belongs to cluster ${knownCluster}, and the coordinator knows of no cluster: ` +
            'start this node with its own coordinator (or none, if it was alone), or with an empty data folder',
        );
      const config = foundingConfig(knownCluster || this.random.hex(16), defaults, description.speaks.max);
      const self = { node: description.node, store: description.store, boot };
      const changes: Change[] = [{ key: MapKey.cluster, expect: 0, value: JSON.stringify(config) }];
      for (let group = systemGroup; group <= defaults.groups; group++) {
        const record: GroupRecord = { group, epoch: 1, primary: self, inSync: [self], replicas: [self.node] };
        changes.push({ key: MapKey.group(group), expect: 0, value: JSON.stringify(record) });
      }
      const result = await this.coordinator.swap(changes).catch(() => undefined);
      if (result?.ok === true) this.logger.info('cluster founded', { cluster: config.id, groups: defaults.groups });
      else await this.pause();
    }
  }

  private async enter(description: NodeDescription, boot: number): Promise<Registration> {
    await this.refuseForgotten(description.store);
    const key = MapKey.member(description.node);
    const known = (await this.retry(() => this.coordinator.read(key))).find((entry) => entry.key === key);
    const old = known === undefined ? undefined : parseEntry<Member>(known).value;
    if (old !== undefined && old.store !== description.store) await this.refuseIfAlive(old, description);
    const ordinal = old?.ordinal ?? (await this.draw(ordinalsKey, 0));
    for (;;) {
      const entries = await this.retry(() => this.coordinator.read(''));
      const cluster = entries.find((candidate) => candidate.key === MapKey.cluster);
      if (cluster === undefined)
        throw new MembershipError('the coordinator has forgotten the cluster: was it restored?');
      const config = parseConfig(cluster);
      const refusal = judgeVersions(`node ${description.node}`, description.speaks, config);
      if (refusal !== '') throw new MembershipError(refusal);
      const entry = entries.find((candidate) => candidate.key === key);
      if (entry !== undefined && parseEntry<Member>(entry).value.boot > boot)
        throw new MembershipError(`another process has started as node ${description.node} at the same time`);
      await this.store.raiseFormat(config.versionFloor);
      const member = this.memberOf(description, boot, ordinal);
      // The cluster's entry, unchanged: nobody raises the version in between (VersionKeeper).
      const swapped = await this.coordinator
        .swap([
          { key, expect: entry?.version ?? 0, value: JSON.stringify(member) },
          { key: MapKey.cluster, expect: cluster.version, value: cluster.value },
        ])
        .catch(() => undefined);
      if (swapped?.ok === true) return { member, config };
      await this.pause();
    }
  }

  /** What the first version did not have is left out where that is spoken. */
  private memberOf({ speaks, ...rest }: NodeDescription, boot: number, ordinal: number): Member {
    // Without its address until it listens there: a refused call would be taken for its death.
    const member: Member = { ...rest, address: '', boot, ordinal, state: MemberState.joining };
    return speaks.max === 1 ? member : { ...member, versions: speaks, format: this.store.format };
  }

  private async refuseForgotten(store: string): Promise<void> {
    const key = MapKey.forgotten(store);
    const entry = (await this.retry(() => this.coordinator.read(key))).find((candidate) => candidate.key === key);
    if (entry !== undefined) throw new MembershipError(forgottenText(parseEntry<Forgotten>(entry).value));
  }

  /** Another store under our name: a wiped node that comes back, or two nodes with one name. */
  private async refuseIfAlive(old: Member, description: NodeDescription): Promise<void> {
    if (this.transport === undefined || old.address === '' || old.address === description.address) return;
    const members = await this.retry(() => this.coordinator.read('members/'));
    const others = members.map((entry) => parseEntry<Member>(entry).value).filter(({ node }) => node !== old.node);
    if (others.some(({ address }) => address === old.address)) return;
    const stream = await this.transport.dial(old.address, 500).catch(() => undefined);
    if (stream === undefined) return;
    stream.close();
    throw new MembershipError(
      `a node named ${description.node} with another data folder is running at ${old.address}: give this node another name`,
    );
  }

  /** Reads, decides and swaps one key until it succeeds. */
  private async change<T>(key: string, decide: (entry: Entry | undefined) => { value: string; result: T }): Promise<T> {
    for (;;) {
      const entries = await this.retry(() => this.coordinator.read(key));
      const entry = entries.find((candidate) => candidate.key === key);
      const { value, result } = decide(entry);
      const swapped = await this.coordinator.swap([{ key, expect: entry?.version ?? 0, value }]).catch(() => undefined);
      if (swapped?.ok === true) return result;
      await this.pause();
    }
  }

  /** The newest boot of the node, with that store, that some group's in-sync set names; 0 = none. */
  async lastBootInSync(node: string, store: string): Promise<number> {
    const entries = await this.retry(() => this.coordinator.read('groups/'));
    const members = entries.flatMap(({ value }) => (JSON.parse(value) as GroupRecord).inSync);
    const boots = members.filter((one) => one.node === node && one.store === store).map(({ boot }) => boot);
    return Math.max(0, ...boots);
  }

  private async retry<T>(attempt: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        if (failures === 0)
          this.logger.warn('the coordinator does not answer: waiting for it', { error: String(error) });
        await this.pause();
      }
    }
  }

  private pause(): Promise<void> {
    return sleep(this.clock, 10 + this.random.int(40));
  }
}
