import type { GroupRecord } from '../../src/cluster/map.js';
import type { SimNode } from '../node.js';
import type { Scenario } from './scenario.js';
import type { Stage } from './stage.js';

/**
 * The last in-sync member of some groups loses its disk: they wait for it, until an operator accepts the loss. What was confirmed while
 * others were in sync too is there all the same, and the fourth node's clients, who knew more, go on.
 */
export const override: Scenario = {
  name: 'override',
  rules: ['overrideWaits'],
  rounds: 2,
  nodes: 4,
  messages: 400,
  consumers: { lifeMs: 20_000 },
  async play(stage) {
    const { loop } = stage.world;
    const group = stage.group();
    const last = stage.primary(group);
    const backups = stage.backups(group);
    const since = loop.now;
    stage.crash(backups);
    if (!(await stage.until(() => isAlone(stage.record(group), last), 6000))) return;
    stage.stir();
    await stage.sleep(0, 600);
    const lost = stage.groups().filter((each) => isAlone(stage.record(each), last));
    if (stage.random.chance(0.4)) return await cutOffAlive(stage, last, backups, lost);
    stage.crash([last]);
    stage.wipe(last, lost, since);
    stage.start(stage.random.shuffle(backups));
    const isBack = stage.random.chance(0.5);
    if (isBack) stage.start([last]);
    await stage.sleep(0, 4000);
    await Promise.all(lost.map((each) => insist(stage, each)));
    if (!isBack) stage.start([last]);
    await stage.sleep(50, 500);
  },
};

/** It is alive and serves its clients: the coordinator knows that, and no operator can make it otherwise. */
async function cutOffAlive(
  stage: Stage,
  alive: SimNode,
  backups: readonly SimNode[],
  groups: readonly number[],
): Promise<void> {
  stage.start(backups);
  const others = stage.world.nodes.filter((node) => node !== alive);
  stage.cutOff(alive, others, false);
  await stage.sleep(2500, 4000);
  stage.stir();
  await Promise.all(groups.map((group) => ask(stage, group, others)));
  stage.stir();
  await stage.sleep(0, 2000);
}

async function ask(stage: Stage, group: number, nodes: readonly SimNode[]): Promise<string> {
  const serving = nodes.filter((node) => node.serving);
  if (serving.length === 0) return 'nobody is there to be asked';
  const node = stage.random.pick(serving);
  const answer = await node.process!.operator.override(group);
  stage.world.trace.add('operator', `override of group ${group} at ${node.name}: ${answer || 'done'}`);
  return answer;
}

function isAlone(record: GroupRecord, node: SimNode): boolean {
  return record.inSync.length === 1 && record.inSync[0]!.node === node.name;
}

/** Somebody is asked, again and again, until it is done. */
async function insist(stage: Stage, group: number): Promise<void> {
  const { epoch } = stage.record(group);
  for (let attempt = 0; attempt < 20 && stage.record(group).epoch === epoch; attempt++) {
    await ask(stage, group, stage.world.nodes);
    await stage.sleep(50, 500);
  }
}
