/** Brings all groups' states back from a node's journal, and who its users are (see recoveredAccess). */
import type { ChunkStore } from '../../log/chunk-store.js';
import type { Chunk } from '../../log/chunk.js';
import type { GroupMeta, RecoveryReport, RecoveryVisitor } from '../../log/journal.js';
import type { AccessTables } from '../../model/access/access-tables.js';
import { GroupRecovery } from '../../model/group-recovery.js';
import type { GroupState } from '../../model/group-state.js';
import { systemGroup } from '../map.js';
import { recoveredAccess } from './recovered-access.js';
import type { RecoveredGroup } from './replication.js';

/** Whatever holds a journal: see Store. */
export interface Recoverable {
  readonly chunks: ChunkStore;
  recover(visitor: RecoveryVisitor): Promise<RecoveryReport>;
}

const noMeta: GroupMeta = {
  record: '',
  epoch: 0,
  joining: true,
  voids: [],
  publishers: [],
  wiringVersion: 0,
  applied: 0,
};

export async function recoverGroups(
  store: Recoverable,
  newState: (group: number) => GroupState,
): Promise<{ groups: Map<number, RecoveredGroup>; damaged: number; access: AccessTables | undefined }> {
  const groups = new Map<number, RecoveredGroup>();
  const recoveries = new Map<number, GroupRecovery>();
  const recovery = (group: number): GroupRecovery => {
    let found = recoveries.get(group);
    if (found === undefined) {
      const state = newState(group);
      found = new GroupRecovery(state);
      recoveries.set(group, found);
      groups.set(group, { state, meta: noMeta });
    }
    return found;
  };
  const report = await store.recover({
    meta(group, meta) {
      recovery(group).meta(meta);
      groups.get(group)!.meta = meta;
    },
    record(group: number, chunk: Chunk, offset: number, lsn: number, asOf: number) {
      recovery(group).record(chunk, offset, lsn, asOf);
    },
    done() {},
  });
  await Promise.all([...recoveries.values()].map((each) => new Promise<void>((resolve) => each.finish(resolve))));
  const system = groups.get(systemGroup)?.state;
  const access = system === undefined ? undefined : await recoveredAccess(system, store.chunks);
  return { groups, damaged: report.damaged.length, access };
}
