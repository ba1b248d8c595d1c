import type { Scenario } from './scenario.js';

/**
 * A primary dies with events that only one backup has; that one takes over and dies in its turn, within milliseconds.
 *
 *   P ──tail──→ B     P ··late··→ C     kill P     B takes over, with the tail     kill B     C takes over, without it
 *
 * Whatever B said of the tail before C had it (committed, delivered, confirmed, "already there") was a lie.
 */
export const doubleFailover: Scenario = {
  name: 'double-failover',
  rules: ['tailNotCommitted', 'ackEpoch', 'retryWaits', 'truncate', 'deliverCommitted'],
  rounds: 4,
  async play(stage) {
    const group = stage.group();
    const first = stage.primary(group);
    const { epoch } = stage.record(group);
    const [near, far] = stage.backups(group);
    if (near === undefined || far === undefined) return;
    const lateMs = stage.random.pick([20, 60, 300]);
    stage.delay(first, far, lateMs);
    stage.delay(near, far, stage.random.pick([0, lateMs, lateMs]));
    stage.stir();
    await stage.sleep(0.5, 6);
    stage.crash([first]);
    const second = await stage.successor(group, epoch);
    if (second === undefined) return;
    stage.stir();
    await stage.sleep(0, stage.random.pick([10, 30, 100]));
    stage.crash([second], stage.random.pick(['all', 'none', 'none'] as const));
    await stage.sleep(10, 300);
    stage.start([first, second]);
    await stage.sleep(50, 500);
  },
};
