import { isLocalGroup } from '../../src/cluster/map.js';
import type { Scenario } from './scenario.js';

/**
 * A coordinator says what was true once, and nothing else shows it: some records are put back to older ones while every node is down. All replicas have acted
 * in later epochs since, and remember: none follows, none is elected, until the newest records are there again.
 */
export const staleRecords: Scenario = {
  name: 'stale-records',
  rules: ['epochPersist', 'noLowerEpoch'],
  rounds: 2,
  // It would notice.
  without: 'restoredWaits',
  async play(stage) {
    const { coordinator, nodes } = stage.world;
    const group = stage.group();
    const old = coordinator.peekAll('groups/');
    const primary = stage.primary(group);
    const { epoch } = stage.record(group);
    stage.freeze(primary);
    if ((await stage.successor(group, epoch)) === undefined) return;
    stage.thaw(primary);
    if (!(await stage.whole())) return;
    const known = JSON.stringify(coordinator.peekAll('groups/'));
    stage.stir();
    await stage.sleep(20, 100);
    // Everybody has followed all of it, long enough to have it on disk.
    const newest = coordinator.peekAll('groups/');
    if (JSON.stringify(newest) !== known) return;
    stage.crash(nodes);
    const changed = newest.filter((entry) => {
      const before = old.find((candidate) => candidate.key === entry.key);
      const record = JSON.parse(entry.value) as { group: number; epoch: number };
      if (before === undefined || isLocalGroup(record.group)) return false;
      return (JSON.parse(before.value) as { epoch: number }).epoch < record.epoch;
    });
    coordinator.putBack(old.filter((entry) => changed.some((candidate) => candidate.key === entry.key)));
    stage.start(nodes);
    await stage.sleep(3000, 5000);
    coordinator.putBack(changed);
  },
};
