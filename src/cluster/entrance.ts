/**
 * A node's way into the map: which coordinator it has, whether that can be believed, and its entry as a member. Everything that must
 * survive the node is in its store before it acts on it.
 */
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Random } from '../base/random.js';
import type { Rules } from '../base/rules.js';
import type { GroupMeta } from '../log/journal.js';
import type { Transport } from './byte-stream.js';
import type { Coordinator } from './coordinator/coordinator.js';
import type { Member } from './map.js';
import { type ClusterDefaults, Membership, type NodeDescription, type MarkedStore } from './membership.js';
import type { CoordinatorMemory } from './restored/coordinator-memory.js';
import { Restoration } from './restored/restoration.js';
import { type RememberedMap, soloCoordinator } from './solo-coordinator.js';

/** The store, as far as it concerns the cluster; see StoreIdentity. */
export interface StoreMemory extends CoordinatorMemory, RememberedMap, MarkedStore {
  readonly damaged: boolean;
  nextBoot(): Promise<number>;
  setBoots(boots: number): Promise<void>;
  setDamaged(damaged: boolean): Promise<void>;
  setCluster(cluster: string, shared: boolean): Promise<void>;
  checkAlone(): void;
}

export interface EntrancePorts {
  clock: Clock;
  random: Random;
  logger: Logger;
  rules: Rules;
  store: StoreMemory;
  /** What the journal has of each group. */
  recovered: ReadonlyMap<number, { readonly meta: GroupMeta }>;
  /** Undefined for a broker that is alone. */
  cluster: { transport: Transport; coordinator: Coordinator } | undefined;
}

export class Entrance {
  coordinator!: Coordinator;
  /** Undefined for a broker that is alone. */
  readonly restoration: Restoration | undefined;
  private readonly ports: EntrancePorts;

  constructor(node: string, ports: EntrancePorts) {
    this.ports = ports;
    const { cluster, rules, store } = ports;
    if (cluster === undefined || !rules.restoredWaits) return;
    this.restoration = new Restoration({ ...ports, node, memory: store, coordinator: cluster.coordinator });
  }

  /** Resolves to our entry, in a new boot, when the coordinator answers and can be believed. Rejects with MembershipError. */
  async enter(description: Omit<NodeDescription, 'store' | 'damaged'>, defaults: ClusterDefaults): Promise<Member> {
    const { store, cluster, recovered, clock, random, logger, rules } = this.ports;
    this.coordinator = cluster?.coordinator ?? (await this.soloCoordinator(recovered, defaults));
    // Rule 18: not before it is known that it says what is, not what was.
    await this.restoration?.settled();
    const { coordinator } = this;
    const membership = new Membership({ coordinator, clock, random, logger, transport: cluster?.transport, store });
    if (cluster !== undefined && rules.sameStore) await this.checkAge(description.node, membership);
    // A broker that is alone counts its boots in its store; a cluster's counter is ahead of it anyway.
    const after = cluster === undefined ? (await store.nextBoot()) - 1 : store.boots;
    const { storeId, damaged } = store;
    const described = { ...description, store: storeId, damaged };
    const { member, config } = await membership.register(described, defaults, store.cluster, after);
    if (cluster !== undefined) await store.setBoots(member.boot);
    await store.setCluster(config.id, cluster !== undefined);
    return member;
  }

  /**
   * A folder that knows less of its own boots than the records of groups do was put back from a copy: what it lacks was confirmed with
   * its help. So it is as one that is damaged (rule 12). A member of a set had its boot in its folder before.
   */
  private async checkAge(node: string, membership: Membership): Promise<void> {
    const { store, logger } = this.ports;
    const recorded = await membership.lastBootInSync(node, store.storeId);
    if (recorded <= store.boots) return;
    logger.error(
      'the data folder is an old copy: what it lacks is to come from the other nodes, and it leads nothing of which they may have more',
      { boot: store.boots, recorded },
    );
    await store.setDamaged(true);
  }

  private soloCoordinator(recovered: EntrancePorts['recovered'], defaults: ClusterDefaults): Promise<Coordinator> {
    this.ports.store.checkAlone();
    const records = new Map([...recovered].map(([group, { meta }]) => [group, meta.record]));
    return soloCoordinator(this.ports.store, records, defaults);
  }
}
