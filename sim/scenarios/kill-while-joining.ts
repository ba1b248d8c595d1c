import type { Scenario } from './scenario.js';

/**
 * A node comes back and joins while traffic goes on, and its primary dies at some moment of that: before, during or just after
 * the admission. Sometimes the joiner dies as well.
 */
export const killWhileJoining: Scenario = {
  name: 'kill-while-joining',
  rules: [
    'admitCommitted',
    'joinerNotElectable',
    'joinerAcksNot',
    'outFirst',
    'bootId',
    'backfillPresent',
    'dropStale',
  ],
  rounds: 4,
  messages: 400,
  async play(stage) {
    const group = stage.group();
    const primary = stage.primary(group);
    const [joiner, other] = stage.backups(group);
    if (joiner === undefined || other === undefined) return;
    stage.crash([joiner], stage.random.pick(['all', 'none'] as const));
    await stage.sleep(5, 200);
    // Two that lead and follow alone: what they decide, nobody else knows.
    if (stage.random.chance(0.5)) stage.crash([other]);
    stage.stir();
    await stage.sleep(0, 20);
    stage.start([joiner]);
    const lateMs = stage.random.pick([0, 3, 30]);
    stage.delay(primary, joiner, lateMs);
    if (stage.random.chance(0.5)) {
      // At the very moment of its admission, with batches on their way to it.
      const isAdmitted = (): boolean => stage.record(group).inSync.some((member) => member.node === joiner.name);
      await stage.until(() => isAdmitted() || !stage.stir(), 3000);
    } else {
      await stage.sleep(10, 80);
      stage.stir();
      await stage.sleep(0, 20 + 2 * lateMs);
    }
    stage.crash([primary], stage.random.pick(['all', 'none', 'torn'] as const));
    if (stage.random.chance(0.3)) {
      await stage.sleep(0, 50);
      stage.crash([joiner], stage.random.pick(['all', 'none'] as const));
    }
    await stage.sleep(1, 400);
    stage.start(stage.random.shuffle([primary, joiner, other]));
    await stage.sleep(50, 500);
  },
};
