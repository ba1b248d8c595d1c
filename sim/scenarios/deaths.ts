import type { SimNode } from '../node.js';
import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';

/**
 * Messages die and are on their way to another group, and those who lead the groups go: with what they were sending, and with what
 * they had received (rule 16).
 */
export const deaths: Scenario = {
  name: 'deaths',
  rules: ['outboxOnce', 'outboxSafeFirst', 'diesInTime'],
  firstVersion: false,
  deaths: true,
  rounds: 5,
  messages: 500,
  async play(stage) {
    const { world, random } = stage;
    stage.stir();
    await stage.sleep(0, random.pick([5, 20, 200]));
    stage.stir();
    await stage.sleep(0, random.pick([2, 10]));
    const leaderOf = (queue: string): SimNode => stage.primary(world.nodes[0]!.process!.probe.groupOf('/', queue));
    const [source, target] = [leaderOf('mortal'), leaderOf('grave')];
    const victim = random.pick([source, target, random.pick(world.nodes)]);
    const dice = random.float();
    if (dice < 0.4 && target !== source) {
      // What is sent stays with the sender, which cannot reach the other; and then the sender goes.
      stage.cutOff(target, [source], false);
      for (let i = 0; i < 4; i++) {
        await stage.sleep(300, 800);
        stage.stir();
      }
      stage.crash([source], 'none');
      await stage.sleep(1, 600);
      stage.start([source]);
    } else await misfortune(stage, victim, dice, { crash: 0.7, freeze: 0.85 });
    await stage.sleep(50, 800);
  },
};
