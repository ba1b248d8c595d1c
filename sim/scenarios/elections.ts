import type { Scenario } from './scenario.js';

/**
 * Who may be elected: a primary and a backup go, the backup comes back before anybody has taken over, while an intact member is
 * there but busy, or out of the coordinator's reach; or it comes back with another disk, or with an old copy of its own.
 */
export const elections: Scenario = {
  name: 'elections',
  rules: ['intactFirst', 'sameStore', 'noResume', 'newBootWaits', 'bootId'],
  rounds: 4,
  messages: 400,
  consumers: { thinkMs: 100, lifeMs: 20_000 },
  async play(stage) {
    const { coordinator } = stage.world;
    const group = stage.group();
    const primary = stage.primary(group);
    const [restarted, intact] = stage.backups(group);
    if (restarted === undefined || intact === undefined) return;
    stage.stir();
    await stage.sleep(0, 5);
    const kind = stage.random.pick(['busy', 'unable', 'wiped', 'old'] as const);
    if (kind === 'wiped') {
      // All wanted replicas but one keep their disks, so nothing durable may be lost.
      stage.crash([restarted]);
      restarted.disk.wipe();
      stage.crash([primary, intact], 'none');
      stage.start([restarted]);
      await stage.sleep(50, 800);
      stage.start([intact, primary]);
    } else if (kind === 'old') {
      // The others have all that was confirmed since the copy was made.
      stage.crash([restarted]);
      const backup = restarted.disk.backup();
      stage.start([restarted]);
      await stage.sleep(500, 1500);
      stage.crash([restarted]);
      restarted.disk.putBack(backup);
      stage.crash([primary, intact], 'none');
      stage.start([restarted]);
      await stage.sleep(50, 800);
      stage.start([intact, primary]);
    } else if (kind === 'unable') {
      // It is well, and cannot take over before it reaches the coordinator again: nobody else may.
      coordinator.cut(intact.name);
      stage.crash([restarted, primary]);
      await stage.sleep(0, 20);
      stage.start([restarted]);
      await stage.sleep(2000, 4000);
      coordinator.uncut(intact.name);
      stage.start([primary]);
    } else {
      stage.crash([restarted, primary]);
      intact.context.eventCostMs = stage.random.pick([0, 0.5]);
      await stage.sleep(0, 20);
      stage.start([restarted]);
      await stage.sleep(20, 800);
      intact.context.eventCostMs = 0;
      stage.start([primary]);
    }
    await stage.sleep(50, 500);
  },
};
