import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Replica, systemGroup } from '../../../src/cluster/map.js';
import { RouteLease } from '../../../src/cluster/wiring/route-lease.js';
import { type TestNode, World } from '../link/world.js';

const leaseMs = 1000;

/** n1 leads the system group, n2 follows it; what each knows of the record is `map`. */
async function pair() {
  const world = new World();
  const [n1, n2] = [world.node('n1', { liveness: true }), world.node('n2', { liveness: true })];
  world.introduce();
  const all = [n1.replica, n2.replica];
  const primary = { paused: false, acts: true, set: { confirmed: all, proposal: undefined as Replica[] | undefined } };
  const side = (node: TestNode) => {
    const map = { groups: new Map([[systemGroup, recordOf(n1.replica, all)]]), confirmedAt: Number.NEGATIVE_INFINITY };
    const { replica: self, links, clock } = node;
    const own = {
      get paused() {
        return primary.paused;
      },
      set: primary.set,
      mayAct: () => primary.acts,
    };
    const lease = new RouteLease({
      self,
      map,
      links,
      clock,
      leaseMs,
      primary: () => (node === n1 ? own : undefined),
    });
    return { map, clock, lease };
  };
  const [leader, follower] = [side(n1), side(n2)];
  follower.map.confirmedAt = n2.clock.now();
  await world.run(500);
  return { world, n1, n2, primary, leader, follower };
}

const recordOf = (primary: Replica, inSync: Replica[]) => ({
  version: inSync.length,
  value: { group: systemGroup, epoch: 1, primary, inSync, replicas: ['n1', 'n2'] },
});

test('a recent reading is enough, and without one the primary says so, again and again', async () => {
  const { world, primary, leader, follower } = await pair();
  assert.ok(follower.lease.holds());
  await world.run(5000);
  assert.ok(follower.lease.holds() && leader.lease.holds());
  // Whoever has lost its own lease has nothing to give.
  primary.acts = false;
  await world.run(leaseMs + 300);
  assert.ok(!follower.lease.holds() && !leader.lease.holds());
  primary.acts = true;
  await world.run(500);
  assert.ok(follower.lease.holds() && leader.lease.holds());
});

test('whoever is to be taken out may route no longer than a lease from the proposal on', async () => {
  const { world, n1, primary, follower } = await pair();
  await world.run(2000);
  primary.set.proposal = [n1.replica];
  await world.run(leaseMs * 0.5);
  assert.ok(follower.lease.holds(), 'it has been told so a moment before');
  await world.run(leaseMs * 0.5);
  assert.ok(!follower.lease.holds());
  primary.set.proposal = undefined;
  primary.set.confirmed = [n1.replica];
  await world.run(2 * leaseMs);
  assert.ok(!follower.lease.holds());
});

test('a primary that gives its group away, or another boot of the node, is no help', async () => {
  const { world, n1, n2, primary, follower } = await pair();
  primary.paused = true;
  await world.run(2 * leaseMs);
  assert.ok(!follower.lease.holds());
  primary.paused = false;
  primary.set.confirmed = [n1.replica, { ...n2.replica, boot: n2.replica.boot + 1 }];
  await world.run(2 * leaseMs);
  assert.ok(!follower.lease.holds());
});

test('a record that shows it out of the set ends it at once', async () => {
  const { n1, follower } = await pair();
  assert.ok(follower.lease.holds());
  follower.map.groups.set(systemGroup, recordOf(n1.replica, [n1.replica]));
  assert.ok(!follower.lease.holds());
});
