import type { Scenario } from './scenario.js';
import { tooFew } from './too-few.js';

/** The same where one replica is enough for the cluster, and policies that come and go ask for more. */
export const tooFewOfAQueue: Scenario = {
  ...tooFew,
  name: 'too-few-of-a-queue',
  minInSync: 1,
  policies: true,
};
