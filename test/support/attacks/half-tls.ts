/** Clients that begin TLS and stop somewhere in its handshake. */
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { dialMany } from './sockets.js';

/** What a client says first: its whole hello. */
function hello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const heard = new Duplex({
      read() {},
      write(bytes: Buffer, _encoding, done) {
        resolve(bytes);
        done();
      },
    });
    connect({ socket: heard, host: '127.0.0.1' }).on('error', () => {});
  });
}

/**
 * `count` sockets that say nothing, a part of a hello, or all of it, all in one moment, and then no more. Resolves to a function that ends them, and
 * returns how many the broker has ended by then.
 */
export async function stopInTheMiddle(port: number, count: number): Promise<() => number> {
  const whole = await hello();
  const said = [whole.subarray(0, 0), whole.subarray(0, 3), whole.subarray(0, whole.length >> 1), whole, whole];
  const sockets = await dialMany(port, count);
  sockets.forEach((socket, i) => socket.write(said[i % said.length]!));
  return () => {
    const ended = sockets.filter((socket) => socket.destroyed).length;
    for (const socket of sockets) socket.destroy();
    return ended;
  };
}
