import type { RuleName } from '../../src/base/rules.js';
import type { KindName } from '../workload/kinds.js';
import { misfortune } from './misfortune.js';
import type { Scenario } from './scenario.js';
import type { Stage } from './stage.js';

/**
 * Queues that do more than keep what they are given, and who leads them goes; or their groups are given away, or links are lost. First
 * they are left in peace: much of what they promise is judged only while nothing fails.
 */
function kindsScenario(
  name: string,
  kinds: readonly KindName[],
  rules: readonly RuleName[],
  nodes: number = 3,
): Scenario {
  return {
    name,
    rules,
    nodes,
    firstVersion: false,
    kinds,
    rounds: 4,
    messages: 100 + 40 * kinds.length,
    async play(stage) {
      await stage.sleep(0, stage.random.pick([20, 300, 1200]));
      stage.stir();
      await stage.sleep(0, stage.random.pick([2, 10, 60]));
      await something(stage);
      await stage.sleep(50, 800);
    },
  };
}

async function something(stage: Stage): Promise<void> {
  const { random, world } = stage;
  const group = stage.group();
  const leader = stage.primary(group);
  const dice = random.float();
  const [backup] = stage.backups(group);
  const [outsider] = world.nodes.filter(
    (node) => !stage.record(group).inSync.some((member) => member.node === node.name),
  );
  if (dice < 0.5 && outsider !== undefined && backup !== undefined) {
    // Who joins is told of all queues; then it is to lead them.
    await stage.operator.transferReplica(group, backup, outsider);
    await stage.until(() => stage.record(group).inSync.some((member) => member.node === outsider.name), 3000);
    await stage.operator.transfer(group, outsider);
    await stage.sleep(100, 1000);
  } else if (dice < 0.2 && backup !== undefined) await stage.operator.transfer(group, backup);
  else if (dice < 0.35) {
    const others = world.nodes.filter((node) => node !== leader);
    stage.breakLinks(leader, random.pick(others));
  } else if (dice < 0.45) {
    stage.crash(world.nodes, 'none');
    await stage.sleep(1, 300);
    stage.start(world.nodes);
  } else
    await misfortune(stage, random.chance(0.8) ? leader : random.pick(world.nodes), random.float(), {
      crash: 0.7,
      freeze: 0.85,
    });
}

/** What queues do by their messages' headers. */
export const keyedQueues: Scenario = kindsScenario(
  'keyed-queues',
  ['clan', 'last'],
  ['groupsTogether', 'groupsNamed', 'newestStays', 'valuesFound'],
);
/** What they give up, or refuse. */
export const boundedQueues: Scenario = kindsScenario(
  'bounded-queues',
  ['ring', 'full', 'picky', 'tired', 'brief'],
  [
    'lengthKept',
    'fullRefuses',
    'refusalsTold',
    'othersTake',
    'doubtRefuses',
    'returnsLogged',
    'returnsJoined',
    'returnsLimited',
    'timeKept',
  ],
);
/** Who gets what he has chosen, and who only looks. */
export const choosing: Scenario = kindsScenario('choosing', ['choosy'], ['readersTold']);
/** What clients say of what they give back. */
export const notes: Scenario = kindsScenario('notes', ['noted'], []);
/** Whose turn it is. */
export const turns: Scenario = kindsScenario(
  'turns',
  ['rank', 'solo', 'first'],
  ['highestFirst', 'lanesJoined', 'oneActive', 'preferredFirst'],
  4,
);
/** What is not used, what leads nowhere, and what waits for replies. */
export const sideWays: Scenario = kindsScenario(
  'side-ways',
  ['tenant', 'stray', 'reply'],
  ['unusedGoes', 'useKeeps', 'repliesEnd', 'alternateTaken'],
);
