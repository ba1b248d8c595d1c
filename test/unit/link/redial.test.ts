import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByteStream, DialError } from '../../../src/cluster/byte-stream.js';
import { Dialer } from '../../../src/cluster/link/dialer.js';
import { EventLoop } from '../../../sim/event-loop.js';
import { SimClock } from '../../../sim/clock.js';
import { SimRandom } from '../../../sim/random.js';
import { World } from './world.js';

/** Three nodes with links; n2 is dialed by n1, and probed by n3. */
async function three(liveness = false) {
  const world = new World();
  const [n1, n2, n3] = ['n1', 'n2', 'n3'].map((name) => world.node(name, { liveness }));
  world.introduce();
  await world.run(20);
  return { world, n1: n1!, n2: n2!, n3: n3! };
}

test('a node that hangs is called about once a second by each of the others, and found at once when it goes on', async () => {
  const { world, n1, n2, n3 } = await three(true);
  n2.freeze();
  await world.run(10_000);
  const before = [n1.links.lastDial, n3.links.lastDial];
  await world.run(60_000);
  for (const [i, node] of [n1, n3].entries()) {
    const dials = node.links.lastDial - before[i]!;
    assert.ok(dials > 10 && dials < 90, `${dials} calls in a minute`);
  }
  n2.thaw();
  await world.run(30);
  for (const node of [n1, n3]) assert.ok(node.links.get('n2'), `${node.name} and n2`);
});

test('a node that nobody could reach for long is found at once when it is started again, whoever dials', async () => {
  const { world, n1, n2, n3 } = await three();
  n2.kill();
  await world.run(30_000);
  const reborn = world.node('n2', { boot: 9 });
  // The others have not heard of it yet.
  reborn.links.setMembers([n1.member, n3.member]);
  await world.run(20);
  for (const node of [n1, n3]) assert.equal(node.links.get('n2')?.peer.boot, 9, `${node.name} and n2`);
});

test('a cable that is mended is noticed soon', async () => {
  const { world, n1, n2 } = await three(true);
  for (const [from, to] of [
    ['n1', 'n2'],
    ['n2', 'n1'],
  ] as const)
    world.network.block(from, to);
  await world.run(30_000);
  assert.equal(n1.links.get('n2'), undefined);
  world.network.unblock('n1', 'n2');
  world.network.unblock('n2', 'n1');
  await world.run(3000);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
});

test('waits double up to the longest, each shorter or longer by chance; news ends them', async () => {
  const loop = new EventLoop();
  const clock = new SimClock(loop, loop.context('x'), 1, 0);
  const random = new SimRandom(5);
  const calls: number[] = [];
  const dialer = new Dialer(
    {
      transport: {
        listen: () => Promise.reject(new Error('not used')),
        dial: () => {
          calls.push(loop.now);
          return Promise.reject<ByteStream>(new DialError('refused', 'refused'));
        },
      },
      clock,
      random,
      dialTimeoutMs: 1000,
      redialMsMin: 5,
      redialMsMax: 1000,
    },
    { nextDial: () => 1, connected() {}, refused() {}, unreachable() {} },
  );
  const run = async (ms: number): Promise<void> => {
    loop.at(loop.now + ms, null, () => loop.stop());
    await loop.run();
  };
  dialer.start('x:1');
  await run(60_000);
  const waits = calls.map((at, i) => at - (calls[i - 1] ?? at)).slice(1);
  for (const [i, wait] of waits.entries()) {
    const middle = Math.min(1000, 5 * 2 ** i);
    assert.ok(wait >= middle * 0.5 && wait <= middle * 1.5, `wait ${i} of ${wait} ms`);
  }
  assert.ok(new Set(waits.slice(-20).map((wait) => Math.round(wait / 50))).size > 5, 'they differ');
  const { length } = calls;
  dialer.hurry();
  await run(40);
  assert.ok(calls.length >= length + 3, 'short waits again');
  dialer.stop();
  dialer.hurry();
  await run(5000);
  assert.ok(calls.length < length + 8, 'who has stopped does not hurry');
});
