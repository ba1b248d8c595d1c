import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Each kind of process takes its ports from a range of its own, below those that the system gives to outgoing connections. */
const rangePorts = 2000;

/** `count` ports next to each other, from 127.0.0.1:`first` on, that nobody listens on. */
export async function freePorts(first: number, count: number): Promise<number[]> {
  for (;;) {
    const from = first + randomInt(Math.floor(rangePorts / count)) * count;
    const candidates = Array.from({ length: count }, (_, i) => from + i);
    if ((await Promise.all(candidates.map(isFree))).every(Boolean)) return candidates;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
