import type { Scenario } from './scenario.js';

/**
 * Node after node is replaced by a newer program, under load, and the cluster is whole with every mixture of them: whoever is newer
 * writes nothing that the others cannot read.
 */
export const rollingUpgrade: Scenario = {
  name: 'rolling-upgrade',
  rules: ['featuresWait'],
  rounds: 1,
  firstVersion: true,
  async play(stage) {
    for (const node of stage.random.shuffle(stage.world.nodes)) {
      stage.stir();
      await stage.sleep(0, 400);
      stage.begin();
      stage.upgrade(node);
      await stage.sleep(400, 1200);
      await stage.mustBeWhole(`with ${node.name} upgraded`);
    }
  },
};
