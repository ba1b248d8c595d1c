import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InputTurns } from '../../../src/base/input-turns.js';

class Turns {
  readonly due: (() => void)[] = [];
  readonly turns: InputTurns = new InputTurns(5000, (run) => this.due.push(run));
  readonly said: string[] = [];

  line(name: string, bytes: number): void {
    this.turns.lineUp({
      goOn: () => {
        this.said.push(name);
        return bytes;
      },
    });
  }

  next(): string[] {
    for (const run of this.due.splice(0)) run();
    return this.said.splice(0);
  }
}

describe('InputTurns', () => {
  it('has room for as much as fits into a turn, and again in the next', () => {
    const world = new Turns();
    const { turns } = world;
    assert.ok(turns.hasRoomFor(100_000));
    turns.used(4000);
    assert.ok(turns.hasRoomFor(100_000));
    turns.used(4000);
    assert.ok(!turns.hasRoomFor(4000));
    world.next();
    assert.ok(turns.hasRoomFor(4000));
    assert.equal(world.due.length, 0, 'nothing is left to be done');
  });

  it('lets what waits go on in order, as much as fits into each turn, and others wait behind', () => {
    const world = new Turns();
    world.turns.used(5000);
    for (const name of 'abcde') world.line(name, 2000);
    assert.deepEqual(world.next(), ['a', 'b', 'c']);
    assert.ok(!world.turns.hasRoomFor(4000));
    world.line('f', 1);
    assert.deepEqual(world.next(), ['d', 'e', 'f']);
    assert.ok(!world.turns.hasRoomFor(4000) || world.due.length === 0);
    assert.deepEqual(world.next(), []);
    assert.ok(world.turns.hasRoomFor(4000));
  });

  it('does not let who lines up again in the same turn go on in it', () => {
    const world = new Turns();
    let times = 0;
    const greedy = {
      goOn: () => {
        times++;
        world.turns.lineUp(greedy);
        return 0;
      },
    };
    world.turns.lineUp(greedy);
    world.next();
    assert.equal(times, 1);
    world.next();
    assert.equal(times, 2);
  });

  it('keeps room for who sends little, not without end', () => {
    const world = new Turns();
    const { turns } = world;
    turns.used(5000);
    world.line('a', 1);
    let short = 0;
    for (; turns.hasRoomFor(1000); short++) turns.used(1000);
    assert.equal(short, 5);
  });
});
