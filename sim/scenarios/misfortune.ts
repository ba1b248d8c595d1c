import type { SimNode } from '../node.js';
import type { Stage } from './stage.js';

/** Below `crash` of `dice` the node crashes and comes back, below `freeze` it stands still for a while, else it is cut off. */
export async function misfortune(
  stage: Stage,
  victim: SimNode,
  dice: number,
  { crash, freeze }: { crash: number; freeze: number },
): Promise<void> {
  const { world, random } = stage;
  if (dice < crash) {
    stage.crash([victim], random.pick(['all', 'none', 'torn'] as const));
    await stage.sleep(1, 600);
    stage.start([victim]);
  } else if (dice < freeze) {
    stage.freeze(victim);
    await stage.sleep(100, 4000);
    stage.thaw(victim);
  } else {
    const others = world.nodes.filter((node) => node !== victim && random.chance(0.7));
    stage.cutOff(victim, others, random.chance(0.3));
    await stage.sleep(500, 6000);
  }
}
