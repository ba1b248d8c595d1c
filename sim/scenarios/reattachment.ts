import type { Scenario } from './scenario.js';

/**
 * Who holds what is not replicated: a primary changes, or a link breaks, or a proxy stands still, while clients hold messages.
 * What a live node's clients hold stays theirs; what a dead one's held comes again, flagged.
 */
export const reattachment: Scenario = {
  name: 'reattachment',
  rules: ['waitReattach', 'keepHeld', 'holdOverLinkLoss', 'flagReaped', 'flagOld'],
  rounds: 6,
  messages: 400,
  async play(stage) {
    const group = stage.group();
    const primary = stage.primary(group);
    const proxies = stage.random.shuffle(stage.world.nodes.filter((node) => node !== primary));
    const proxy = proxies[0]!;
    stage.stir();
    await stage.sleep(0, 40);
    switch (stage.random.int(4)) {
      case 0:
        stage.crash([primary]);
        await stage.sleep(50, 1500);
        stage.start([primary]);
        break;
      case 1:
        for (const other of proxies) stage.breakLinks(primary, other);
        await stage.sleep(5, 300);
        break;
      case 2:
        // Deliveries in its socket, and its lease gone before it reads them.
        stage.freeze(proxy);
        await stage.sleep(2500, 4500);
        stage.thaw(proxy);
        break;
      default:
        stage.cutOff(primary, [proxy], false);
        await stage.sleep(20, 1200);
        stage.director.mend();
    }
    await stage.sleep(50, 800);
  },
};
