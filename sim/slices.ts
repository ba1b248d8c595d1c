import type { Slices } from '../src/base/slices.js';
import type { SimRandom } from './random.js';

const smallMax = 3;
const turnMsMax = 6;

/**
 * Slices of one to three steps, with up to some milliseconds between them: what a large cluster does over many turns, and everything
 * that may happen meanwhile, at the size of a simulated one.
 * @param after runs something some milliseconds later
 */
export function smallSlices(random: SimRandom, after: (delayMs: number, run: () => void) => void): Slices {
  return {
    // Mostly at once, as it is in a process that has nothing else to do.
    later: (run) => after(random.float() ** 3 * turnMsMax, run),
    size: (most) => Math.min(most, 1 + random.int(smallMax)),
  };
}
