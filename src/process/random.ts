import { randomBytes, randomInt } from 'node:crypto';
import type { Random } from '../base/random.js';

/** The process's source of randomness. */
export const processRandom: Random = {
  float: () => randomInt(2 ** 47) / 2 ** 47,
  int: (below) => randomInt(below),
  hex: (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length),
};
