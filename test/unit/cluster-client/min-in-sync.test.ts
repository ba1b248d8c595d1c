import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfirmGate } from '../../../src/cluster/client/confirm-gate.js';
import { ConfirmRing } from '../../../src/cluster/client/confirm-ring.js';
import { HeldConfirms } from '../../../src/cluster/client/held-confirms.js';
import { localGroup } from '../../../src/cluster/map.js';
import { nobody } from '../../../src/model/broker.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { declareQueue, deleteQueue, InstantWiring } from '../model-wiring/support.js';

class Owner {
  readonly told: string[] = [];
  completed(tag: number): void {
    this.told.push(`ack ${tag}`);
  }
  refused(tag: number): void {
    this.told.push(`nack ${tag}`);
  }
}

class World {
  readonly wiring = new InstantWiring();
  readonly clock = new ManualClock();
  readonly held = new HeldConfirms(this.clock);
  readonly ring = new ConfirmRing(this.held, 4);
  readonly owner = new Owner();

  queue(name: string, args: Record<string, string | number> = {}): void {
    this.wiring.done(declareQueue(name, { arguments: args }));
  }

  policy(definition: Record<string, string | number>): void {
    const policy = { vhost: '/', name: 'p', pattern: '', priority: 0, applyTo: 'all', definition } as const;
    this.wiring.done({ op: 'setPolicy', policy });
  }

  gate(...names: string[]): ConfirmGate {
    const gate = new ConfirmGate(this.wiring.tables);
    for (const name of names) gate.add(this.wiring.tables.queue('/', name)!);
    return gate;
  }

  /** The primary says so. */
  confirmed(sequence: number, inSync: number): string[] {
    this.held.level(inSync);
    this.ring.confirmTo(sequence, inSync);
    return this.owner.told.splice(0);
  }

  after(ms: number): string[] {
    this.clock.advance(ms);
    return this.owner.told.splice(0);
  }
}

describe('min-in-sync', () => {
  it('holds the confirms of its queue alone, and gives them when enough replicas are in sync', () => {
    const world = new World();
    world.queue('two', { 'x-min-in-sync': 2 });
    world.queue('one');
    const [two, one] = [world.gate('two'), world.gate('one')];
    for (let tag = 1; tag <= 6; tag++) world.ring.push(world.owner, tag, tag % 2 === 0 ? two : one);
    assert.deepEqual(world.confirmed(4, 1), ['ack 1', 'ack 3']);
    assert.equal(world.held.length, 2);
    assert.deepEqual(world.confirmed(4, 2), ['ack 2', 'ack 4']);
    assert.deepEqual(world.confirmed(6, 2), ['ack 5', 'ack 6']);
    assert.equal(world.clock.pending, 0);
  });

  it('is that of the most demanding queue that a message goes to', () => {
    const world = new World();
    world.queue('two', { 'x-min-in-sync': 2 });
    world.queue('three', { 'x-min-in-sync': 3 });
    assert.equal(world.gate('two', 'three').need, 3);
    world.ring.push(world.owner, 1, world.gate('two', 'three'));
    assert.deepEqual(world.confirmed(1, 2), []);
    assert.deepEqual(world.confirmed(1, 3), ['ack 1']);
  });

  it('of a policy that changes counts at once, for what waits already', () => {
    const world = new World();
    world.queue('q');
    world.policy({ 'min-in-sync': 3 });
    world.ring.push(world.owner, 1, world.gate('q'));
    assert.deepEqual(world.confirmed(1, 2), []);
    assert.deepEqual(world.after(1000), []);
    world.policy({ 'min-in-sync': 2 });
    // Not before the primary says again, under its lease, how many are in sync.
    assert.deepEqual(world.after(1000), []);
    assert.deepEqual(world.confirmed(1, 2), ['ack 1']);
  });

  it('does not hold what a queue that is gone was sent', () => {
    const world = new World();
    world.queue('q', { 'x-min-in-sync': 3 });
    world.ring.push(world.owner, 1, world.gate('q'));
    assert.deepEqual(world.confirmed(1, 1), []);
    world.wiring.done(deleteQueue('q'));
    world.after(100);
    assert.deepEqual(world.confirmed(1, 1), ['ack 1']);
  });

  it('nacks what has waited for its time, and not what came later', () => {
    const world = new World();
    world.queue('q', { 'x-min-in-sync': 2, 'x-min-in-sync-timeout': 500 });
    const gate = world.gate('q');
    world.ring.push(world.owner, 1, gate);
    world.confirmed(1, 1);
    world.after(300);
    world.ring.push(world.owner, 2, gate);
    world.confirmed(2, 1);
    assert.deepEqual(world.after(300), ['nack 1']);
    assert.deepEqual(world.confirmed(2, 2), ['ack 2']);
  });

  it('waits while no primary says how many are in sync', () => {
    const world = new World();
    world.queue('q', { 'x-min-in-sync': 2 });
    world.ring.push(world.owner, 1, world.gate('q'));
    world.confirmed(1, 1);
    world.held.level(0);
    assert.deepEqual(world.after(1000), []);
    assert.deepEqual(world.confirmed(1, 2), ['ack 1']);
  });

  it('keeps nothing of publishers who want to hear nothing, or are gone', () => {
    const world = new World();
    world.queue('q', { 'x-min-in-sync': 2 });
    const gate = world.gate('q');
    world.ring.push(nobody, 1, gate);
    world.ring.push(world.owner, 2, gate);
    world.confirmed(2, 1);
    assert.equal(world.held.length, 1);
    world.held.forget(world.owner);
    assert.deepEqual(world.confirmed(2, 2), []);
    assert.equal(world.held.length, 0);
  });

  it('is not for queues whose messages are on one node alone', () => {
    const world = new World();
    world.policy({ 'min-in-sync': 3 });
    world.wiring.done(declareQueue('own', { exclusive: true }));
    assert.ok(world.wiring.tables.queue('/', 'own')!.group >= localGroup);
    assert.equal(world.gate('own').need, 0);
  });

  it('answers many in order, while more come', () => {
    const world = new World();
    world.queue('q', { 'x-min-in-sync': 2, 'x-min-in-sync-timeout': 10_000 });
    const gate = world.gate('q');
    const all: string[] = [];
    for (let tag = 1; tag <= 5000; tag++) {
      world.ring.push(world.owner, tag, gate);
      all.push(...world.confirmed(tag, 1), ...world.after(10));
    }
    all.push(...world.confirmed(5000, 2));
    assert.deepEqual(
      all.map((text) => Number(text.split(' ')[1])),
      Array.from({ length: 5000 }, (_, i) => i + 1),
    );
    const nacks = all.filter((text) => text.startsWith('nack')).length;
    assert.ok(nacks > 3900 && nacks < 4100, `${nacks} nacks`);
  });
});
