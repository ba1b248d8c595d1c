import type { Scenario } from './scenario.js';

/**
 * A backup stands still, and the coordinator does not answer the primary who wants to go on without it. Until it does, the backup
 * counts: it is the one that is left when the others die.
 */
export const unansweredShrink: Scenario = {
  name: 'unanswered-shrink',
  rules: ['unionInSync'],
  rounds: 3,
  messages: 400,
  async play(stage) {
    const { coordinator } = stage.world;
    const group = stage.group();
    const primary = stage.primary(group);
    const [still, other] = stage.backups(group);
    if (still === undefined || other === undefined) return;
    stage.freeze(still);
    coordinator.cut('*');
    for (let i = 0; i < 30; i++) {
      await stage.sleep(50, 100);
      stage.stir();
    }
    stage.crash([primary, other]);
    coordinator.uncut('*');
    stage.thaw(still);
    await stage.sleep(100, 3000);
    stage.start([primary, other]);
    await stage.sleep(50, 500);
  },
};
