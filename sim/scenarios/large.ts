import type { SimNode } from '../node.js';
import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';

/**
 * Large messages are on their way, in parts: from publishers, to consumers, and to other groups when they die; and those who send, lead or
 * read them go, or all of them at once.
 */
export const large: Scenario = {
  name: 'large',
  rules: ['largeWhole', 'partsGo'],
  firstVersion: false,
  large: true,
  deaths: true,
  rounds: 5,
  messages: 300,
  async play(stage) {
    const { world, random } = stage;
    stage.stir();
    await stage.sleep(0, random.pick([2, 20, 200]));
    stage.stir();
    await stage.sleep(0, random.pick([2, 10]));
    const leaderOf = (queue: string): SimNode => stage.primary(world.nodes[0]!.process!.probe.groupOf('/', queue));
    const victim = random.pick([
      leaderOf('durable-1'),
      leaderOf('mortal'),
      leaderOf('grave'),
      random.pick(world.nodes),
    ]);
    const dice = random.float();
    if (dice < 0.2) {
      stage.crash(world.nodes, 'none');
      await stage.sleep(1, 600);
      stage.start(world.nodes);
    } else await misfortune(stage, victim, dice, { crash: 0.5, freeze: 0.75 });
    await stage.sleep(50, 800);
  },
};
