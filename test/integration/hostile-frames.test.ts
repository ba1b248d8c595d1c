/**
 * Sessions that are split, cut, changed, or make no sense, against a real broker: each ends in the protocol's own error or in a
 * closed socket, and nobody else notices.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ChannelClose,
  ConnectionClose,
  decodeMethod,
  type FrameHandler,
  FrameParser,
  protocolHeader,
  ReplyCode,
} from '../../src/amqp091/codec/index.js';
import { goodSession, senselessSession, spoil, spoiling } from '../support/attacks/sessions.js';
import { mebibyte, Target } from '../support/target.js';

/** Codes of §1.2 that are a client's fault. */
const codes = new Set<number>(Object.values(ReplyCode).filter((code) => code !== ReplyCode.internalError));
/** After the last byte, if the broker keeps the connection: nothing more is expected. */
const quietMs = 30;

/** Checks that all the broker sends is AMQP. */
class Answers implements FrameHandler {
  readonly closes: (ChannelClose | ConnectionClose)[] = [];
  private readonly parser = new FrameParser(this, false);
  private begun = false;

  constructor() {
    this.parser.frameMax = 131_072;
  }

  add(bytes: Buffer): void {
    // Instead of frames: our header, when the client's was none.
    if (!this.begun && bytes.subarray(0, 4).toString('latin1') === 'AMQP') {
      assert.deepEqual(bytes, Buffer.from(protocolHeader));
      return;
    }
    this.begun = true;
    this.parser.feed(bytes);
  }

  protocolHeader(): void {}
  method(_channel: number, bytes: Uint8Array, start: number, end: number): void {
    const method = decodeMethod(bytes, start, end);
    if (method instanceof ChannelClose || method instanceof ConnectionClose) this.closes.push(method);
  }
  header(): void {}
  body(): void {}
  heartbeat(): void {}
}

/** Sends the bytes in pieces; resolves when the broker has closed the socket, or has gone quiet. */
async function send(port: number, bytes: Buffer, pieces: readonly number[]): Promise<Answers> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const answers = new Answers();
  let failure: unknown;
  let heardAt = performance.now();
  socket.on('error', () => {});
  socket.on('data', (data) => {
    heardAt = performance.now();
    try {
      answers.add(data);
    } catch (error) {
      failure ??= error;
    }
  });
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  await Promise.race([new Promise<void>((resolve) => void socket.once('connect', resolve)), closed]);
  for (let at = 0, i = 0; at < bytes.length && !socket.destroyed; i++) {
    const size = pieces[i % pieces.length]!;
    socket.write(bytes.subarray(at, at + size));
    if (i % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
    at += size;
  }
  while (!socket.destroyed && performance.now() - heardAt < quietMs)
    await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
  await closed;
  if (failure !== undefined) throw failure;
  return answers;
}

function assertProtocol({ closes }: Answers): void {
  for (const { replyCode, replyText } of closes) assert.ok(codes.has(replyCode), `${replyCode} ${replyText}`);
}

describe('a broker that is sent what it should not be', () => {
  let target: Target;
  before(async () => {
    target = await Target.start();
  });
  after(() => target[Symbol.asyncDispose]());

  it('answers a session in one piece or in many alike', async () => {
    const session = goodSession('good');
    for (const pieces of [[session.length], [1], [7, 1, 4096]]) {
      const { closes } = await send(target.port, session, pieces);
      assert.deepEqual(closes, []);
    }
  });

  it('answers spoiled sessions with the protocol’s errors', async () => {
    const sessions = ['a', 'b', 'c'].map(goodSession);
    await target.survives(
      () =>
        fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...sessions),
            fc.array(spoiling, { minLength: 8, maxLength: 8 }),
            async (session, all) => {
              const sent = all.map((how) => send(target.port, spoil(session, how), how.pieces));
              for (const answers of await Promise.all(sent)) assertProtocol(answers);
            },
          ),
          { numRuns: 40, endOnFailure: true },
        ),
      { growthBytesMax: 200 * mebibyte },
    );
  });

  it('answers methods that make no sense with the protocol’s errors', async () => {
    await target.survives(
      () =>
        fc.assert(
          fc.asyncProperty(fc.array(senselessSession, { minLength: 8, maxLength: 8 }), async (sessions) => {
            const sent = sessions.map((session) => send(target.port, session, [session.length]));
            for (const answers of await Promise.all(sent)) assertProtocol(answers);
          }),
          { numRuns: 40, endOnFailure: true },
        ),
      { growthBytesMax: 200 * mebibyte },
    );
  });

  it('starts again with what all that has left behind', async () => {
    await target.broker.kill();
    await target.broker.start();
    assert.deepEqual(target.broker.loggedErrors, []);
  });
});
