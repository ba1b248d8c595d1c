import { resumedQueue } from '../workload/resumer.js';
import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';

/** Clients resume their links, and who leads their queue goes, or stands still, with what it was at. */
export const resumed: Scenario = {
  name: 'resumed',
  rules: ['linksFenced', 'acquiresLogged', 'acquiredKept'],
  firstVersion: false,
  resumes: true,
  rounds: 5,
  messages: 150,
  async play(stage) {
    const { world, random } = stage;
    stage.stir();
    await stage.sleep(0, random.pick([5, 20, 100]));
    stage.stir();
    await stage.sleep(0, random.pick([1, 3, 8]));
    const group = world.nodes[0]!.process?.probe.groupOf('/', resumedQueue) ?? -1;
    const leader = group < 0 ? random.pick(world.nodes) : stage.primary(group);
    const victim = random.chance(0.7) ? leader : random.pick(world.nodes);
    if (random.chance(0.3)) {
      // A client goes on elsewhere while its node still has something of it.
      stage.delay(victim, random.pick(world.nodes), random.pick([20, 100, 300]));
      for (const connection of [...world.connections]) if (random.chance(0.3)) connection.dismiss();
      await stage.sleep(0, 50);
    }
    if (group >= 0 && random.chance(0.25)) {
      // A planned move, with or without something that fails in the middle.
      const [next] = stage.backups(group);
      if (next !== undefined) void stage.operator.transfer(group, next);
      await stage.sleep(0, 5);
      if (random.chance(0.5)) return stage.sleep(50, 500);
    }
    await misfortune(stage, victim, random.float(), { crash: 0.7, freeze: 0.85 });
    await stage.sleep(50, 500);
  },
};
