import type { SimNode } from '../node.js';
import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';

/**
 * Messages wait for their time, and go on by way of their group's outbox; and those who lead that group, or the one where they go, go
 * themselves, or all of them at once (rule 16).
 */
export const delays: Scenario = {
  name: 'delays',
  rules: ['delayedTogether', 'delayedDue'],
  firstVersion: false,
  delays: true,
  rounds: 5,
  messages: 400,
  async play(stage) {
    const { world, random } = stage;
    stage.stir();
    await stage.sleep(0, random.pick([10, 60, 600]));
    stage.stir();
    await stage.sleep(0, random.pick([2, 20]));
    const { probe } = world.nodes[0]!.process!;
    const keeper: SimNode = stage.primary(probe.delayGroup('/', 'wait'));
    const victim = random.pick([keeper, keeper, stage.primary(probe.groupOf('/', 'late')), random.pick(world.nodes)]);
    const dice = random.float();
    if (dice < 0.2) {
      stage.crash(world.nodes, 'none');
      await stage.sleep(1, 600);
      stage.start(world.nodes);
    } else await misfortune(stage, victim, dice, { crash: 0.75, freeze: 0.9 });
    await stage.sleep(50, 800);
  },
};
