import type { Scenario } from './scenario.js';

/**
 * Who leads the system group is cut off when it has a queue moved, and dies: its journal has a move that never was. Those that go on
 * begin another move of the same queue. Then it comes back, and leads again what it alone has; sometimes it does not find the way to whoever
 * could tell it of the wiring. It must act on no move that was never committed, and take part in the one that was (rules 15 and 22).
 */
export const moveNeverCommitted: Scenario = {
  name: 'move-never-committed',
  rules: [],
  firstVersion: false,
  moves: true,
  rounds: 2,
  messages: 300,
  async play(stage) {
    const { random, world } = stage;
    const first = stage.primary(0);
    const { epoch } = stage.record(0);
    const policy = (): string => first.process!.probe.wiring().find((line) => line.includes('moving is here')) ?? '';
    const before = policy();
    const isDue = (): boolean => policy() !== before && first.process!.probe.moves().length === 0;
    if (!(await stage.until(() => isDue() || !stage.stir(), 5000))) return;
    const logEnd = first.process!.probe.logEnd(0);
    const others = world.nodes.filter((node) => node !== first);
    stage.cutOff(first, others, false);
    await stage.until(() => first.process!.probe.logEnd(0) > logEnd, 1500);
    await stage.sleep(0, 300);
    stage.crash([first]);
    const second = await stage.successor(0, epoch);
    if (second === undefined) return;
    await stage.sleep(0, 1500);
    // Starts it.
    stage.director.mend();
    if (random.chance(0.7)) stage.cutOff(first, [second], false);
    await stage.sleep(500, 8000);
    await stage.heal();
  },
};
