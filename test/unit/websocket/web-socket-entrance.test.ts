import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { WebSocket } from 'ws';
import { silentLogger } from '../../../src/base/logger.js';
import { WebSocketEntrance } from '../../../src/websocket/web-socket-entrance.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { openWebSocket } from '../../support/web-sockets.js';
import { within } from '../../support/within.js';

const limits = {
  handshakesMax: 2,
  handshakeTimeoutMs: 1_000,
  headBytesMax: 2_000,
  messageBytesMax: 1_000_000,
  allHeldBytesMax: 3_000_000,
};
const patienceMs = 10_000;

describe('a client over WebSocket', () => {
  let clock: ManualClock;
  let entrance: WebSocketEntrance<string>;
  let server: Server;
  let port: number;
  let entered: Promise<Socket>;

  beforeEach(async () => {
    clock = new ManualClock();
    entered = new Promise((resolve) => {
      const options = { clock, logger: silentLogger, origins: [], limits };
      entrance = new WebSocketEntrance({ ...options, entered: (socket) => resolve(socket.on('error', () => {})) });
    });
    server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (first) => {
        if (entrance.speaks(first)) entrance.take(socket, '', '', first);
        else socket.destroy();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });

  afterEach(() => {
    entrance.close();
    server.close();
  });

  async function both(): Promise<{ client: WebSocket; socket: Socket }> {
    const client = await openWebSocket({ at: port });
    client.on('error', () => {});
    return { client, socket: await within(patienceMs, 'it is in', entered) };
  }

  /** All that comes, as long as it is read. */
  function gather(socket: Socket): { bytes: number; pieces: number[] } {
    const got = { bytes: 0, pieces: [] as number[] };
    socket.on('data', (piece: Buffer) => {
      got.bytes += piece.length;
      got.pieces.push(piece.length);
    });
    return got;
  }

  async function until(isSo: () => boolean): Promise<void> {
    for (const end = performance.now() + patienceMs; !isSo(); ) {
      assert.ok(performance.now() < end, 'not in time');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  it('has its messages handed on in pieces, and in no more than was asked for', async () => {
    const { client, socket } = await both();
    const got = gather(socket);
    socket.on('data', () => socket.pause());
    client.send(Buffer.alloc(200_000));
    client.send(Buffer.alloc(3));
    for (let i = 1; i <= 5; i++) {
      await until(() => got.pieces.length === i);
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(got.pieces.length, i, 'it is paused');
      socket.resume();
    }
    assert.deepEqual(got.pieces, [65_536, 65_536, 65_536, 3_392, 3]);
    client.terminate();
  });

  it('is not read while it is paused', async () => {
    const { client, socket } = await both();
    const got = gather(socket);
    socket.pause();
    for (let i = 0; i < 200; i++) client.send(Buffer.alloc(500_000));
    // 100 MB: what is not read stays with the client.
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(client.bufferedAmount > 50_000_000, `${client.bufferedAmount}`);
    assert.equal(got.bytes, 0);
    socket.resume();
    await until(() => got.bytes === 100_000_000);
    client.terminate();
  });

  it('that does not read shows by what waits for it, and pings are not answered then', async () => {
    const { client, socket } = await both();
    let pongs = 0;
    client.on('pong', () => pongs++);
    client.pause();
    let written = 0;
    for (let i = 0; i < 100; i++) socket.write(Buffer.alloc(1_000_000), () => written++);
    assert.ok(socket.writableLength > 10_000_000);
    for (let i = 0; i < 100; i++) client.ping();
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.resume();
    await until(() => written === 100);
    assert.ok(pongs < 100);
    assert.equal(socket.writableLength, 0);
    client.terminate();
  });

  it('whose message is too large is ended: 1009', async () => {
    const { client, socket } = await both();
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    const ended = new Promise((resolve) => socket.once('close', resolve));
    client.send(Buffer.alloc(1_000_001));
    const [code] = (await within(patienceMs, 'closed', once(client, 'close'))) as [number];
    assert.equal(code, 1009);
    await within(patienceMs, 'closed here', ended);
    assert.equal(errors.length, 1);
  });

  it('that holds the most of what has come in part goes when all hold too much', async () => {
    const clients: WebSocket[] = [];
    const closed: number[] = [];
    for (let i = 0; i < 5; i++) {
      const client = await openWebSocket({ at: port });
      client.on('error', () => {});
      client.on('close', () => closed.push(i));
      clients.push(client);
    }
    // Less than a message: its last fragment never comes.
    for (let i = 0; i < 3; i++) clients[i]!.send(Buffer.alloc(900_000), { fin: false });
    clients[3]!.send(Buffer.alloc(200_000), { fin: false });
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(closed, []);
    clients[4]!.send(Buffer.alloc(800_000), { fin: false });
    await until(() => closed.length === 1);
    assert.ok(closed[0]! < 3);
    for (const client of clients) client.terminate();
    await until(() => closed.length === 5);
  });

  it('is told when the connection ends', async () => {
    const { client, socket } = await both();
    socket.write(Buffer.from('last'), () => {});
    socket.end();
    assert.equal(socket.writable, false);
    const [said] = (await once(client, 'message')) as [Buffer];
    assert.equal(said.toString(), 'last');
    const [code] = (await within(patienceMs, 'closed', once(client, 'close'))) as [number];
    assert.equal(code, 1000);
  });

  it('that does not get through with HTTP is dropped in time', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /amqp HTTP/1.1\r\n');
    await until(() => entrance.connectionCount === 1);
    clock.advance(limits.handshakeTimeoutMs);
    await within(patienceMs, 'dropped', once(socket, 'close'));
    await until(() => entrance.connectionCount === 0);
  });

  it('that does not get through goes when there are too many', async () => {
    const sockets = [1, 2, 3].map(() => connect(port, '127.0.0.1'));
    for (const socket of sockets) {
      socket.write('GET /amqp HTTP/1.1\r\n');
      await once(socket, 'connect');
    }
    await within(patienceMs, 'the oldest is dropped', once(sockets[0]!, 'close'));
    assert.equal(entrance.connectionCount, 2);
    for (const socket of sockets) socket.destroy();
  });

  it('with a head beyond all measure is turned away', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /amqp HTTP/1.1\r\nX: ${'x'.repeat(5_000)}\r\n\r\n`);
    const [said] = (await within(patienceMs, 'an answer', once(socket, 'data'))) as [Buffer];
    assert.match(said.toString(), /^HTTP\/1\.1 431/);
    socket.destroy();
  });
});
