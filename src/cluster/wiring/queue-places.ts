import type { QueueObject } from '../../model/wiring/objects.js';
import { Replicate } from '../../model/policy/definition.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { ClusterMap } from '../cluster-map.js';
import type { GroupMaker } from '../replication/group-maker.js';
import { sizeOf } from '../map.js';
import { chooseGroup } from '../replication/placement.js';

/** Replicas in sync that a queue on the move must find in its new group, if that has so many. */
const safeMin = 2;

/** In which group a new queue is to be, by what it, its policy or the cluster asks for. */
export class QueuePlaces {
  private readonly tables: WiringTables;
  private readonly map: ClusterMap;
  private readonly maker: GroupMaker;
  private readonly self: string;

  /** @param self where a queue is to be of which it is not known who declares it. */
  constructor(tables: WiringTables, map: ClusterMap, maker: GroupMaker, self: string) {
    this.tables = tables;
    this.map = map;
    this.maker = maker;
    this.self = self;
  }

  /**
   * Undefined: a group is being made for it, or is not in sync yet for one that moves there; ask again. Throws RefusedError if there can
   * be none.
   */
  choose(queue: QueueObject, node: string): number | undefined {
    const { replicate, minInSync, size = this.map.config.replicas } = this.tables.settings.ofNew(queue);
    const here = replicate !== Replicate.all;
    const chosen = chooseGroup(queue, node, this.map, size, here);
    if (typeof chosen === 'number')
      return queue.movesFrom === undefined || this.isSafe(chosen, minInSync) ? chosen : undefined;
    this.maker.want(size, chosen.leader === '' ? this.self : chosen.leader);
    return undefined;
  }

  /** What comes from a group with more replicas must not rest on one alone, if two are wanted; nor wait for the others. */
  private isSafe(group: number, minInSync: number): boolean {
    const record = this.map.groups.get(group)?.value;
    if (record === undefined) return false;
    return record.inSync.length >= Math.min(sizeOf(record, this.map.config), Math.max(safeMin, minInSync));
  }
}
