import type { Scenario } from './scenario.js';

/** The system group loses its primary, or one of its members is out of reach, while queues are declared, deleted and used. */
export const wiring: Scenario = {
  name: 'wiring',
  rules: ['byIncarnation', 'waitVersion', 'onlyCommittedWiring', 'wiringWaitsForAll'],
  rounds: 5,
  messages: 1000,
  recycles: true,
  async play(stage) {
    const system = stage.primary(0);
    const others = stage.random.shuffle(stage.world.nodes.filter((node) => node !== system));
    const outsider = stage.publishersAt().find((node) => node !== system) ?? others[0]!;
    await stage.sleep(0, 400);
    switch (stage.random.int(3)) {
      case 0:
        // Some backups have declarations that others lack when the primary dies.
        for (const other of others.slice(1)) stage.delay(system, other, stage.random.pick([5, 50, 200]));
        await stage.sleep(50, 300);
        stage.crash([system], stage.random.pick(['all', 'none'] as const));
        await stage.sleep(50, 800);
        stage.start([system]);
        break;
      case 1:
        // Still there for its clients, no longer for the system group.
        stage.cutOff(outsider, [system], true);
        await stage.until(() => !stage.record(0).inSync.some((member) => member.node === outsider.name), 3000);
        for (let i = 0; i < 15; i++) {
          stage.stir();
          await stage.sleep(20, 60);
        }
        break;
      default:
        stage.delay(system, outsider, stage.random.pick([20, 100, 400]));
        await stage.sleep(300, 1500);
    }
  },
};
