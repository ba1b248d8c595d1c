import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';

/**
 * Publishers wait for a queue that is too full, which its primary tells all nodes; and that primary, or another node, goes, is cut off
 * or stands still meanwhile. Nobody waits in the end.
 */
export const flows: Scenario = {
  name: 'flows',
  rules: ['stopsListed'],
  firstVersion: false,
  flows: true,
  rounds: 5,
  messages: 400,
  async play(stage) {
    const { world, random } = stage;
    stage.stir();
    await stage.sleep(0, random.pick([2, 20, 200]));
    const { probe } = world.nodes[0]!.process!;
    const victim = random.pick([stage.primary(probe.groupOf('/', 'limited')), random.pick(world.nodes)]);
    await misfortune(stage, victim, random.float(), { crash: 0.5, freeze: 0.7 });
    stage.stir();
    await stage.sleep(50, 800);
  },
};
