import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';

/**
 * A queue moves, and one of those that take part dies, stands still or is cut off at some moment of that: who leads the group that it leaves, who
 * leads the one where it goes, or anybody (rule 22).
 */
export const moveInterrupted: Scenario = {
  name: 'move-interrupted',
  rules: ['movedSafeFirst'],
  firstVersion: false,
  moves: true,
  rounds: 5,
  messages: 400,
  async play(stage) {
    const { world, random } = stage;
    const underWay = (): { from: number; to: number } | undefined => {
      for (const node of world.nodes) {
        const move = node.process?.probe.moves()[0];
        if (move !== undefined) return move;
      }
      return undefined;
    };
    if (!(await stage.until(() => underWay() !== undefined || !stage.stir(), 4000))) return;
    const { from, to } = underWay()!;
    await stage.sleep(0, random.pick([5, 60, 300]));
    stage.stir();
    const victim = random.pick([stage.primary(from), stage.primary(to), random.pick(world.nodes)]);
    await stage.sleep(0, 10);
    await misfortune(stage, victim, random.float(), { crash: 0.5, freeze: 0.75 });
    await stage.sleep(50, 800);
  },
};
