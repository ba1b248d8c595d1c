import { systemGroup } from '../../src/cluster/map.js';
import type { Scenario } from './scenario.js';

/**
 * The coordinator is away, and a node stands still for less than a lease: it is to be taken out of its sets, which cannot be recorded.
 * When it goes on it is a member as before, and may route: nothing that was not recorded holds that up.
 */
export const outage: Scenario = {
  name: 'outage',
  rules: [],
  rounds: 2,
  messages: 400,
  async play(stage) {
    const { coordinator, nodes } = stage.world;
    const primary = stage.primary(systemGroup);
    const node = stage.random.pick(nodes.filter((other) => other !== primary));
    stage.begin();
    coordinator.cut('*');
    for (const each of nodes) stage.world.inTrouble(each.name);
    // Longer than any right that rests on a reading.
    await stage.sleep(2500, 3000);
    stage.freeze(node);
    await stage.sleep(1200, 1400);
    stage.thaw(node);
    stage.stir();
    // What it was granted before is over.
    await stage.sleep(2500, 3000);
    const routes = await stage.until(() => (node.process?.broker.routingVersion ?? -1) >= 0, 1500);
    if (!routes) stage.world.fail('routes-in-an-outage', `${node.name} is a member, and may not route`);
    await stage.sleep(0, 1000);
  },
};
