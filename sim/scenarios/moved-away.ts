import type { Scenario } from './scenario.js';

/**
 * A primary whose replica is to be elsewhere leads until the new ones are in sync. Before they are, all others are lost, and then it
 * is restarted: the last in-sync set is an older life of a node that is to have no replica, and it alone has everything.
 */
export const movedAway: Scenario = {
  name: 'moved-away',
  rules: [],
  nodes: 4,
  rounds: 4,
  messages: 500,
  async play(stage) {
    const group = stage.group();
    const old = stage.primary(group);
    const { replicas } = stage.record(group);
    const spare = stage.world.nodes.find(({ name }) => !replicas.includes(name));
    if (spare === undefined || !replicas.includes(old.name)) return;
    const others = stage.world.nodes.filter((node) => node !== old);
    if (stage.random.chance(0.5)) stage.slow(old, spare, stage.random.pick([20, 60]));
    stage.stir();
    void stage.operator.transferReplica(group, old, spare);
    await stage.until(() => !stage.record(group).replicas.includes(old.name), 1000);
    if (stage.random.chance(0.3)) await stage.sleep(0, 40);
    stage.crash(others);
    await stage.until(() => stage.record(group).inSync.length === 1, 4000);
    stage.stir();
    await stage.sleep(0, 100);
    stage.crash([old]);
    await stage.sleep(10, 500);
    if (stage.random.chance(0.5)) {
      stage.start([old]);
      await stage.sleep(0, 1500);
    }
    stage.start(stage.world.nodes.filter((node) => !node.alive));
    await stage.mustBeWhole('after all have come back');
  },
};
