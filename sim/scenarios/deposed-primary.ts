import type { Scenario } from './scenario.js';

/**
 * A primary is replaced and does not know: it was frozen, or cut off from the others but not from its clients. When it goes on, its
 * sockets still hold what came before, its clients still ask, and its epoch is over.
 */
export const deposedPrimary: Scenario = {
  name: 'deposed-primary',
  rules: ['leaseConfirm', 'leaseDeliver', 'leaseFromSend', 'liveNotDeposed', 'noLowerEpoch'],
  rounds: 4,
  messages: 400,
  async play(stage) {
    const group = stage.group();
    const primary = stage.primary(group);
    const { epoch } = stage.record(group);
    const others = stage.world.nodes.filter((node) => node !== primary);
    stage.stir();
    await stage.sleep(0, 3);
    const frozen = stage.random.chance(0.5);
    if (frozen) stage.freeze(primary);
    else {
      // Late answers at first: whoever counts his lease from their receipt believes in it for too long.
      for (const other of others) stage.delay(other, primary, stage.random.pick([0, 400, 1200]));
      await stage.sleep(0, 600);
      stage.cutOff(primary, others, stage.random.chance(0.7));
    }
    await stage.successor(group, epoch);
    await stage.sleep(0, 400);
    stage.stir();
    await stage.sleep(0, 300);
    if (frozen) stage.thaw(primary);
    await stage.sleep(100, 1500);
  },
};
