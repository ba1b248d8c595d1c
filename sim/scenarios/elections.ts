import type { Scenario } from './scenario.js';

/**
 * Who may be elected: a primary and a backup go, the backup comes back before anybody has taken over, while an intact member is
 * there but busy; or it comes back with another disk, or with a damaged one.
 */
export const elections: Scenario = {
  name: 'elections',
  rules: ['intactFirst', 'sameStore', 'noResume', 'newBootWaits', 'bootId'],
  rounds: 4,
  async play(stage) {
    const group = stage.group();
    const primary = stage.primary(group);
    const [restarted, intact] = stage.backups(group);
    if (restarted === undefined || intact === undefined) return;
    stage.stir();
    await stage.sleep(0, 5);
    const wiped = stage.random.chance(0.5);
    if (wiped) {
      // All wanted replicas but one keep their disks, so nothing durable may be lost.
      stage.crash([restarted]);
      restarted.disk.wipe();
      stage.crash([primary, intact], 'none');
      stage.start([restarted]);
      await stage.sleep(50, 800);
      stage.start([intact, primary]);
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
