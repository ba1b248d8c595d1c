import type { Change, Coordinator } from './coordinator/coordinator.js';
import { MemoryCoordinator } from './coordinator/memory.js';
import { type GroupRecord, MapKey } from './map.js';
import { type ClusterDefaults, foundingConfig } from './membership.js';

/** What a store remembers of the map. */
export interface RememberedMap {
  readonly storeId: string;
  readonly cluster: string;
  /** The newest protocol version of what its journal may hold. */
  readonly format: number;
}

/**
 * The coordinator of a broker that is alone: in memory, with the records that its store remembers, so that epochs go on where they
 * ended. @param records as the groups' metas have them; '' = none
 */
export async function soloCoordinator(
  store: RememberedMap,
  records: ReadonlyMap<number, string>,
  defaults: ClusterDefaults,
): Promise<Coordinator> {
  const coordinator = new MemoryCoordinator(store.storeId).handle();
  const changes: Change[] = [];
  for (const [group, record] of records) {
    if (record === '') continue;
    const { value } = JSON.parse(record) as { value: GroupRecord };
    changes.push({ key: MapKey.group(group), expect: 0, value: JSON.stringify(value) });
  }
  if (changes.length > 0) {
    const config = foundingConfig(store.cluster, defaults, store.format);
    changes.push({ key: MapKey.cluster, expect: 0, value: JSON.stringify(config) });
    await coordinator.swap(changes);
  }
  return coordinator;
}
