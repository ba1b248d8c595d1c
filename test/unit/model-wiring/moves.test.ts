import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeObject,
  encodeObject,
  MoveStage,
  type QueueObject,
  type WiringObject,
} from '../../../src/model/wiring/objects.js';
import type { MoveOn } from '../../../src/model/wiring/operations.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import { bind, declareExchange, declareQueue, deleteQueue, InstantWiring, queueObject } from './support.js';

/** Wiring with a queue, bound to an exchange; a policy that wants it on one node; and group 7 for such queues. */
function wiringToMove(fields: Parameters<typeof declareQueue>[1] = {}): { wiring: InstantWiring; source: number } {
  const wiring = new InstantWiring();
  wiring.done(declareExchange('x'));
  const source = wiring.done(declareQueue('q', fields)).position;
  wiring.done(bind('x', 'q', 'k'));
  wiring.group = 7;
  setReplicas(wiring, 1);
  return { wiring, source };
}

function setReplicas(wiring: InstantWiring, replicas: number): void {
  const definition = { replicas };
  const policy = { vhost: '/', name: 'where', pattern: '', priority: 0, applyTo: 'queues' as const, definition };
  wiring.done({ op: 'setPolicy', policy });
}

function move(wiring: InstantWiring, incarnation: number): number {
  return wiring.done({ op: 'moveQueue', incarnation, node: 'n1' }).position;
}

function moveOn(wiring: InstantWiring, incarnation: number, stage: MoveOn['stage']): void {
  wiring.done({ op: 'moveOn', incarnation, stage });
}

/** Incarnations of the queues that a message reaches, and whether it must wait. */
function route(wiring: InstantWiring): { to: number[]; waits: boolean } {
  const { queues, waits } = wiring.tables.route('/', 'x', 'k', () => ({}));
  return { to: queues.map(({ position }) => position), waits };
}

describe('a queue that moves to another group', () => {
  it('has its name at the new one at once; publishes go to the old one until that is empty, wait, and go to the new one', () => {
    const { wiring, source } = wiringToMove();
    const target = move(wiring, source);
    assert.deepEqual(
      [
        wiring.tables.queue('/', 'q')?.position,
        wiring.tables.queue('/', 'q')?.group,
        wiring.tables.queueAt(source)?.group,
      ],
      [target, 7, 1],
    );
    assert.equal(wiring.tables.queue('/', 'q')?.replicas, 1);
    assert.deepEqual(route(wiring), { to: [source], waits: false });
    moveOn(wiring, source, MoveStage.closing);
    assert.equal(route(wiring).waits, true);
    moveOn(wiring, source, MoveStage.late);
    assert.deepEqual(route(wiring), { to: [target], waits: false });
    moveOn(wiring, source, MoveStage.swept);
    assert.equal(wiring.tables.moves.from(source)?.stage, MoveStage.swept);
    moveOn(wiring, source, 'over');
    assert.equal(wiring.tables.queueAt(source), undefined);
    assert.deepEqual([wiring.tables.count('queue'), wiring.tables.count('move'), wiring.tables.moves.count], [1, 0, 0]);
    assert.deepEqual(route(wiring), { to: [target], waits: false });
  });

  it('goes through no stage twice, nor back, whatever is said again', () => {
    const { wiring, source } = wiringToMove();
    const target = move(wiring, source);
    move(wiring, source);
    move(wiring, target);
    assert.equal(wiring.tables.count('queue'), 2);
    moveOn(wiring, source, MoveStage.late);
    const { lsn } = wiring;
    moveOn(wiring, source, MoveStage.closing);
    moveOn(wiring, source, MoveStage.late);
    assert.equal(wiring.lsn, lsn);
    moveOn(wiring, source, 'over');
    moveOn(wiring, source, 'over');
    moveOn(wiring, target, 'over');
    assert.equal(wiring.tables.count('queue'), 1);
  });

  it('may move again when it has moved, and back', () => {
    const { wiring, source } = wiringToMove();
    const second = move(wiring, source);
    moveOn(wiring, source, 'over');
    wiring.group = 1;
    setReplicas(wiring, 3);
    const third = move(wiring, second);
    assert.deepEqual([wiring.tables.queueAt(third)?.group, wiring.tables.queueAt(third)?.replicas], [1, 3]);
    assert.equal(wiring.tables.queueAt(third)?.movesFrom, second);
    moveOn(wiring, second, 'over');
    assert.equal(wiring.tables.count('queue'), 1);
  });

  it('stays where it is if its argument says so, if it is exclusive, alone, or not all nodes would understand', () => {
    for (const [fields, change] of [
      [{ arguments: { 'x-replicas': 3 } }, {}],
      [{ exclusive: true, durable: false }, {}],
      [{}, { isAlone: true }],
      [{}, { version: 1 }],
    ] as const) {
      const { wiring, source } = wiringToMove(fields);
      Object.assign(wiring, change);
      move(wiring, source);
      assert.equal(wiring.tables.count('queue'), 1, JSON.stringify([fields, change]));
    }
  });

  it('waits for a group that is being made, and for another queue that is about to move', () => {
    const { wiring, source } = wiringToMove();
    const other = wiring.done(declareQueue('other')).position;
    wiring.group = undefined;
    assert.equal(wiring.run({ op: 'moveQueue', incarnation: source, node: 'n1' }).result, 'retry');
    wiring.group = 8;
    move(wiring, source);
    wiring.group = 9;
    setReplicas(wiring, 2);
    move(wiring, other);
    moveOn(wiring, source, MoveStage.closing);
    assert.equal(wiring.run({ op: 'moveOn', incarnation: other, stage: MoveStage.closing }).result, 'retry');
    moveOn(wiring, source, MoveStage.late);
    moveOn(wiring, other, MoveStage.closing);
  });

  it('is deleted with all that belongs to it, at any stage', () => {
    for (const stage of [undefined, ...Object.values(MoveStage)]) {
      const { wiring, source } = wiringToMove();
      move(wiring, source);
      if (stage !== undefined) moveOn(wiring, source, stage);
      wiring.done(deleteQueue('q'));
      const { tables } = wiring;
      assert.deepEqual(
        [tables.count('queue'), tables.count('move'), tables.count('binding'), tables.moves.count],
        [0, 0, 0, 0],
      );
    }
  });

  it('is deleted by whoever looked it up before it moved', () => {
    const { wiring, source } = wiringToMove();
    move(wiring, source);
    wiring.done(deleteQueue('q', source));
    assert.equal(wiring.tables.count('queue'), 0);
    const other = wiring.done(declareQueue('q')).position;
    wiring.done(deleteQueue('q', source));
    assert.equal(wiring.tables.queue('/', 'q')?.position, other);
  });

  it('is no auto-delete queue that lost its consumers: they went along', () => {
    const { wiring, source } = wiringToMove({ autoDelete: true });
    wiring.done({ op: 'queueUsed', incarnation: source });
    const target = move(wiring, source);
    wiring.done({ op: 'queueUnused', incarnation: source });
    assert.equal(wiring.tables.count('queue'), 2);
    wiring.done({ op: 'queueUsed', incarnation: target });
    wiring.done({ op: 'queueUnused', incarnation: target });
    assert.deepEqual([wiring.tables.count('queue'), wiring.tables.count('use')], [0, 0]);
  });

  it('is known in whatever order its objects appear and go', () => {
    const source = queueObject('q', { position: 5 });
    const target = queueObject('q', { position: 9, group: 2, movesFrom: 5 });
    const stage = { kind: 'move', position: 11, queue: 5, stage: MoveStage.closing, durable: true } as const;
    for (const order of [
      [source, target, stage],
      [stage, target, source],
      [target, stage, source],
    ]) {
      const tables = new WiringTables();
      for (const object of order) tables.appeared(object.position, object);
      assert.equal(tables.moves.from(5)?.stage, MoveStage.closing);
      assert.equal(tables.moves.of(target)?.source.position, 5);
      for (const object of order) tables.gone(object.position);
      assert.deepEqual([tables.moves.count, tables.moves.stagesOf(5)], [0, []]);
    }
  });

  it('is the one that was, at a node that hears of it before or after it drops one that never was', () => {
    const source = queueObject('q', { position: 5 });
    const [never, target] = [9, 2 ** 32 + 3].map((position) =>
      queueObject('q', { position, group: 2, movesFrom: 5 }),
    ) as [QueueObject, QueueObject];
    const stage = { kind: 'move', position: 2 ** 32 + 4, queue: 5, stage: MoveStage.late, durable: true } as const;
    const objects = new Map<number, WiringObject>([source, never, target, stage].map((one) => [one.position, one]));
    const order = fc.shuffledSubarray([...objects.keys(), -never.position], { minLength: 5 });
    const isPossible = (steps: number[]): boolean => steps.indexOf(never.position) < steps.indexOf(-never.position);
    fc.assert(
      fc.property(order.filter(isPossible), (steps) => {
        const tables = new WiringTables();
        for (const step of steps)
          if (step > 0) tables.appeared(step, objects.get(step)!);
          else tables.gone(-step);
        assert.deepEqual(tables.moves.from(5), { source, target, stage: MoveStage.late });
        assert.equal(tables.moves.of(target)?.target, target);
        assert.equal(tables.moves.count, 1);
        tables.gone(5);
        assert.deepEqual([tables.moves.count, tables.moves.of(target)], [0, undefined]);
      }),
    );
  });

  it('is written down as it is', () => {
    const target = queueObject('q', { movesFrom: 2 ** 33 + 5, replicas: 1 });
    const stage = { kind: 'move', position: 0, queue: 2 ** 33 + 5, stage: MoveStage.late, durable: true } as const;
    for (const object of [target, stage]) assert.deepEqual(decodeObject(encodeObject(object)), object);
  });
});
