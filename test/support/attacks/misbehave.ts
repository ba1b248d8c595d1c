/** Clients that say what they should not, and leave in the middle of it. */
import { connect } from 'node:net';
import fc from 'fast-check';
import { goodSession, senselessSession, spoil, spoiling } from './sessions.js';

const stayMs = 100;

/** Connects `count` of them to HOST:PORT at once; resolves when all are gone. They say the same for the same seed. */
export async function misbehave(address: string, count: number, seed: number): Promise<void> {
  const separator = address.lastIndexOf(':');
  const target = { host: address.slice(0, separator), port: Number(address.slice(separator + 1)) };
  const session = goodSession('bad');
  const spoiled = fc.sample(spoiling, { numRuns: count, seed }).map((how) => spoil(session, how));
  const senseless = fc.sample(senselessSession, { numRuns: count, seed });
  const talks = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? spoiled[i]! : senseless[i]!));
  await Promise.all(talks.map((bytes) => talk(target, bytes)));
}

function talk(target: { host: string; port: number }, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(target);
    socket.on('error', () => {});
    socket.on('data', () => {});
    socket.once('close', () => resolve());
    socket.write(bytes);
    setTimeout(() => socket.destroy(), stayMs);
  });
}
