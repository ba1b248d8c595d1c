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
    const dice = random.float();
    if (dice < 0.5) {
      stage.crash([victim], random.pick(['all', 'none', 'torn'] as const));
      await stage.sleep(1, 600);
      stage.start([victim]);
    } else if (dice < 0.75) {
      stage.freeze(victim);
      await stage.sleep(100, 4000);
      stage.thaw(victim);
    } else {
      const others = world.nodes.filter((node) => node !== victim && random.chance(0.7));
      stage.cutOff(victim, others, random.chance(0.3));
      await stage.sleep(500, 6000);
    }
    await stage.sleep(50, 800);
  },
};
