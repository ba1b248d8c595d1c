import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { allRules } from '../../../src/base/rules.js';
import { fullSlices } from '../../../src/base/slices.js';
import { QueueMoves } from '../../../src/cluster/moving/queue-moves.js';
import { MoveStage } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { queueObject } from '../model-wiring/support.js';

const source = queueObject('q', { position: 5 });
/** Of epoch 1, and of epoch 2. */
const [never, target] = [9, 2 ** 32 + 1].map((position) =>
  queueObject('q', { position, group: 2, movesFrom: source.position }),
) as [typeof source, typeof source];

function stage(position: number, name: MoveStage) {
  return { kind: 'move', position, queue: source.position, stage: name, durable: true } as const;
}

/** A node that leads the old queue's group, and what it does. */
function setUp() {
  const tables = new WiringTables();
  const clock = new ManualClock();
  const events: string[] = [];
  let advanced = (): void => {};
  const client = (group: number) => ({
    publish: (_parts: unknown, incarnations: number[]) => events.push(`says its marker in ${incarnations.join()}`),
    consume: (incarnation: number) => {
      events.push(`consumes ${incarnation} of group ${group}`);
      return Promise.reject(new Error('not here'));
    },
  });
  const clients = {
    client,
    queueMoved: (from: { position: number }, to: { position: number }) =>
      events.push(`consumers go from ${from.position} to ${to.position}`),
    forgetPublisher() {},
    forgetSink() {},
  };
  const moves = new QueueMoves({
    tables,
    system: { onVersion: (listener: () => void) => (advanced = listener), leader: () => undefined },
    map: { groups: new Map(), members: new Map(), config: {} },
    clients,
    replication: { led: () => ({}), isDead: () => false },
    wiring: {},
    leaseMs: 1000,
    rules: allRules,
    slices: fullSlices((run) => run()),
    clock,
    logger: {
      ...silentLogger,
      info: (text: string, { from, to }: Record<string, number> = {}) => events.push(`${text} ${from} ${to}`),
    },
  } as unknown as ConstructorParameters<typeof QueueMoves>[0]);
  const reach = (version: number): void => {
    tables.applied(version);
    advanced();
  };
  return { tables, clock, events, moves, reach };
}

describe('a node that a restart has left with wiring that may never have been', () => {
  it('moves nothing and says nothing, until it knows what was committed', () => {
    const { tables, clock, events, moves } = setUp();
    for (const object of [source, never, stage(10, MoveStage.closing)]) tables.appeared(object.position, object);
    clock.advance(5000);
    assert.deepEqual(events, []);
    moves.close();
  });

  for (const newFirst of [true, false])
    it(`takes part in the move that was, not in the one that was not (${newFirst ? 'the new one comes' : 'the old one goes'} first)`, async () => {
      const { tables, clock, events, moves, reach } = setUp();
      for (const object of [source, never, stage(10, MoveStage.closing)]) tables.appeared(object.position, object);
      clock.advance(1000);
      const come = (): void => tables.appeared(target.position, target);
      const go = (): void => [never.position, 10].forEach((position) => tables.gone(position));
      for (const step of newFirst ? [come, go] : [go, come]) step();
      reach(target.position);
      clock.advance(5);
      assert.deepEqual(
        [...new Set(events)],
        [`consumers go from 5 to ${target.position}`, 'a queue moves 1 2'],
        'nobody says that nothing more comes',
      );
      const late = stage(target.position + 2, MoveStage.late);
      tables.appeared(late.position, late);
      reach(late.position);
      clock.advance(100);
      await Promise.resolve();
      assert.deepEqual(events.slice(-2).toSorted(), ['consumes 5 of group 1', 'says its marker in 5']);
      moves.close();
    });

  it('moves nothing that never moved', () => {
    const { tables, clock, events, moves, reach } = setUp();
    for (const object of [source, never]) tables.appeared(object.position, object);
    tables.gone(never.position);
    reach(2 ** 32 + 1);
    clock.advance(5000);
    assert.deepEqual(events, []);
    moves.close();
  });
});
