import type { SimNode } from '../node.js';
import type { Scenario } from './scenario.js';
import type { Stage } from './stage.js';

/**
 * A primary is replaced and does not know: when it goes on, its sockets still hold what came before, its clients still ask, its
 * queues are not empty, and its epoch is over.
 */
export const deposedPrimary: Scenario = {
  name: 'deposed-primary',
  rules: ['leaseNeeded', 'leaseFromSend', 'liveNotDeposed'],
  rounds: 4,
  messages: 400,
  // So that there is something to deliver at any time.
  consumers: { thinkMs: 150, lifeMs: 20_000 },
  async play(stage) {
    const group = stage.group();
    const primary = stage.primary(group);
    const { epoch } = stage.record(group);
    const goOn = await stage.random.pick([freeze, cutOff, hearLate, hearLate])(stage, primary);
    await stage.successor(group, epoch);
    await stage.sleep(0, 400);
    stage.stir();
    await stage.sleep(0, 300);
    goOn();
    await stage.sleep(100, 1500);
  },
};

type GoOn = () => void;

function others(stage: Stage, primary: SimNode): SimNode[] {
  return stage.world.nodes.filter((node) => node !== primary);
}

async function freeze(stage: Stage, primary: SimNode): Promise<GoOn> {
  stage.stir();
  await stage.sleep(0, 3);
  stage.freeze(primary);
  return () => stage.thaw(primary);
}

async function cutOff(stage: Stage, primary: SimNode): Promise<GoOn> {
  stage.stir();
  await stage.sleep(0, 3);
  stage.cutOff(primary, others(stage, primary), stage.random.chance(0.7));
  return () => {};
}

/**
 * It hears answers a second after they were given, and goes on hearing them when its questions are heard no more. With a slow disk
 * besides, it is the last to have what the others have: what it finds out then is true, but comes too late.
 */
async function hearLate(stage: Stage, primary: SimNode): Promise<GoOn> {
  const { network, coordinator } = stage.world;
  for (const other of others(stage, primary)) stage.delay(other, primary, stage.random.pick([700, 1200]));
  await stage.sleep(2000, 3000);
  if (stage.random.chance(0.5)) primary.disk.slowness = 2200 / primary.disk.profile.syncMs;
  stage.stir();
  await stage.sleep(1, 300);
  coordinator.cut(primary.name);
  for (const other of others(stage, primary)) network.block(primary.name, other.name);
  primary.disk.slowness = 1;
  return () => {};
}
