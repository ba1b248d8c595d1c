/** Clients that never get as far as a connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MethodId, protocolHeader } from '../../../src/amqp091/codec/index.js';
import { defaultLimits } from '../../../src/amqp091/limits.js';
import { RawClient, startOk } from '../raw-client.js';

const { handshakeTimeoutMs } = defaultLimits;

/** A socket that is connected; what comes is thrown away. */
export async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'connect');
  return socket;
}

/** Resolves when the socket is closed, with an error or without. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}

/** Sockets that are connected. */
export async function dialMany(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  // As many at once as a listener's backlog takes.
  for (let at = 0; at < count; at += 200)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(200, count - at) }, () => dial(port)))));
  return sockets;
}

/** Clients that say nothing, half of a header, the header, or their name and no more. */
export async function halfOpen(port: number, count: number): Promise<void> {
  const sockets = await dialMany(port, count);
  const beginnings = ['', 'AMQ', protocolHeader] as const;
  sockets.forEach((socket, i) => socket.write(beginnings[i % beginnings.length]!));
  const named: RawClient[] = [];
  for (let i = 0; i < 20; i++) {
    const client = await RawClient.dial(port);
    client.sendBytes(protocolHeader);
    await client.expect(MethodId.connectionStart);
    client.send(0, startOk('guest', 'guest', {}));
    await client.expect(MethodId.connectionTune);
    named.push(client);
  }
  // A client that does not dawdle is let in all the same.
  (await RawClient.open(port)).end();
  for (const socket of sockets) socket.destroy();
  for (const client of named) client.end();
}

/**
 * Clients that send a handshake byte by byte. Resolves to a function that checks, after the handshake's time, that they were cut off.
 */
export async function slowHandshakes(port: number, count: number): Promise<() => Promise<void>> {
  const sockets = await dialMany(port, count);
  const startedAt = performance.now();
  const whole = Buffer.concat([protocolHeader, Buffer.from([1, 0, 0, 0, 0, 100, 0]), Buffer.alloc(1000)]);
  let sent = 0;
  const timer = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(whole.subarray(sent, sent + 1));
    sent++;
  }, 200);
  const ended = Promise.all(sockets.map((socket) => closing(socket))).then(() => {
    clearInterval(timer);
    return performance.now() - startedAt;
  });
  return async () => {
    const ms = await ended;
    assert.ok(ms < 10 * handshakeTimeoutMs, `they were cut off after ${ms} ms`);
  };
}

/** What is no AMQP is answered with our protocol header and a closed socket (§4.2.2). */
export async function notAmqp(port: number): Promise<void> {
  const beginnings = [
    'POST / HTTP/1.1\r\n\r\n',
    'AMQP\x01\x01\x00\x0a',
    'AMQP\x00\x01\x00\x00',
    '\x16\x03\x01\x02\x00',
    'A\n',
    '\0'.repeat(8),
  ];
  for (const beginning of beginnings) {
    const client = await RawClient.dial(port);
    client.sendBytes(Buffer.from(`${beginning}${'x'.repeat(10_000)}`, 'latin1'));
    await client.closed;
    // Of AMQP 1.0 nothing is spoken here without SASL.
    const answer = beginning.startsWith('AMQP\x00\x01')
      ? Buffer.from('AMQP\x03\x01\x00\x00')
      : Buffer.from(protocolHeader);
    assert.deepEqual(Buffer.concat(client.raw), answer);
  }
}

/** Any bytes at all. Resolves when the other end has closed each of the sockets. */
export async function garbage(port: number, count: number, next: () => number): Promise<void> {
  const sockets = await dialMany(port, count);
  await Promise.all(
    sockets.map(async (socket) => {
      socket.write(Buffer.from(Array.from({ length: 5000 }, next)));
      socket.end();
      if (!socket.closed) await closing(socket);
    }),
  );
}
