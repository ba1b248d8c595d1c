import type { SimNode } from '../node.js';
import type { Scenario } from './scenario.js';
import type { Stage } from './stage.js';

/**
 * The coordinator is restored from a backup that was made before a node left some in-sync sets: it takes that node for a member that has
 * everything. All nodes are restarted, that one first, or some while others still run; or it happens in the moment in which a set was
 * made smaller.
 */
export const coordinatorRestored: Scenario = {
  name: 'coordinator-restored',
  rules: ['restoredWaits', 'recordPersist'],
  rounds: 2,
  messages: 400,
  async play(stage) {
    const { coordinator, nodes } = stage.world;
    const group = stage.group();
    const backup = coordinator.snapshot();
    const [stale] = stage.backups(group);
    if (stale === undefined) return;
    stage.stir();
    await stage.sleep(0, 5);
    stage.crash([stale]);
    const shrunk = await stage.until(() => !isMember(stage, group, stale), 6000);
    if (!shrunk) return;
    stage.stir();
    await stage.sleep(0, stage.random.pick([5, 50, 500]));
    const renamed = stage.random.chance(0.5);
    const others = nodes.filter((node) => node !== stale);
    if (stage.random.chance(0.3)) {
      // Some still run when the first of them starts.
      coordinator.restore(backup, renamed);
      stage.crash([others[0]!]);
      stage.start([stale, others[0]!]);
      await stage.sleep(0, 4000);
      stage.crash(nodes.slice());
      await stage.sleep(0, 50);
      stage.start(stage.random.shuffle(nodes));
    } else {
      stage.crash(nodes);
      coordinator.restore(backup, renamed);
      // Not renamed, it can be told from its age only by those that saw it.
      stage.start(renamed ? [stale] : [stage.random.pick(others)]);
      await stage.sleep(0, 4000);
      stage.start(stage.random.shuffle(nodes));
    }
    await stage.sleep(500, 3000);
  },
};

function isMember(stage: Stage, group: number, node: SimNode): boolean {
  return stage.record(group).inSync.some((member) => member.node === node.name);
}
