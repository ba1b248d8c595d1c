import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NodeOptions, type TestNode, World } from '../link/world.js';

const lease = 2000;
const margin = 100;
const someType = 0xf0;

/** Named nodes with liveness, introduced to each other and up. */
async function cluster(
  names: string[],
  options: NodeOptions = {},
  seed = 1,
): Promise<{ world: World; nodes: TestNode[] }> {
  const world = new World(seed);
  const nodes = names.map((name) => world.node(name, { liveness: true, ...options }));
  world.introduce();
  await world.run(50);
  return { world, nodes };
}

const pair = async (options: NodeOptions = {}) => {
  const { world, nodes } = await cluster(['n1', 'n2'], options);
  return { world, n1: nodes[0]!, n2: nodes[1]!, live1: nodes[0]!.liveness!, live2: nodes[1]!.liveness! };
};

test('a promise counts from the sending of the ping, less the margin', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1', { liveness: true }), world.node('n2', { liveness: true })];
  world.network.delay('n1', 'n2', 40);
  world.network.delay('n2', 'n1', 60);
  world.introduce();
  await world.run(1000);
  const until = n1.liveness!.promisedUntil('n2', n2.replica.boot);
  const age = n1.clock.now() + lease - margin - until;
  assert.ok(age >= 100 && age <= 100 + 200 + 50, `the ping it rests on was sent ${age} ms ago, a round trip takes 100`);
});

test('links come up only with promises both ways', async () => {
  const { n1, n2, live1, live2 } = await pair();
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
  assert.ok(live1.promisedUntil('n2', 2) > n1.clock.now());
  assert.ok(live2.promisedUntil('n1', 1) > n2.clock.now());
});

test('a tenure holds while all it covers have promised; one that lapsed is not revived by a new promise', async () => {
  const { world, nodes } = await cluster(['n1', 'n2', 'n3']);
  const [n1, n2, n3] = nodes as [TestNode, TestNode, TestNode];
  const all = n1.liveness!.tenure([n2.replica, n3.replica]);
  const one = n1.liveness!.tenure([n2.replica]);
  const alone = n1.liveness!.tenure([]);
  await world.run(5000);
  assert.ok(all.holds() && one.holds() && alone.holds());
  n3.freeze();
  await world.run(lease);
  assert.ok(!all.holds() && one.holds() && alone.holds());
  n3.thaw();
  await world.run(1000);
  assert.ok(n1.links.get('n3'), 'the link is back');
  assert.ok(!all.holds());
  const askedTooEarly = n1.clock.now() - 1500;
  all.cover([n2.replica, n3.replica], askedTooEarly);
  assert.ok(!all.holds(), 'the record was read before the promise was renewed');
  all.cover([n2.replica, n3.replica], n1.clock.now());
  assert.ok(all.holds());
  all.end();
  assert.ok(!all.holds());
});

test('a killed node is known dead within milliseconds, on either side of the dialing', async () => {
  const { world, nodes } = await cluster(['n1', 'n2', 'n3']);
  nodes[1]!.kill();
  await world.run(15);
  for (const node of [nodes[0]!, nodes[2]!]) {
    assert.ok(node.events.includes('gone n2#2 dead'), node.events.join(', '));
    assert.ok(node.liveness!.mayDepose('n2', 2));
  }
});

test('a frozen node is replaced when the promise to it has run out, not before', async () => {
  const { world, n1, n2, live2 } = await pair();
  const tenure = n1.liveness!.tenure([n2.replica]);
  n1.freeze();
  const frozenAt = world.loop.now;
  while (!live2.mayDepose('n1', 1)) await world.run(1);
  const after = world.loop.now - frozenAt;
  assert.ok(after > lease - 200 && after <= lease + margin + 50, `${after} ms`);
  assert.ok(!tenure.holds());
  await world.run(100);
  assert.ok(n2.events.includes('gone n1#1 lapsed') && n2.events.includes('lapsed n1#1'), n2.events.join(', '));
});

test('what waited in the sockets of a frozen node is not handed on when it thaws', async () => {
  const { world, n1, n2 } = await pair();
  const got: string[] = [];
  n2.links.handle(someType, (_link, { bytes, start, end }) =>
    got.push(Buffer.from(bytes.subarray(start, end)).toString()),
  );
  n2.freeze();
  await world.run(10);
  world.loop.after(0, n1.context, () => n1.links.get('n2')!.send(someType, 0, Buffer.from('old')));
  await world.run(lease + margin);
  n2.thaw();
  await world.run(1000);
  assert.deepEqual(got, []);
  assert.ok(n2.events.includes('down n1#1 timeout'));
  n1.links.get('n2')!.send(someType, 0, Buffer.from('new'));
  await world.run(10);
  assert.deepEqual(got, ['new']);
});

test('a short freeze changes nothing', async () => {
  const { world, n1, n2 } = await pair();
  const tenure = n1.liveness!.tenure([n2.replica]);
  n1.freeze();
  await world.run(lease / 2);
  n1.thaw();
  await world.run(lease / 2);
  n2.freeze();
  await world.run(lease / 2);
  n2.thaw();
  await world.run(2 * lease);
  assert.ok(tenure.holds());
  assert.deepEqual([...n1.events, ...n2.events], ['up n2#2', 'up n1#1']);
});

test('a new boot waits before it deposes anybody, unless it is known dead', async () => {
  const { world, nodes } = await cluster(['n1', 'n2', 'n3']);
  const [n1, n2, n3] = nodes as [TestNode, TestNode, TestNode];
  n1.freeze();
  n2.kill();
  n3.kill();
  const reborn = world.node('n2', { boot: 9, liveness: true });
  reborn.links.setMembers([n1.member, reborn.member, n3.member]);
  reborn.liveness!.learn(n1.replica);
  reborn.liveness!.learn(n3.replica);
  await world.run(20);
  assert.ok(reborn.liveness!.mayDepose('n3', 3), 'its address refuses');
  await world.run(lease + margin - 30);
  assert.ok(!reborn.liveness!.mayDepose('n1', 1));
  await world.run(20);
  assert.ok(reborn.liveness!.mayDepose('n1', 1));
});

test('without that rule a new boot would depose one that relies on what its former boot promised', async () => {
  const { world, nodes } = await cluster(['n1', 'n2'], { rules: { newBootWaits: false } });
  const [n1, n2] = nodes as [TestNode, TestNode];
  const tenure = n1.liveness!.tenure([n2.replica]);
  n1.freeze();
  n2.kill();
  const reborn = world.node('n2', { boot: 9, liveness: true, rules: { newBootWaits: false } });
  assert.ok(reborn.liveness!.mayDepose('n1', 1) && tenure.holds());
});

test('a later boot of the same store proves death, one of another store does not', async () => {
  const world = new World();
  const n1 = world.node('n1', { liveness: true });
  const live = n1.liveness!;
  live.learn({ node: 'n2', store: 's', boot: 5 });
  live.learn({ node: 'n2', store: 'other', boot: 6 });
  assert.ok(!live.mayDepose('n2', 5));
  live.learn({ node: 'n2', store: 's', boot: 7 });
  assert.ok(live.mayDepose('n2', 5));
  assert.ok(!live.mayDepose('n2', 6) && !live.mayDepose('n2', 7));
  assert.deepEqual(n1.events, ['gone n2#5 dead']);
});

test('our own former boot is dead, our present one is not to be deposed', () => {
  const world = new World();
  const live = world.node('n1', { boot: 5, liveness: true }).liveness!;
  live.learn({ node: 'n1', store: 'store-n1', boot: 3 });
  assert.ok(live.mayDepose('n1', 3));
  assert.ok(!live.mayDepose('n1', 5));
  assert.equal(live.depose('n1', 5), null);
});

test('a refusal that was found before a boot was learned says nothing about it', async () => {
  const world = new World();
  const n1 = world.node('n1', { liveness: true });
  const n2 = world.node('n2', { boot: 5, liveness: true });
  world.introduce();
  await world.run(20);
  n2.kill();
  await world.run(100);
  world.node('n2', { boot: 6, liveness: true });
  n1.liveness!.learn({ node: 'n2', store: 'store-n2', boot: 6 });
  await world.run(500);
  assert.ok(!n1.liveness!.mayDepose('n2', 6));
  assert.equal(n1.links.get('n2')?.peer.boot, 6);
});

test('while a deposal is held its boot is promised nothing; afterwards it is again', async () => {
  const { world, n1, n2, live1, live2 } = await pair();
  n1.freeze();
  await world.run(lease + margin + 100);
  const deposal = live2.depose('n1', 1)!;
  n1.thaw();
  await world.run(1500);
  assert.ok(live1.promisedUntil('n2', 2) === Number.NEGATIVE_INFINITY && !n1.links.get('n2') && !n2.links.get('n1'));
  world.loop.after(0, n2.context, () => deposal.end());
  await world.run(5);
  assert.ok(live1.promisedUntil('n2', 2) > n1.clock.now() && n1.links.get('n2') && n2.links.get('n1'));
  assert.equal(live2.depose('n1', 1), null);
});

test('a node that makes no progress asks for no promise and is replaced', async () => {
  let progress = true;
  const { world, n1, n2, live2 } = await pair({ mayRenew: () => progress });
  const tenure = n1.liveness!.tenure([n2.replica]);
  progress = false;
  await world.run(lease + margin + 100);
  assert.ok(!tenure.holds());
  assert.ok(live2.mayDepose('n1', 1));
});

test('a cable cut in one direction ends the promises of both', async () => {
  const { world, n1, n2, live1, live2 } = await pair();
  const tenures = [live1.tenure([n2.replica]), live2.tenure([n1.replica])];
  world.network.block('n1', 'n2');
  await world.run(lease + margin + 100);
  assert.ok(tenures.every((tenure) => !tenure.holds()));
  assert.ok(!live1.mayDepose('n2', 2), 'n1 heard pings of n2 and answered them for a while');
  await world.run(lease);
  assert.ok(live2.mayDepose('n1', 1) && live1.mayDepose('n2', 2));
  world.network.unblock('n1', 'n2');
  await world.run(2500);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
  assert.ok(!live2.mayDepose('n1', 1) && !live1.mayDepose('n2', 2));
});

test('a node that was taken for dead by a false refusal is promised to again', async () => {
  const { world, n1, n2, live1 } = await pair();
  const listeners = world.network.host('n2').listeners;
  const real = [...listeners];
  listeners.clear();
  world.network.breakConnections('n1', 'n2', 0);
  await world.run(20);
  assert.ok(live1.mayDepose('n2', 2), 'nobody can tell that from death');
  for (const [address, listener] of real) listeners.set(address, listener);
  await world.run(300);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
  assert.ok(!live1.mayDepose('n2', 2));
});

/** n2 is taken for dead by n1, which holds a deposal of it while the two find each other again. */
async function deposedAlive() {
  const all = await pair();
  const { world, live1, live2 } = all;
  const tenure = live2.tenure([all.n1.replica]);
  const { listeners } = world.network.host('n2');
  const real = [...listeners];
  listeners.clear();
  world.network.breakConnections('n1', 'n2', 0);
  await world.run(20);
  const deposal = live1.depose('n2', 2)!;
  for (const [address, listener] of real) listeners.set(address, listener);
  await world.run(300);
  return { ...all, tenure, deposal };
}

test('who was deposed by a false refusal gets a new promise, and no tenure goes on with it', async () => {
  const { world, n1, n2, live2, tenure, deposal } = await deposedAlive();
  assert.ok(tenure.holds(), 'what was promised before the refusal, until it runs out');
  world.loop.after(0, n1.context, () => deposal.end());
  await world.run(5);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
  assert.ok(live2.promisedUntil('n1', 1) > n2.clock.now());
  assert.ok(!tenure.holds(), 'another one may be primary since');
  tenure.cover([n1.replica], n2.clock.now());
  await world.run(2 * lease);
  assert.ok(tenure.holds(), 'the record was read after that');
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
});

test('so it is when the first promise after the deposal gets lost', async () => {
  const { world, n1, n2, tenure, deposal } = await deposedAlive();
  world.loop.after(0, n1.context, () => {
    deposal.end();
    world.loop.after(0, n1.context, () => world.network.breakConnections('n1', 'n2', 0));
  });
  await world.run(300);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
  assert.ok(!tenure.holds());
});

test('who was only taken for dead has no tenure either: others may have acted on it', async () => {
  const { world, n1, n2, live1, live2 } = await pair();
  const tenure = live2.tenure([n1.replica]);
  const { listeners } = world.network.host('n2');
  const real = [...listeners];
  listeners.clear();
  world.network.breakConnections('n1', 'n2', 0);
  await world.run(20);
  assert.ok(live1.mayDepose('n2', 2) && tenure.holds());
  for (const [address, listener] of real) listeners.set(address, listener);
  await world.run(300);
  assert.ok(n1.links.get('n2') && n2.links.get('n1') && !tenure.holds());
});

test('times that do not fit together are refused', () => {
  const world = new World();
  assert.throws(() => world.node('n1', { liveness: true, times: { leaseMs: 400 } }), RangeError);
});

test('boots are remembered within a bound', () => {
  const world = new World();
  const live = world.node('n1', { liveness: true }).liveness!;
  for (let boot = 1; boot <= 10_000; boot++) live.learn({ node: 'n2', store: `s${boot}`, boot });
  assert.ok(!live.mayDepose('n2', 1), 'forgotten, so it is given time again');
});
