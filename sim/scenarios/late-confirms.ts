import type { Scenario } from './scenario.js';

/**
 * A publish is committed, its confirm is still on its way to the proxy, and the primary dies. The proxy sends it again, to a primary
 * that has the message by backfill only: it must know the publisher's last number all the same.
 */
export const lateConfirms: Scenario = {
  name: 'late-confirms',
  rules: ['publishersKept', 'dedupe', 'resendFirst'],
  rounds: 4,
  messages: 400,
  async play(stage) {
    const group = stage.group();
    const primary = stage.primary(group);
    const { epoch } = stage.record(group);
    const [joiner, proxy] = stage.backups(group);
    if (joiner === undefined || proxy === undefined) return;
    stage.crash([joiner]);
    await stage.sleep(20, 200);
    const lateMs = stage.random.between(100, 500);
    stage.delay(primary, proxy, lateMs);
    stage.stir();
    await stage.sleep(lateMs, lateMs + 50);
    stage.start([joiner]);
    for (let i = 0; i < 5; i++) {
      stage.stir();
      await stage.sleep(5, lateMs / 5);
    }
    stage.crash([primary]);
    // The joiner is to be the one who is elected.
    stage.freeze(proxy);
    await stage.successor(group, epoch, 3500);
    await stage.sleep(0, 50);
    stage.thaw(proxy);
    await stage.sleep(50, 500);
    stage.start([primary]);
    await stage.sleep(50, 500);
  },
};
