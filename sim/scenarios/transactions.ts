import { transactionInput } from '../workload/transactor.js';
import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';

/** Clients take and publish in transactions, and who leads their queues goes in the middle of it. */
export const transactions: Scenario = {
  name: 'transactions',
  rules: ['wholeUnits'],
  firstVersion: false,
  transactions: true,
  rounds: 8,
  messages: 900,
  async play(stage) {
    const { world, random } = stage;
    stage.stir();
    await stage.sleep(0, random.pick([5, 20, 100]));
    stage.stir();
    await stage.sleep(0, random.pick([1, 3, 8]));
    const leader = stage.primary(world.nodes[0]!.process!.probe.groupOf('/', transactionInput));
    const victim = random.chance(0.7) ? leader : random.pick(world.nodes);
    await misfortune(stage, victim, random.float(), { crash: 0.8, freeze: 0.9 });
    await stage.sleep(50, 500);
  },
};
