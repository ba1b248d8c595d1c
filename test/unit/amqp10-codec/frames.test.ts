import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { AmqpError } from '../../../src/amqp10/codec/amqp-error.js';
import { type FrameHandler, FrameParser } from '../../../src/amqp10/codec/frame-parser.js';
import { FrameWriter } from '../../../src/amqp10/codec/frame-writer.js';
import { Attach, Open } from '../../../src/amqp10/codec/generated/performatives.js';
import { ProtocolId, protocolHeader, protocolIdAt } from '../../../src/amqp10/codec/protocol-header.js';
import { fieldMap } from '../../../src/amqp10/codec/values.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { bytesOf, hexOf, mutated } from './support.js';

type Seen = [type: number, channel: number, body: string];

class Recorder implements FrameHandler {
  readonly seen: Seen[] = [];
  onFrame: (seen: Seen) => void = () => {};

  protocolHeader(bytes: Uint8Array, start: number): void {
    this.record([-1, 0, hexOf(bytes.subarray(start, start + 8))]);
  }
  frame(type: number, channel: number, bytes: Uint8Array, start: number, end: number): void {
    this.record([type, channel, hexOf(bytes.subarray(start, end))]);
  }
  private record(seen: Seen): void {
    this.seen.push(seen);
    this.onFrame(seen);
  }
}

function frame([type, channel, body]: Seen, doff = 2): Uint8Array {
  const payload = bytesOf(body);
  const bytes = new Uint8Array(doff * 4 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length);
  bytes[4] = doff;
  bytes[5] = type;
  view.setUint16(6, channel);
  bytes.set(payload, doff * 4);
  return bytes;
}

const anyFrame: fc.Arbitrary<Seen> = fc.tuple(
  fc.constantFrom(0, 1),
  fc.nat(0xffff),
  fc.uint8Array({ maxLength: 60 }).map(hexOf),
);
const anyFrames = fc.array(fc.tuple(anyFrame, fc.integer({ min: 2, max: 5 })), { maxLength: 8 });

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length].map((place, index) => bytes.slice(places[index - 1] ?? 0, place));
}

describe('frames (§2.3)', () => {
  it('come out the same, however the bytes are split', () => {
    fc.assert(
      fc.property(anyFrames, fc.array(fc.nat(), { maxLength: 8 }), (frames, cuts) => {
        const recorder = new Recorder();
        const parser = new FrameParser(recorder);
        for (const piece of pieces(joined(frames.map(([seen, doff]) => frame(seen, doff))), cuts)) parser.feed(piece);
        assert.deepEqual(
          recorder.seen,
          frames.map(([seen]) => seen),
        );
        assert.equal(parser.heldBytes, 0);
      }),
    );
  });

  it('wait while the parser is paused, and come in order', () => {
    fc.assert(
      fc.property(anyFrames, fc.array(fc.nat(), { maxLength: 8 }), fc.nat(7), (frames, cuts, pauseAfter) => {
        const recorder = new Recorder();
        const parser = new FrameParser(recorder);
        recorder.onFrame = () => {
          if (recorder.seen.length % (pauseAfter + 1) === 0) parser.pause();
        };
        for (const piece of pieces(joined(frames.map(([seen, doff]) => frame(seen, doff))), cuts)) parser.feed(piece);
        for (let i = 0; i <= frames.length; i++) parser.resume();
        assert.deepEqual(
          recorder.seen,
          frames.map(([seen]) => seen),
        );
      }),
    );
  });

  it('a protocol header is found between frames where it is expected', () => {
    const first: Seen = [1, 0, '45'];
    const second: Seen = [0, 3, '4041'];
    const bytes = joined([frame(first), protocolHeader(ProtocolId.amqp), frame(second)]);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const recorder = new Recorder();
      const parser = new FrameParser(recorder);
      recorder.onFrame = (seen) => {
        if (seen[0] === 1) parser.expectHeader();
      };
      parser.feed(bytes.slice(0, cut));
      parser.feed(bytes.slice(cut));
      assert.deepEqual(recorder.seen, [first, [-1, 0, '414d515000010000'], second]);
    }
  });

  const refused: readonly [what: string, hex: string, text: RegExp][] = [
    ['a size smaller than the frame header', '00000007 02 00 0000', /7 bytes, 8 are the least/],
    ['a size above max-frame-size', '00000201 02 00 0000', /513 bytes, max-frame-size is 512/],
    ['a size of four gigabytes', 'ffffffff', /max-frame-size is 512/],
    ['a data offset inside the frame header', '00000008 01 00 0000', /data offset of 1/],
    ['a data offset beyond the frame', '00000009 03 00 0000 00', /data offset of 12 bytes/],
    ['an unknown frame type', '00000008 02 02', /unknown type 0x02/],
  ];
  for (const [what, hex, text] of refused)
    it(`are refused with ${what}, as soon as it can be told`, () => {
      const parser = new FrameParser(new Recorder());
      assert.throws(
        () => parser.feed(bytesOf(hex)),
        (error: Error) =>
          error instanceof AmqpError && error.condition === 'amqp:connection:framing-error' && text.test(error.message),
      );
      assert.ok(parser.stopped);
    });

  it('are refused or handed on, whatever the bytes are', () => {
    const streams = mutated(anyFrames.map((frames) => joined(frames.map(([seen, doff]) => frame(seen, doff)))));
    fc.assert(
      fc.property(streams, fc.array(fc.nat(), { maxLength: 4 }), (bytes, cuts) => {
        const recorder = new Recorder();
        const parser = new FrameParser(recorder);
        try {
          for (const piece of pieces(bytes, cuts)) parser.feed(piece);
        } catch (error) {
          assert.ok(error instanceof AmqpError, String(error));
          assert.ok(parser.stopped);
        }
        const whole = new FrameParser(new Recorder());
        const other = new Recorder();
        const again = new FrameParser(other);
        try {
          again.feed(bytes);
        } catch {
          assert.ok(!whole.stopped);
        }
        assert.deepEqual(other.seen, recorder.seen);
      }),
      { numRuns: 500 },
    );
  });

  it('larger than the peer takes are not written', () => {
    const writer = new FrameWriter(new ByteWriter());
    const open = new Open();
    open.containerId = 'x'.repeat(600);
    assert.throws(
      () => writer.performative(0, open),
      (error: Error) => error instanceof AmqpError && error.condition === 'amqp:frame-size-too-small',
    );
    assert.equal(writer.output.length, 0);
    const attach = new Attach();
    attach.properties = fieldMap({ a: 'b' });
    writer.performative(7, attach);
    const recorder = new Recorder();
    new FrameParser(recorder).feed(writer.output.take());
    assert.equal(recorder.seen[0]![1], 7);
  });

  it('protocol headers are told apart', () => {
    const ids = [
      '414d515000010000',
      '414d515002010000',
      '414d515003010000',
      '414d515000000901',
      '414d515001010000',
      '474554202f204854',
    ];
    assert.deepEqual(
      ids.map((hex) => protocolIdAt(bytesOf(hex), 0)),
      [ProtocolId.amqp, ProtocolId.tls, ProtocolId.sasl, undefined, undefined, undefined],
    );
    assert.equal(protocolIdAt(bytesOf('414d5150'), 0), undefined);
  });
});
