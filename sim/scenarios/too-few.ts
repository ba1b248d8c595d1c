import type { Scenario } from './scenario.js';

/** Members of the in-sync set go one after the other under load, while the coordinator is slow to answer who is left. */
export const tooFew: Scenario = {
  name: 'too-few',
  rules: ['minInSync', 'minSmallestSet'],
  rounds: 4,
  minInSync: 2,
  messages: 400,
  async play(stage) {
    const { coordinator, nodes } = stage.world;
    const group = stage.group();
    coordinator.slowness = stage.random.pick([1, 10, 50]);
    coordinator.lostAnswers = stage.random.pick([0, 0.5]);
    const backups = stage.backups(group);
    for (const backup of backups) {
      stage.stir();
      await stage.sleep(0, 5);
      if (stage.random.chance(0.5)) stage.crash([backup]);
      else stage.freeze(backup);
      for (let i = 0; i < 10; i++) {
        await stage.sleep(5, 100);
        stage.stir();
      }
    }
    coordinator.slowness = 1;
    coordinator.lostAnswers = 0;
    for (const node of nodes) stage.thaw(node);
    stage.start(backups);
    await stage.sleep(50, 500);
  },
};
