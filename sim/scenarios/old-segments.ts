import type { Scenario } from './scenario.js';

/**
 * All nodes are killed and started again when segments were left, compacted and removed: whatever the older ones still hold of
 * messages that were consumed, it does not come back.
 */
export const oldSegments: Scenario = {
  name: 'old-segments',
  rules: ['cancelsKept'],
  rounds: 3,
  messages: 300,
  segmentBytes: 4 * 1024,
  async play(stage) {
    const { nodes } = stage.world;
    await stage.sleep(600, 2000);
    stage.stir();
    await stage.sleep(0, 20);
    stage.crash(nodes);
    await stage.sleep(1, 100);
    stage.start(stage.random.shuffle(nodes));
    await stage.whole();
  },
};
