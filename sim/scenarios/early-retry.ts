import type { Scenario } from './scenario.js';

/**
 * A proxy loses its link and says its publishes again, while the primary has them and no backup does. "Already there" is no answer
 * before the commit: the primary dies, and nobody has them.
 */
export const earlyRetry: Scenario = {
  name: 'early-retry',
  rules: ['retryWaits'],
  nodes: 4,
  rounds: 6,
  messages: 600,
  async play(stage) {
    const group = stage.group();
    const primary = stage.primary(group);
    const backups = stage.backups(group);
    const { replicas } = stage.record(group);
    const proxy = stage.world.nodes.find((node) => !replicas.includes(node.name));
    if (proxy === undefined) return;
    for (const backup of backups) stage.delay(primary, backup, stage.random.between(200, 400));
    await stage.sleep(0, 20);
    for (let i = 0; i < 3; i++) {
      stage.stir();
      await stage.sleep(1, 5);
    }
    stage.breakLinks(primary, proxy);
    await stage.sleep(20, 180);
    stage.crash([primary]);
    await stage.sleep(300, 1500);
    stage.start([primary]);
    await stage.sleep(50, 500);
  },
};
