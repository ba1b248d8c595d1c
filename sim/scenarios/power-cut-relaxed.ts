import type { GroupRecord } from '../../src/cluster/map.js';
import type { Scenario } from './scenario.js';
import type { Stage } from './stage.js';

/**
 * The power of all nodes goes while some disks are slow, and events of one queue count before they are on disk: each disk has another
 * part of what was acknowledged. Of those that come back soon the one with most must be elected.
 */
export const powerCutRelaxed: Scenario = {
  name: 'power-cut-relaxed',
  rules: ['mostElected'],
  rounds: 4,
  relaxed: true,
  async play(stage) {
    const { nodes } = stage.world;
    const slow = stage.random.shuffle(nodes).slice(0, 2);
    stage.begin();
    slow.forEach((node, i) => {
      node.disk.slowness = i === 0 ? 100 : 20;
    });
    stage.stir();
    await stage.sleep(20, 200);
    stage.stir();
    await stage.sleep(2, 30);
    const group = stage.world.nodes[0]!.process?.probe.groupOf('/', 'relaxed') ?? -1;
    const before = stage.record(group);
    stage.crash(nodes, stage.random.pick(['none', 'prefix'] as const));
    for (const node of slow) node.disk.slowness = 1;
    for (const node of stage.random.shuffle(nodes)) {
      await stage.sleep(1, 100);
      stage.start([node]);
    }
    await elected(stage, before);
  },
};

/** Waits for the next primary, and compares what it had with what the others had. */
async function elected(stage: Stage, before: GroupRecord): Promise<void> {
  const { world } = stage;
  const ends = new Map<string, number>();
  await stage.until(() => {
    const isElected = stage.record(before.group).epoch > before.epoch;
    for (const { name, process } of world.nodes) {
      const end = process?.probe.logEnd(before.group) ?? -1;
      if (end >= 0 && !isElected && !ends.has(name)) ends.set(name, end);
    }
    return isElected;
  }, 15_000);
  if (before.relaxed !== true) return;
  const after = stage.record(before.group);
  const own = ends.get(after.primary.node) ?? 0;
  for (const { node } of before.inSync) {
    const end = ends.get(node) ?? 0;
    if (end > own)
      world.fail('most-elected', `${after.primary.node} leads group ${before.group} with ${own}, ${node} had ${end}`);
  }
}
