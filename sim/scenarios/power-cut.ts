import type { Scenario } from './scenario.js';

/**
 * The power of all nodes goes while disks are slow, or after one has failed: what was acknowledged must have been synced, not
 * merely written.
 */
export const powerCut: Scenario = {
  name: 'power-cut',
  rules: ['ackAfterSync', 'ownSync', 'syncDisk', 'noAckAfterError'],
  rounds: 4,
  async play(stage) {
    const { nodes } = stage.world;
    const slow = stage.random.shuffle(nodes).slice(0, 1 + stage.random.int(2));
    const fails = stage.random.chance(0.5);
    stage.begin();
    for (const node of slow) {
      stage.world.inTrouble(node.name);
      if (fails) node.disk.failure = 0.3;
      else node.disk.slowness = stage.random.pick([20, 100]);
    }
    await stage.sleep(5, 200);
    for (const node of slow) node.disk.failure = 0;
    stage.stir();
    await stage.sleep(2, 30);
    stage.crash(nodes, stage.random.pick(['none', 'torn', 'prefix'] as const));
    for (const node of slow) node.disk.slowness = 1;
    for (const node of stage.random.shuffle(nodes)) {
      await stage.sleep(1, 100);
      stage.start([node]);
    }
  },
};
