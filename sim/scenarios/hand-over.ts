import type { Scenario } from './scenario.js';

/**
 * Groups are given from node to node under load, and nodes are drained, while nothing fails: no client loses, repeats, or is told
 * of it by a flag, and messages stay in order (rule 20).
 */
export const handOver: Scenario = {
  name: 'hand-over',
  rules: ['moveDrained', 'movePassesOn', 'endMark'],
  firstVersion: false,
  rounds: 4,
  messages: 500,
  async play(stage) {
    const [near, far] = stage.random.shuffle(stage.world.nodes);
    stage.slow(near!, far!, stage.random.pick([0, 5, 20, 60]));
    for (let i = 0; i < 4; i++) {
      const group = stage.random.int(1 + stage.world.options.groups);
      const [to] = stage.backups(group);
      stage.stir();
      await stage.sleep(0, 20);
      if (to === undefined) continue;
      if (stage.random.chance(0.75)) {
        await stage.operator.transfer(group, to);
        stage.expect(`group ${group} is led by ${to.name}`, await stage.until(() => stage.primary(group) === to, 4000));
      } else {
        const node = stage.primary(group);
        await stage.operator.drain(node);
        stage.expect(`${node.name} leads nothing`, await stage.until(() => stage.leads(node) === 0, 4000));
        await stage.sleep(0, 200);
        await stage.operator.revive(node);
      }
      stage.stir();
      await stage.sleep(0, 300);
    }
  },
};
