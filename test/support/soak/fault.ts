/** Something that happens to a cluster in a soak. */
import type { Seeded } from '../seeded.js';

/** Times in milliseconds. */
export interface Fault {
  what: string;
  /** It may only begin when every group has its replicas: else it takes away what was confirmed. */
  needsAll?: true;
  /** Resolves when all brokers run and all links are whole again. */
  run(): Promise<void>;
}

/** Mostly short, sometimes longer than a lease. */
export function drawTime(random: Seeded): number {
  return random.int(random.chance(30) ? 6000 : 1500);
}
