import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turn } from '../../../src/base/turn.js';
import type { ByteStream } from '../../../src/cluster/byte-stream.js';
import { type Evidence, Link, type LinkLimits, linkLimits } from '../../../src/cluster/link/link.js';

/** A stream that keeps what is written until it is told that the network took it. */
class HeldStream implements ByteStream {
  readonly remote = 'far:1';
  readonly writes: Uint8Array[] = [];
  pendingBytes = 0;
  /** True: the network takes everything at once. */
  flowing = true;
  closed = false;
  onData: (bytes: Uint8Array) => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: Error) => void = () => {};

  write(bytes: Uint8Array): boolean {
    this.writes.push(bytes);
    if (!this.flowing) this.pendingBytes += bytes.length;
    return this.flowing;
  }
  drain(): void {
    this.pendingBytes = 0;
    this.onDrain();
  }
  close(): void {
    this.closed = true;
  }
}

function setUp(limits: Partial<LinkLimits> = {}) {
  const stream = new HeldStream();
  let due: (() => void) | undefined;
  const turn = new Turn((run) => {
    due = run;
  });
  const ends: [Evidence, string][] = [];
  const link = new Link(
    stream,
    true,
    turn,
    { ...linkLimits, ...limits },
    {
      mayRead: () => true,
      frame: () => {},
      closed: (_link, evidence, reason) => ends.push([evidence, reason]),
    },
  );
  const endTurn = (): void => {
    const run = due;
    due = undefined;
    run?.();
  };
  return { stream, link, ends, endTurn };
}

test('the frames of a turn leave in one write', () => {
  const { stream, link, endTurn } = setUp();
  link.send(20, 7, Uint8Array.of(1, 2), Uint8Array.of(3));
  const output = link.beginFrame(21, 0xffff, 100);
  output.view.setUint32(output.offset, 0x01020304, true);
  link.endFrame(4);
  assert.equal(stream.writes.length, 0);
  endTurn();
  assert.equal(stream.writes.length, 1);
  assert.equal(Buffer.from(stream.writes[0]!).toString('hex'), '0b000000140107000102030c0000001501ffff04030201');
  endTurn();
  assert.equal(stream.writes.length, 1);
});

test('bytes that the stream still holds are never written over', () => {
  const { stream, link, endTurn } = setUp();
  stream.flowing = false;
  link.send(20, 0, new Uint8Array(100).fill(1));
  endTurn();
  const held = stream.writes[0]!;
  const before = held.slice();
  link.send(20, 0, new Uint8Array(300_000).fill(2));
  endTurn();
  link.send(20, 0, new Uint8Array(100).fill(3));
  endTurn();
  assert.deepEqual(held, before);
});

test('a link that cannot send says so, and says when it can again', () => {
  const { stream, link, endTurn } = setUp({ congestedBytes: 1_000_000 });
  let drains = 0;
  link.onDrain(() => drains++);
  stream.flowing = false;
  for (let i = 0; i < 20; i++) {
    link.send(20, 0, new Uint8Array(100_000));
    endTurn();
  }
  assert.ok(link.congested);
  assert.ok(stream.writes.length < 10, 'the rest is gathered in the link while the stream is full');
  assert.equal(link.pendingBytes, 20 * 100_008);
  stream.drain();
  assert.equal(drains, 0, 'the rest fills the stream again');
  stream.drain();
  assert.equal(drains, 1);
  assert.ok(!link.congested);
});

test('a burst that the network takes within the turn ends in a drain, too', () => {
  const { link, endTurn } = setUp({ congestedBytes: 1000 });
  let drains = 0;
  link.onDrain(() => drains++);
  link.send(20, 0, new Uint8Array(2000));
  assert.ok(link.congested);
  endTurn();
  assert.equal(drains, 1);
});

test('a link whose users do not wait is closed, with the reason', () => {
  const { stream, link, ends, endTurn } = setUp({ outputBytesMax: 1_000_000 });
  stream.flowing = false;
  for (let i = 0; i < 11; i++) link.send(20, 0, new Uint8Array(100_000));
  endTurn();
  assert.ok(stream.closed && link.closed);
  assert.match(ends[0]![1], /^1100088 bytes wait to be sent, allowed are 1000000$/);
  link.send(20, 0, new Uint8Array(10));
  endTurn();
  assert.equal(link.pendingBytes, 1_100_088, 'what a closed link is given goes nowhere');
});

test('bad framing closes the link', () => {
  const { stream, ends } = setUp();
  stream.onData(new Uint8Array(8));
  assert.match(ends[0]![1], /a frame of 0 bytes/);
});
