import type { SimNode } from '../node.js';
import type { Scenario } from './scenario.js';
import type { Stage } from './stage.js';

/**
 * A node is lost, or nobody hears it for long, and an operator has the cluster forget it: its places go to others, it is a stranger should
 * it wake up, and it comes back with an empty disk under its name.
 */
export const forgotten: Scenario = {
  name: 'forgotten',
  rules: [],
  rounds: 2,
  nodes: 4,
  messages: 400,
  consumers: { lifeMs: 20_000 },
  async play(stage) {
    const lost = stage.random.pick(stage.world.nodes);
    const others = stage.world.nodes.filter((node) => node !== lost);
    const sleeps = stage.random.chance(0.5);
    stage.stir();
    await stage.sleep(0, 5);
    if (sleeps) stage.freeze(lost);
    else stage.crash([lost]);
    await stage.sleep(0, 2000);
    if (!(await insist(stage, lost, others))) return;
    stage.stir();
    if (sleeps) {
      stage.thaw(lost);
      await stage.until(() => (lost.process?.probe.broken ?? '') !== '', 6000);
      stage.crash([lost]);
    }
    // Its old disk would keep it out.
    lost.disk.wipe();
    await stage.sleep(0, 1000);
    stage.start([lost]);
    await stage.sleep(50, 1000);
  },
};

/** Somebody is asked, again and again, until it is done. */
async function insist(stage: Stage, lost: SimNode, others: readonly SimNode[]): Promise<boolean> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const serving = others.filter((node) => node.serving);
    const node = stage.random.pick(serving.length > 0 ? serving : others);
    const answer = (await node.process?.operator.forget(lost.name)) ?? 'it does not run';
    stage.world.trace.add('operator', `forget ${lost.name}, says ${node.name}: ${answer || 'done'}`);
    if (answer === '' || answer.includes('there is no node')) return true;
    await stage.sleep(50, 500);
  }
  return false;
}
