import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { InputTurns } from '../../../src/base/input-turns.js';
import { PacedSocket } from '../../../src/management/paced-socket.js';

describe('PacedSocket', () => {
  const server = createServer({ allowHalfOpen: true });
  let client: Socket;
  let socket: Socket;
  let paced: PacedSocket;
  let due: (() => void)[];
  let pieces: Buffer[];

  beforeEach(async () => {
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => {});
    [socket] = (await once(server, 'connection')) as [Socket];
    due = [];
    pieces = [];
    paced = new PacedSocket(socket, new InputTurns(4096, (run) => due.push(run)));
    paced.on('data', (piece: Buffer) => pieces.push(piece));
    paced.on('error', () => {});
  });
  afterEach(() => {
    client.destroy();
    paced.destroy();
    server.unref();
  });

  async function until(holds: () => boolean): Promise<void> {
    const deadline = performance.now() + 5000;
    while (!holds()) {
      assert.ok(performance.now() < deadline, 'waited too long');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  it('hands on what comes in small pieces, each in its turn, and its end', async () => {
    const sent = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
    client.end(sent);
    let ended = false;
    paced.on('end', () => {
      ended = true;
    });
    while (!ended) {
      await until(() => due.length > 0 || ended);
      const before = pieces.length;
      for (const run of due.splice(0)) run();
      assert.ok(pieces.length - before <= 1, 'one piece of one socket a turn');
    }
    assert.ok(pieces.every((piece) => piece.length <= 1024));
    assert.deepEqual(Buffer.concat(pieces), sent);
  });

  it('hands on nothing that nobody wants', async () => {
    paced.pause();
    client.write(Buffer.alloc(200_000));
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (let turn = 0; turn < 1000; turn++) for (const run of due.splice(0)) run();
    assert.ok(paced.readableLength <= 20_000 && pieces.length === 0, `${paced.readableLength} bytes`);
    paced.resume();
    await until(() => {
      for (const run of due.splice(0)) run();
      return pieces.reduce((sum, piece) => sum + piece.length, 0) === 200_000;
    });
  });

  it('passes on what is written, and its end', async () => {
    const got: Buffer[] = [];
    client.on('data', (bytes) => got.push(bytes));
    paced.end('hello');
    await once(client, 'end');
    assert.equal(Buffer.concat(got).toString(), 'hello');
    await until(() => socket.destroyed);
  });

  it('is gone with its socket, and its socket with it', async () => {
    client.resetAndDestroy();
    await until(() => paced.destroyed);
    assert.ok(socket.destroyed);
  });

  it('tells when nothing has come for a while', async () => {
    paced.setTimeout(20);
    await once(paced, 'timeout');
    assert.equal(paced.remoteAddress, '127.0.0.1');
  });
});
