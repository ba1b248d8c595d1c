import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLogger } from '../../../src/base/logger.js';
import { protocolVersions } from '../../../src/base/versions.js';
import { FrameError } from '../../../src/cluster/link/frame.js';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import { type TestNode, World } from './world.js';

const someType = 0xf0;

/** Records what arrives at a node, as text. */
function inbox(node: TestNode): string[] {
  const got: string[] = [];
  node.links.handle(someType, (link, { bytes, start, end, group }) => {
    got.push(`${link.peer.node}/${group}: ${Buffer.from(bytes.subarray(start, end)).toString()}`);
  });
  return got;
}

test('every pair of nodes gets exactly one link', async () => {
  const world = new World();
  const nodes = ['n1', 'n2', 'n3', 'n4'].map((name) => world.node(name));
  world.introduce();
  await world.run(50);
  for (const node of nodes) {
    const others = nodes.filter((other) => other !== node).map((other) => other.name);
    assert.deepEqual([...node.links.all()].map((link) => link.peer.node).sort(), others);
    assert.equal(node.events.length, 3, 'up once each');
    for (const link of node.links.all()) assert.equal(link.dialed, node.name < link.peer.node);
  }
});

test('frames reach the handler of their type, from the right peer', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  const got = inbox(n2);
  world.introduce();
  await world.run(20);
  n1.links.get('n2')!.send(someType, 5, Buffer.from('a'), Buffer.from('b'));
  n1.links.get('n2')!.send(0xf1, 5, Buffer.from('nobody knows this type'));
  n1.links.get('n2')!.send(someType, 6, Buffer.from('c'));
  await world.run(20);
  assert.deepEqual(got, ['n1/5: ab', 'n1/6: c']);
});

test('frames of a newer version are skipped', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  const got = inbox(n2);
  world.introduce();
  await world.run(20);
  const link = n1.links.get('n2')!;
  link.beginFrame(someType, 5, 1, protocolVersions.max + 1);
  link.send(someType, 6, Buffer.from('known'));
  await world.run(20);
  assert.deepEqual(got, ['n1/6: known']);
});

test('a frame that is cut short ends the link, not the process', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  n2.links.handle(FrameType.ack, (_link, { view, start }) => void view.getFloat64(start + 24, true));
  world.introduce();
  await world.run(20);
  n1.links.get('n2')!.send(FrameType.ack, 5, Buffer.alloc(31));
  await world.run(20);
  assert.ok(
    n2.events.some((event) => event.startsWith('down n1')),
    n2.events.join(),
  );
});

test('frames sent at `up` are not lost, whichever side comes up first', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const world = new World(seed);
    const nodes = [world.node('n1', { liveness: true }), world.node('n2', { liveness: true })];
    const boxes = nodes.map(inbox);
    for (const node of nodes) {
      node.links.observe({ up: (link) => link.send(someType, 0, Buffer.from(`from ${node.name}`)) });
    }
    world.introduce();
    await world.run(100);
    assert.deepEqual(boxes, [['n2/0: from n2'], ['n1/0: from n1']]);
  }
});

test('a lost connection is made again at once', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  world.introduce();
  await world.run(20);
  world.network.breakConnections('n1', 'n2', 3);
  await world.run(10);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
  assert.deepEqual(n1.events, ['up n2#2', 'down n2#2 closed', 'up n2#2']);
});

test('the side that still believes in a broken connection gives it up for the new one', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  world.introduce();
  await world.run(20);
  n1.links.get('n2')!.close('closed', 'test');
  world.network.block('n1', 'n2');
  await world.run(50);
  world.network.unblock('n1', 'n2');
  await world.run(2000);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
  const box = inbox(n2);
  n1.links.get('n2')!.send(someType, 0, Buffer.from('x'));
  await world.run(10);
  assert.deepEqual(box, ['n1/0: x']);
});

test('a killed node is refused, and its next boot takes its place', async () => {
  const world = new World();
  const [n1, n2, n3] = [world.node('n1'), world.node('n2'), world.node('n3')];
  const refusals: string[] = [];
  for (const node of [n1, n3]) node.links.observe({ refused: (name) => refusals.push(`${node.name}: ${name}`) });
  world.introduce();
  await world.run(20);
  n2.kill();
  await world.run(10);
  assert.ok(refusals.includes('n1: n2') && refusals.includes('n3: n2'), 'both sides find out, whoever dials');
  assert.deepEqual(n1.events.slice(2), ['down n2#2 closed']);
  const reborn = world.node('n2', { boot: 9 });
  world.introduce();
  await world.run(300);
  assert.equal(n1.links.get('n2')?.peer.boot, 9);
  assert.equal(n3.links.get('n2')?.peer.boot, 9);
  assert.equal([...reborn.links.all()].length, 2);
});

test('a newer boot replaces the link of an older one, and the older one is then refused', async () => {
  const world = new World();
  const [old, n2] = [world.node('n1', { boot: 5 }), world.node('n2', { boot: 6 })];
  world.introduce();
  await world.run(20);
  const members = [{ ...old.member, boot: 7 }, n2.member];
  n2.links.setMembers(members);
  await world.run(500);
  assert.deepEqual(n2.events, ['up n1#5', 'down n1#5 replaced']);
  assert.equal(old.links.get('n2'), undefined, 'its calls are declined');
});

test('nodes of other clusters, other names or broken hellos get no link, and the reason is logged once', async () => {
  const world = new World();
  const reasons: string[] = [];
  const logger = {
    debug() {},
    info() {},
    error() {},
    warn: (message: string, fields?: Record<string, unknown>) => {
      reasons.push(`${message}: ${String(fields?.['reason'])}`);
    },
    child: () => logger,
  };
  const n1 = world.node('n1', { logger });
  const n2 = world.node('n2', { cluster: 'c2' });
  const n3 = world.node('n3');
  n1.links.setMembers([n2.member, { ...n3.member, node: 'n4' }]);
  await world.run(3000);
  assert.deepEqual([...n1.links.all()], []);
  assert.deepEqual(reasons.sort(), [
    'no link: n1 belongs to cluster c1, n2 to cluster c2',
    'no link: n3 answers at the address of n4',
  ]);
});

test('a stranger that says something else, or nothing, is dropped; of too many the oldest are', async () => {
  const world = new World();
  world.node('n1');
  const context = world.loop.context('x');
  const transport = world.network.transport('x', context);
  await world.run(1);
  let closed = 0;
  for (let i = 0; i < 200; i++) {
    world.loop.after(0, context, () => {
      void transport.dial('n1:1', 100).then((stream) => {
        stream.onClose = () => closed++;
        if (i === 190) stream.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
        if (i === 191) stream.write(Uint8Array.of(9, 0, 0, 0, 1, 1, 0, 0, 0x7b));
      });
    });
  }
  await world.run(100);
  assert.equal(closed, 200 - 128 + 2);
  await world.run(3000);
  assert.equal(closed, 200);
});

test('strangers that say nothing, however many, do not keep nodes apart', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  const context = world.loop.context('x');
  const transport = world.network.transport('x', context);
  await world.run(1);
  const flood = (): void => {
    for (const node of ['n1:1', 'n2:1']) void transport.dial(node, 100).then(() => {});
    world.loop.after(0.1, context, flood);
  };
  world.loop.after(0, context, flood);
  await world.run(100);
  world.introduce();
  await world.run(20);
  assert.ok(n1.links.get('n2') && n2.links.get('n1'));
});

test('a handler that cannot read a payload ends that link only', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  n2.links.handle(someType, () => {
    throw new FrameError('no such field');
  });
  world.introduce();
  await world.run(20);
  n1.links.get('n2')!.send(someType, 0);
  await world.run(20);
  assert.deepEqual(n2.events, ['up n1#1', 'down n1#1 closed', 'up n1#1']);
});

test('a node that leaves the map is dialed no more', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  world.introduce();
  await world.run(20);
  n1.links.setMembers([n1.member]);
  n2.links.setMembers([n2.member]);
  await world.run(1000);
  assert.deepEqual([...n1.links.all(), ...n2.links.all()], []);
});

test('close ends all links and dials no more', async () => {
  const world = new World();
  const [n1, n2] = [world.node('n1'), world.node('n2')];
  world.introduce();
  await world.run(20);
  world.loop.after(0, n1.context, () => void n1.links.close());
  await world.run(1000);
  assert.deepEqual(n1.events, ['up n2#2', 'down n2#2 closed']);
  assert.deepEqual(n2.events, ['up n1#1', 'down n1#1 closed']);
});

/** A logger that keeps the reasons of its warnings. */
function listening(): { logger: Logger; reasons: string[] } {
  const reasons: string[] = [];
  const warn = (message: string, fields?: Record<string, unknown>): unknown =>
    reasons.push(`${message}: ${String(fields?.['reason'])}`);
  return { logger: { ...silentLogger, warn, child: () => silentLogger }, reasons };
}

test('nodes with different secrets do not join, and both say why, once', async () => {
  const world = new World();
  const [one, two] = [listening(), listening()];
  const n1 = world.node('n1', { logger: one.logger });
  const n2 = world.node('n2', { logger: two.logger, secret: 'of another world' });
  world.introduce();
  await world.run(9000);
  assert.deepEqual([...n1.links.all(), ...n2.links.all()], []);
  assert.deepEqual(one.reasons, ['no link: closed by the peer on our proof of the cluster secret: it has another one']);
  assert.deepEqual(two.reasons, [
    'a stranger was turned away from the port for brokers: its proof of the cluster secret is wrong: it has another secret, or none',
  ]);
});

/** All bytes that a node sends to somebody who is called, and who says `said` as soon as there is something to hear. */
async function heardBy(world: World, said: (heard: Uint8Array) => Uint8Array): Promise<Buffer> {
  const context = world.loop.context('x');
  const heard: Buffer[] = [];
  let closed = false;
  await world.run(1);
  world.loop.after(0, context, () => {
    void world.network
      .transport('x', context)
      .dial('n1:1', 100)
      .then((stream) => {
        stream.onClose = () => {
          closed = true;
        };
        stream.onData = (bytes) => {
          heard.push(Buffer.from(bytes));
          if (heard.length === 1) stream.write(said(bytes));
        };
      });
  });
  await world.run(3000);
  assert.ok(closed);
  return Buffer.concat(heard);
}

test('who has no secret hears a nonce and nothing else, whatever it says; old answers do not help', async () => {
  const answer = Buffer.alloc(8 + 33 + 32, 1);
  answer.writeUInt32LE(answer.length);
  answer[4] = FrameType.answer;
  const hello = Buffer.from('\0\0\0\0\x01\x01\0\0{"cluster":"c1","node":"n2"}');
  hello.writeUInt32LE(hello.length);
  const large = Buffer.alloc(100_000);
  large.writeUInt32LE(large.length);
  for (const said of [answer, hello, large, Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.alloc(0)]) {
    const world = new World();
    world.node('n1');
    const heard = await heardBy(world, () => said);
    assert.equal(heard.length, 8 + 2 + 32);
    assert.equal(heard[4], FrameType.challenge);
  }
});

test('a node that is called at its own address notices, and tells itself nothing', async () => {
  const world = new World();
  const { logger, reasons } = listening();
  const n1 = world.node('n1', { logger });
  n1.links.setMembers([{ ...n1.member, node: 'n2' }]);
  await world.run(500);
  assert.deepEqual([...n1.links.all()], []);
  assert.deepEqual(reasons, ['no link: this node itself answers there']);
});
