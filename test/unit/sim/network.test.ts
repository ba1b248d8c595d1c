import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventLoop, type Context } from '../../../sim/event-loop.js';
import { SimNetwork } from '../../../sim/network.js';
import { SimRandom } from '../../../sim/random.js';
import type { ByteStream, Transport } from '../../../src/cluster/byte-stream.js';

interface Rig {
  loop: EventLoop;
  network: SimNetwork;
  contexts: [Context, Context];
  a: Transport;
  b: Transport;
}

function rig(seed = 1): Rig {
  const loop = new EventLoop();
  const network = new SimNetwork(loop, new SimRandom(seed), { latencyMs: 0.2, jitterMs: 0.3, bytesPerMs: 100_000 });
  const contexts: [Context, Context] = [loop.context('a'), loop.context('b')];
  return { loop, network, contexts, a: network.transport('a', contexts[0]), b: network.transport('b', contexts[1]) };
}

/** A connected pair: what the acceptor gets is collected. */
async function pair(
  r: Rig,
): Promise<{ dialer: ByteStream; acceptor: ByteStream; received: number[]; closes: string[] }> {
  const received: number[] = [];
  const closes: string[] = [];
  let dialer: ByteStream | undefined;
  let acceptor: ByteStream | undefined;
  r.loop.after(0, r.contexts[1], () => {
    void r.b.listen('b:1', (stream) => {
      acceptor = stream;
      stream.onData = (bytes) => received.push(...bytes);
      stream.onClose = () => closes.push('acceptor');
    });
  });
  r.loop.after(1, r.contexts[0], () => {
    void r.a.dial('b:1', 1000).then((stream) => {
      dialer = stream;
      stream.onClose = () => closes.push('dialer');
    });
  });
  await r.loop.run();
  return { dialer: dialer!, acceptor: acceptor!, received, closes };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i % 251);

test('bytes arrive complete and in order, however they are split', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const r = rig(seed);
    const { dialer, received } = await pair(r);
    const sent = numbers(2000);
    for (let from = 0; from < sent.length; from += 100) dialer.write(Uint8Array.from(sent.slice(from, from + 100)));
    await r.loop.run();
    assert.deepEqual(received, sent);
  }
});

test('a blocked link holds bytes until it is back; the other way goes on', async () => {
  const r = rig();
  const { dialer, acceptor, received } = await pair(r);
  const back: number[] = [];
  dialer.onData = (bytes) => back.push(...bytes);
  r.network.block('a', 'b');
  dialer.write(Uint8Array.of(1, 2, 3));
  acceptor.write(Uint8Array.of(4));
  await r.loop.run();
  assert.deepEqual(received, []);
  assert.deepEqual(back, [4]);
  r.network.healAll();
  await r.loop.run();
  assert.deepEqual(received, [1, 2, 3]);
});

test('closing delivers what was written, then tells the peer; both hear once', async () => {
  const r = rig();
  const { dialer, received, closes } = await pair(r);
  dialer.write(Uint8Array.of(1));
  dialer.close();
  dialer.close();
  await r.loop.run();
  assert.deepEqual(received, [1]);
  assert.deepEqual(closes.sort(), ['acceptor', 'dialer']);
});

test('a broken connection loses what was under way and both hear of it', async () => {
  const r = rig();
  const { dialer, received, closes } = await pair(r);
  dialer.write(Uint8Array.of(1));
  r.network.breakConnections('a', 'b', 50);
  await r.loop.run();
  assert.deepEqual(received, []);
  assert.deepEqual(closes.sort(), ['acceptor', 'dialer']);
});

test('a killed process is closed and refused; a lost machine is silent', async () => {
  for (const machineToo of [false, true]) {
    const r = rig();
    const { closes } = await pair(r);
    r.loop.kill(r.contexts[1]);
    r.network.processDied('b', r.contexts[1], machineToo, true);
    await r.loop.run();
    assert.deepEqual(closes, machineToo ? [] : ['dialer']);
    let failure = '';
    r.loop.after(0, r.contexts[0], () => {
      r.a.dial('b:1', 100).catch((error: { failure: string }) => {
        failure = error.failure;
      });
    });
    await r.loop.run();
    assert.equal(failure, machineToo ? 'unreachable' : 'refused');
    r.network.machineUp('b');
    await r.loop.run();
    assert.deepEqual(closes, ['dialer']);
  }
});

test('a frozen process is connected to by its kernel and says nothing', async () => {
  const r = rig();
  const { received } = await pair(r);
  r.loop.freeze(r.contexts[1]);
  let stream: ByteStream | undefined;
  r.loop.after(0, r.contexts[0], () => {
    void r.a.dial('b:1', 100).then((dialed) => {
      stream = dialed;
      dialed.write(Uint8Array.of(9));
    });
  });
  await r.loop.run();
  assert.ok(stream !== undefined);
  assert.deepEqual(received, []);
  r.loop.thaw(r.contexts[1]);
  await r.loop.run();
  assert.deepEqual(received, [9]);
});

test('a writer that is not read has pending bytes and is told when they are gone', async () => {
  const r = rig();
  const { dialer } = await pair(r);
  let drained = false;
  dialer.onDrain = () => {
    drained = true;
  };
  r.network.block('a', 'b');
  let more = true;
  for (let i = 0; i < 10; i++) more = dialer.write(new Uint8Array(100_000));
  assert.equal(more, false);
  assert.ok(dialer.pendingBytes > 0);
  r.network.healAll();
  await r.loop.run();
  assert.equal(drained, true);
  assert.equal(dialer.pendingBytes, 0);
});
