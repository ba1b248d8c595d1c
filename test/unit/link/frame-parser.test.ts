import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameError } from '../../../src/cluster/link/frame.js';
import { FrameOutput } from '../../../src/cluster/link/frame-output.js';
import { FrameParser } from '../../../src/cluster/link/frame-parser.js';

interface Sent {
  type: number;
  version: number;
  group: number;
  payload: Uint8Array;
}

/** The frames as bytes, in one piece. */
function encode(frames: readonly Sent[]): Uint8Array {
  const output = new FrameOutput();
  for (const { type, version, group, payload } of frames) {
    output.begin(type, version, group, payload.length + 3);
    output.bytes.set(payload, output.offset);
    output.end(payload.length);
  }
  const pieces: Uint8Array[] = [];
  output.writeTo({
    pendingBytes: 0,
    remote: 'far:1',
    write: (bytes) => pieces.push(bytes.slice()) > 0,
    close() {},
    onData() {},
    onDrain() {},
    onClose() {},
  });
  return Uint8Array.from(Buffer.concat(pieces));
}

function parse(pieces: readonly Uint8Array[], frameBytesMax = 1 << 20): Sent[] {
  const got: Sent[] = [];
  const parser = new FrameParser(frameBytesMax, ({ type, version, group, bytes, start, end, view }) => {
    assert.equal(view.getUint8(start - 4), bytes[start - 4]);
    got.push({ type, version, group, payload: bytes.slice(start, end) });
  });
  for (const piece of pieces) {
    const copy = piece.slice();
    parser.push(copy);
    copy.fill(0xdd);
  }
  return got;
}

const frame: fc.Arbitrary<Sent> = fc.record({
  type: fc.nat(255),
  version: fc.nat(255),
  group: fc.nat(0xffff),
  payload: fc.oneof(
    { weight: 9, arbitrary: fc.uint8Array({ maxLength: 40 }) },
    { weight: 1, arbitrary: fc.nat(200_000).map((length) => new Uint8Array(length).fill(length)) },
  ),
});

test('however the bytes are split, the same frames come out', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 60 }), (frames, cuts) => {
      const bytes = encode(frames);
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(bytes.subarray(at, at + cut));
        at = Math.min(bytes.length, at + cut);
      }
      pieces.push(bytes.subarray(at));
      assert.deepEqual(
        parse(pieces).map((one) => ({ ...one, payload: Buffer.from(one.payload) })),
        frames.map((one) => ({ ...one, payload: Buffer.from(one.payload) })),
      );
    }),
    { numRuns: 200 },
  );
});

test('a frame that arrives byte by byte', () => {
  const bytes = encode([{ type: 1, version: 2, group: 3, payload: Buffer.from('hello') }]);
  const got = parse([...bytes].map((byte) => Uint8Array.of(byte)));
  assert.equal(Buffer.from(got[0]!.payload).toString(), 'hello');
});

test('impossible lengths are refused before anything is stored', () => {
  const header = (length: number): Uint8Array => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setUint32(0, length, true);
    return bytes;
  };
  for (const length of [0, 7, 1025, 0xffff_ffff]) {
    assert.throws(() => parse([header(length)], 1024), FrameError);
    assert.throws(
      () =>
        parse(
          [...header(length)].map((byte) => Uint8Array.of(byte)),
          1024,
        ),
      FrameError,
    );
  }
});

test('the buffer grows with what arrives, not with what is announced', () => {
  const parser = new FrameParser(1 << 30, () => {});
  const bytes = new Uint8Array(1000);
  new DataView(bytes.buffer).setUint32(0, 1 << 29, true);
  const before = process.memoryUsage().arrayBuffers;
  parser.push(bytes);
  assert.ok(process.memoryUsage().arrayBuffers - before < 1 << 20);
});

test('stop ends it in the middle of a read', () => {
  const bytes = encode([1, 2, 3].map((type) => ({ type, version: 1, group: 0, payload: new Uint8Array(1) })));
  const got: number[] = [];
  const parser: FrameParser = new FrameParser(1024, ({ type }) => {
    got.push(type);
    if (type === 2) parser.stop();
  });
  parser.push(bytes);
  parser.push(bytes);
  assert.deepEqual(got, [1, 2]);
});
