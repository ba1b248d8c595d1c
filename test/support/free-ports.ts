import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Each kind of process takes its ports from a range of its own, below those that the system gives to outgoing connections. */
const rangePorts = 2000;
const attemptsMax = 200;

/** `count` ports next to each other, from 127.0.0.1:`first` on, that nobody listens on. Rejects if none are found. */
export async function freePorts(first: number, count: number): Promise<number[]> {
  let reason = '';
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const from = first + randomInt(Math.floor(rangePorts / count)) * count;
    const candidates = Array.from({ length: count }, (_, i) => from + i);
    const refusals = (await Promise.all(candidates.map(refusal))).filter((text) => text !== '');
    if (refusals.length === 0) return candidates;
    reason = refusals[0]!;
  }
  throw new Error(
    `no ${count} free ports in a row from ${first} to ${first + rangePorts - 1} in ${attemptsMax} attempts, the last: ${reason}`,
  );
}

/** Why nobody could listen there; '' if one can. */
function refusal(port: number): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve('')));
  });
}
