import type { Scenario } from './scenario.js';

/**
 * The coordinator does not answer in the middle of a hand-over: the group is paused for long, stays, and is given away again at once;
 * then its old primary, which is being stopped, closes its clients' connections and goes.
 */
export const handOverPutOff: Scenario = {
  name: 'hand-over-put-off',
  rules: [],
  firstVersion: false,
  rounds: 4,
  messages: 800,
  async play(stage) {
    const { coordinator } = stage.world;
    const group = stage.group();
    const old = stage.primary(group);
    const { epoch } = stage.record(group);
    stage.stir();
    const isStopped = stage.random.chance(0.6);
    if (isStopped) await stage.operator.drain(old);
    else {
      const [to] = stage.backups(group);
      if (to === undefined || !(await stage.operator.transfer(group, to))) return;
    }
    await stage.sleep(0, stage.random.pick([3, 30]));
    stage.begin();
    if (stage.random.chance(0.5)) coordinator.cut(stage.random.chance(0.5) ? old.name : '*');
    else coordinator.lostAnswers = 1;
    await stage.sleep(50, stage.random.pick([400, 2600]));
    stage.stir();
    coordinator.heal();
    await stage.until(() => stage.record(group).epoch > epoch, 3000);
    await stage.sleep(0, stage.random.pick([5, 300]));
    stage.stir();
    if (!isStopped) return;
    await stage.until(() => stage.leads(old) === 0, 500);
    stage.dismissClients(old);
    await stage.sleep(0, 5);
    stage.crash([old]);
    await stage.sleep(10, 500);
    stage.start([old]);
  },
};
