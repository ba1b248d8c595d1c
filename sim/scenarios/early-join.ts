import type { Scenario } from './scenario.js';

/**
 * A primary dies with a tail that one backup has; the other stands still, so that the tail cannot be committed. Meanwhile the dead
 * one comes back and wants to join: it must wait, since what streams to a joiner begins after the tail. Then the new primary dies.
 */
export const earlyJoin: Scenario = {
  name: 'early-join',
  rules: ['admitTakeover'],
  rounds: 4,
  messages: 600,
  async play(stage) {
    const group = stage.group();
    const first = stage.primary(group);
    const { epoch } = stage.record(group);
    const [second, third] = stage.backups(group);
    if (second === undefined || third === undefined) return;
    stage.freeze(third);
    for (let i = 0; i < 4; i++) {
      stage.stir();
      await stage.sleep(0.5, 2);
    }
    stage.crash([first]);
    await stage.sleep(5, 100);
    stage.start([first]);
    const pairLeads = (): boolean => {
      const { inSync, epoch: now } = stage.record(group);
      const hasFirst = inSync.some((member) => member.boot === first.process?.probe.boot);
      return now > epoch && hasFirst && !inSync.some((member) => member.node === third.name);
    };
    await stage.until(pairLeads, 4000);
    await stage.sleep(0, 100);
    stage.crash([second]);
    await stage.sleep(10, 300);
    stage.thaw(third);
    stage.start([second]);
    await stage.sleep(50, 500);
  },
};
