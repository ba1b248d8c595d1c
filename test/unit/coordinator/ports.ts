/** The machine's own clock and randomness. */
import { randomBytes, randomInt } from 'node:crypto';
import type { Clock } from '../../../src/base/clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import type { Random } from '../../../src/base/random.js';
import { LocalCoordinator } from '../../../src/cluster/coordinator/local.js';

export const realClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  every(periodMs, run) {
    const timer = setInterval(run, periodMs);
    return { cancel: () => clearInterval(timer) };
  },
};

export const realRandom: Random = {
  float: () => Math.random(),
  int: (below) => randomInt(below),
  hex: (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length),
};

export function openLocal(
  folder: string,
  random: Random = realRandom,
  generationVersions: number = 128,
): Promise<LocalCoordinator> {
  return LocalCoordinator.open({ folder, clock: realClock, random, logger: silentLogger, generationVersions });
}
