import type { Scenario } from './scenario.js';

/**
 * Something fails in the middle of a hand-over: the old primary dies, stands still or is cut off before it has passed on what it
 * knows, the new one dies, a node hears of it late, the coordinator's answer is lost. Then it is a failover: flags, but no loss.
 */
export const brokenHandOver: Scenario = {
  name: 'broken-hand-over',
  rules: [],
  firstVersion: false,
  recycles: true,
  rounds: 6,
  messages: 500,
  async play(stage) {
    // The system group now and then: declarations must be neither doubled nor answered too early.
    const group = stage.random.chance(0.25) ? 0 : stage.group();
    const old = stage.primary(group);
    const [next, ...others] = stage.backups(group);
    if (next === undefined) return;
    const other = others[0] ?? stage.world.nodes.find((node) => node !== old && node !== next)!;
    const { epoch } = stage.record(group);
    stage.stir();
    if (stage.random.chance(0.3))
      stage.delay(old, stage.random.pick([next, other]), stage.random.pick([5, 30, 150, 400]));
    if (stage.random.chance(0.3)) stage.world.coordinator.lostAnswers = 0.5;
    if (stage.random.chance(0.2)) {
      // It holds messages and stands still; the next primary has promised it nothing for long, only the old one has.
      stage.cutOff(next, [other], false);
      await stage.sleep(2200, 3000);
      stage.freeze(other);
    }
    void stage.operator.transfer(group, next);
    // The pause, the compare-and-set, or what follows it.
    if (stage.random.chance(0.5)) await stage.until(() => stage.record(group).epoch > epoch, 400);
    await stage.sleep(0, 6);
    switch (stage.random.int(7)) {
      case 0:
        stage.crash([old]);
        break;
      case 1:
        stage.crash([next], stage.random.pick(['all', 'none'] as const));
        break;
      case 2:
        stage.freeze(old);
        break;
      case 3:
        stage.freeze(next);
        break;
      case 4:
        stage.cutOff(old, [next], false);
        break;
      case 5:
        stage.breakLinks(old, other);
        stage.breakLinks(old, next);
        break;
      default:
        stage.crash([other]);
    }
    await stage.sleep(20, 3500);
    stage.world.coordinator.lostAnswers = 0;
    for (const node of [old, next, other]) {
      if (node.frozen) stage.thaw(node);
      if (!node.alive) stage.start([node]);
    }
  },
};
