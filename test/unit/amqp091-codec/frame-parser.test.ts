import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { FrameParser, FrameWriter, ProtocolError, protocolHeader } from '../../../src/amqp091/codec/index.js';
import { anyMethod, frame, properties, Recorder, type Seen, spoiled, split } from './support.js';

interface Piece {
  write(writer: FrameWriter): void;
}

const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.constant<Piece>({ write: (writer) => writer.heartbeat() }),
  fc.tuple(fc.nat(0xffff), anyMethod).map<Piece>(([channel, method]) => ({
    write: (writer) => writer.method(channel, method),
  })),
  fc.tuple(fc.nat(0xffff), anyMethod, properties, fc.uint8Array({ maxLength: 9000 })).map<Piece>((parts) => ({
    write: (writer) => writer.methodWithContent(...parts),
  })),
);

const frameMax = 20_000;

/** A stream that begins with the protocol header. */
const stream: fc.Arbitrary<Uint8Array> = fc.array(piece, { maxLength: 8 }).map((pieces) => {
  const writer = new FrameWriter();
  writer.frameMax = 4096;
  writer.protocolHeader();
  for (const { write } of pieces) {
    try {
      write(writer);
    } catch {
      // A method over frame-max is not written.
    }
  }
  return writer.output.take();
});

function parse(pieces: Iterable<Uint8Array>): { seen: Seen[]; parser: FrameParser } {
  const recorder = new Recorder();
  const parser = new FrameParser(recorder, true);
  parser.frameMax = frameMax;
  for (const bytes of pieces) parser.feed(bytes);
  return { seen: recorder.seen, parser };
}

test('however the bytes are split, the same frames', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (bytes, cuts) => {
      const whole = parse([bytes]);
      const pieces = parse(split(bytes, cuts));
      assert.deepEqual(pieces.seen, whole.seen);
      assert.equal(pieces.parser.heldBytes, 0);
    }),
    { numRuns: 150 },
  );
});

test('byte by byte, the same frames', () => {
  fc.assert(
    fc.property(stream, (bytes) => {
      const single = parse(split(bytes, [...bytes.keys()]));
      assert.deepEqual(single.seen, parse([bytes]).seen);
    }),
    { numRuns: 30 },
  );
});

test('paused and resumed anywhere, the same frames', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 8 }), fc.array(fc.boolean()), (bytes, cuts, pauses) => {
      const recorder = new Recorder();
      const parser = new FrameParser(recorder, true);
      parser.frameMax = frameMax;
      recorder.onFrame = (): void => {
        if (pauses[recorder.seen.length % (pauses.length + 1)] === true) parser.pause();
      };
      for (const part of split(bytes, cuts)) {
        parser.feed(part);
        const before = recorder.seen.length;
        if (parser.paused && part.length % 2 === 0) parser.feed(new Uint8Array(0));
        if (parser.paused) assert.equal(recorder.seen.length, before);
        if (part.length % 3 === 0) parser.resume();
      }
      while (parser.paused) parser.resume();
      assert.deepEqual(recorder.seen, parse([bytes]).seen);
    }),
    { numRuns: 150 },
  );
});

test('a handler that throws has used up its frame; the next feed or resume goes on behind it', () => {
  const bytes = Buffer.concat([1, 2, 3, 4].map((channel) => frame(3, channel, Uint8Array.of(channel))));
  for (const cut of bytes.keys()) {
    const recorder = new Recorder();
    const parser = new FrameParser(recorder, false);
    recorder.onFrame = ([, channel]): void => {
      if (channel % 2 === 0) throw new Error(`stop at ${channel}`);
    };
    let thrown = 0;
    const attempt = (run: () => void): void => {
      try {
        run();
      } catch {
        thrown++;
      }
    };
    attempt(() => parser.feed(bytes.subarray(0, cut)));
    attempt(() => parser.feed(bytes.subarray(cut)));
    attempt(() => parser.resume());
    attempt(() => parser.resume());
    assert.equal(thrown, 2);
    assert.deepEqual(
      recorder.seen.map(([, channel]) => channel),
      [1, 2, 3, 4],
    );
    assert.equal(parser.heldBytes, 0);
  }
});

test('a stopped parser hands on nothing and keeps nothing', () => {
  const bytes = Buffer.concat([frame(3, 1, new Uint8Array(5)), frame(3, 2, new Uint8Array(5)), Buffer.of(3)]);
  for (const cut of bytes.keys()) {
    const recorder = new Recorder();
    const parser = new FrameParser(recorder, false);
    recorder.onFrame = (): void => parser.stop();
    parser.feed(bytes.subarray(0, cut));
    parser.feed(bytes.subarray(cut));
    parser.resume();
    assert.equal(recorder.seen.length, 1);
    assert.equal(parser.stopped, true);
    assert.equal(parser.heldBytes, 0);
  }
});

const headers: [name: string, bytes: number[], seen: Seen[]][] = [
  ['0-9-1', [...protocolHeader], [['supported', 0, '414d515000000901']]],
  ['0-9', [0x41, 0x4d, 0x51, 0x50, 1, 1, 0, 9], [['supported', 0, '414d515001010009']]],
  ['1.0', [0x41, 0x4d, 0x51, 0x50, 0, 1, 0, 0], [['unsupported', 0, '414d515000010000']]],
  ['1.0 with SASL', [0x41, 0x4d, 0x51, 0x50, 3, 1, 0, 0], [['unsupported', 0, '414d515003010000']]],
  ['0-8', [0x41, 0x4d, 0x51, 0x50, 1, 1, 8, 0], [['unsupported', 0, '414d515001010800']]],
  ['HTTP', [...Buffer.from('GET / HTTP/1.1\r\n')], [['unsupported', 0, Buffer.from('GET / HT').toString('hex')]]],
  ['a wrong letter', [0x41, 0x58], [['unsupported', 0, '4158']]],
  ['a beginning', [0x41, 0x4d, 0x51, 0x50, 0, 0, 9], []],
];

test('protocol headers', () => {
  for (const [name, bytes, seen] of headers) {
    const { seen: actual, parser } = parse([Uint8Array.from(bytes)]);
    assert.deepEqual(actual, seen, name);
    assert.equal(parser.stopped, seen[0]?.[0] === 'unsupported', name);
  }
  assert.deepEqual(parse([Uint8Array.of(0x41), Uint8Array.of(0x58)]).seen, [['unsupported', 0, '4158']]);
});

function refusal(bytes: Uint8Array, max: number): [code: number, message: string] {
  const parser = new FrameParser(new Recorder(), false);
  parser.frameMax = max;
  try {
    parser.feed(bytes);
  } catch (error) {
    assert.ok(error instanceof ProtocolError, String(error));
    assert.equal(parser.stopped, true);
    assert.equal(parser.heldBytes, 0);
    return [error.code, error.message];
  }
  return assert.fail(`it was accepted: ${Buffer.from(bytes.subarray(0, 16)).toString('hex')}`);
}

test('exact errors', () => {
  const payload = new Uint8Array(3);
  assert.deepEqual(refusal(frame(3, 7, payload, 0xcf), 4096), [
    501,
    'frame of type 3 on channel 7 and 3 bytes ends in 0xcf, not 0xce',
  ]);
  assert.deepEqual(refusal(frame(4, 0, payload), 4096), [501, 'unknown frame type 4']);
  assert.deepEqual(refusal(Uint8Array.of(0x47), 4096), [501, 'unknown frame type 71']);
  assert.deepEqual(refusal(frame(8, 1, new Uint8Array(0)), 4096), [
    501,
    'heartbeat on channel 1, it belongs on channel 0',
  ]);
  assert.deepEqual(refusal(frame(8, 0, payload), 4096), [501, 'heartbeat with a payload of 3 bytes']);
});

test('a frame over frame-max is refused by its first seven bytes', () => {
  const parser = new FrameParser(new Recorder(), false);
  parser.feed(frame(3, 1, new Uint8Array(4096)));
  const over = frame(3, 1, new Uint8Array(4097));
  const message = 'frame of type 3 on channel 1 has a payload of 4097 bytes, frame-max is 4096';
  assert.deepEqual(refusal(over, 4096), [501, message]);
  assert.deepEqual(refusal(over.subarray(0, 7), 4096), [501, message]);
  const largest = Uint8Array.of(3, 0, 1, 0xff, 0xff, 0xff, 0xff);
  assert.deepEqual(refusal(largest, 0x7fff_ffff)[0], 501);
  for (let i = 0; i < 6; i++) parser.feed(largest.subarray(i, i + 1));
  assert.throws(() => parser.feed(largest.subarray(6)), ProtocolError);
});

test('the frame-max that a handler sets holds for the next frame', () => {
  const recorder = new Recorder();
  const parser = new FrameParser(recorder, false);
  recorder.onFrame = (): void => {
    parser.frameMax = 10_000;
  };
  parser.feed(Buffer.concat([frame(3, 1, new Uint8Array(1)), frame(3, 2, new Uint8Array(9000))]));
  assert.equal(recorder.seen.length, 2);
});

test('a frame lying whole in the chunk is handed on where it lies', () => {
  const chunk = Buffer.concat([Buffer.of(0xff), frame(3, 1, Uint8Array.of(1, 2)), frame(3, 1, Uint8Array.of(3))]);
  const fed = chunk.subarray(1);
  const seen: [boolean, number, number][] = [];
  const ignore = (): void => {};
  const body = (_channel: number, bytes: Uint8Array, start: number, end: number): void => {
    seen.push([bytes === fed, start, end]);
  };
  new FrameParser({ protocolHeader: ignore, method: ignore, header: ignore, body, heartbeat: ignore }, false).feed(fed);
  assert.deepEqual(seen, [
    [true, 7, 9],
    [true, 17, 18],
  ]);
});

test('what is kept is bounded: by what came, by one frame, and while paused by a limit', () => {
  const parser = new FrameParser(new Recorder(), false);
  parser.frameMax = 1_000_000_000;
  parser.feed(Uint8Array.of(3, 0, 1, 0x10, 0, 0, 0, 1, 2, 3));
  assert.equal(parser.heldBytes, 10);

  const paused = new FrameParser(new Recorder(), false);
  paused.pause();
  const chunk = frame(3, 1, new Uint8Array(4000));
  const feedMuch = (): void => {
    for (let i = 0; i < 1000; i++) paused.feed(chunk);
  };
  assert.throws(feedMuch, (error) => error instanceof ProtocolError && error.code === 506);
  assert.equal(paused.stopped, true);
  assert.equal(paused.heldBytes, 0);
});

test('spoiled streams end in a frame error or in frames, however they are split', () => {
  fc.assert(
    fc.property(spoiled(stream), fc.array(fc.nat(), { maxLength: 5 }), (bytes, cuts) => {
      const outcome = (pieces: Uint8Array[]): [Seen[], string] => {
        const recorder = new Recorder();
        const parser = new FrameParser(recorder, true);
        try {
          for (const part of pieces) parser.feed(part);
        } catch (error) {
          assert.ok(error instanceof ProtocolError, String(error));
          assert.equal(error.code, 501);
          return [recorder.seen, error.message];
        }
        assert.ok(parser.heldBytes <= parser.frameMax + 8);
        return [recorder.seen, ''];
      };
      const whole = outcome([bytes]);
      // Garbage in place of the protocol header is reported as far as it has come.
      if (whole[0][0]?.[0] === 'unsupported') return;
      assert.deepEqual(outcome(split(bytes, cuts)), whole);
    }),
    { numRuns: 600 },
  );
});
