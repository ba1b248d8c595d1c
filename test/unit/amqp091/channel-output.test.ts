/** What a channel writes while the body of a large message goes out on it, part by part. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChannelHost } from '../../../src/amqp091/channel-host.js';
import { ChannelOutput } from '../../../src/amqp091/channel-output.js';
import { FrameParser, FrameWriter, type ProtocolError } from '../../../src/amqp091/codec/index.js';
import type { BodySink, BodySource } from '../../../src/model/broker.js';

class TestSource implements BodySource {
  readonly size = 0;
  asked = 0;
  isClosed = false;
  sink!: BodySink;

  read(sink: BodySink, ahead: number): void {
    this.sink = sink;
    this.asked = ahead;
  }
  more(): void {
    this.asked++;
  }
  close(): void {
    this.isClosed = true;
  }
  part(text: string, isLast = false): void {
    const bytes = Buffer.from(text);
    this.sink.part(bytes, 0, bytes.length, isLast);
  }
}

function setUp(): {
  out: ChannelOutput;
  written: () => string[];
  writing: Map<number, ChannelOutput>;
  room: { isRoom: boolean; gathered: Set<{ length: number }> };
  errors: ProtocolError[];
  host: ChannelHost;
} {
  const frames = new FrameWriter();
  const gathered = new Set<{ length: number }>();
  const room = { isRoom: true, gathered, touch: (): void => {}, wrotePart: (): boolean => room.isRoom };
  const errors: ProtocolError[] = [];
  const fail = (error: ProtocolError): void => void errors.push(error);
  const host = { frames, output: room, fail } as unknown as ChannelHost;
  const writing = new Map<number, ChannelOutput>();
  const written = (): string[] => {
    const seen: string[] = [];
    const add =
      (kind: string) =>
      (channel: number, bytes: Uint8Array, start: number, end: number): void => {
        seen.push(
          `${kind}${channel} ${kind === 'body' ? Buffer.from(bytes.subarray(start, end)).toString() : end - start}`,
        );
      };
    const ignore = (): void => {};
    new FrameParser(
      { protocolHeader: ignore, heartbeat: ignore, method: add('method'), header: add('header'), body: add('body') },
      false,
    ).feed(frames.output.take());
    return seen;
  };
  return { out: new ChannelOutput(host, 3, writing), written, writing, room, errors, host };
}

describe('the output of a channel', () => {
  it('keeps back what comes behind a large message until its body has ended; other channels go on', () => {
    const { out, written, writing, host } = setUp();
    const [first, second] = [new TestSource(), new TestSource()];
    out.frames.ack(3, 1, false);
    out.body(first);
    out.frames.ack(3, 2, false);
    out.body(second);
    out.frames.ack(3, 3, false);
    host.frames.ack(4, 1, false);
    first.part('a');
    assert.deepEqual(written(), ['method3 13', 'method4 13', 'body3 a']);
    assert.ok(writing.has(3));
    first.part('b', true);
    assert.deepEqual(written(), ['body3 b', 'method3 13']);
    out.frames.ack(3, 4, false);
    second.part('c', true);
    assert.deepEqual(written(), ['body3 c', 'method3 13', 'method3 13']);
    assert.equal(out.frames, host.frames);
    assert.equal(writing.size, 0);
    out.frames.ack(3, 5, false);
    assert.deepEqual(written(), ['method3 13']);
  });

  it('asks for parts as the client reads', () => {
    const { out, room } = setUp();
    const source = new TestSource();
    out.body(source);
    const ahead = source.asked;
    source.part('a');
    assert.equal(source.asked, ahead + 1);
    room.isRoom = false;
    source.part('b');
    source.part('c');
    assert.equal(source.asked, ahead + 1);
    out.goOn();
    assert.equal(source.asked, ahead + 3);
  });

  it('counts what it keeps back as output that waits', () => {
    const { out, room } = setUp();
    const kept = (): number => [...room.gathered].reduce((bytes, { length }) => bytes + length, 0);
    const [first, second] = [new TestSource(), new TestSource()];
    out.body(first);
    out.frames.ack(3, 1, false);
    assert.equal(kept(), 21);
    out.frames.ack(3, 2, false);
    out.body(second);
    out.frames.ack(3, 3, false);
    assert.equal(kept(), 63);
    first.part('a');
    first.part('b', true);
    assert.equal(kept(), 21);
    second.part('c', true);
    assert.equal(kept(), 0);
    assert.equal(room.gathered.size, 0);
  });

  it('ends the connection when the rest of a body never comes, and reads no further when the connection ends', () => {
    const { out, errors } = setUp();
    const [first, second] = [new TestSource(), new TestSource()];
    out.body(first);
    out.body(second);
    first.sink.lost('it is gone');
    assert.deepEqual(
      errors.map(({ code, message }) => [code, message]),
      [[541, 'it is gone']],
    );
    out.close();
    assert.ok(first.isClosed && second.isClosed);
  });
});
