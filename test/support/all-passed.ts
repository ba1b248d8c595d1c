import { afterEach } from 'node:test';

/** To be called in a suite: returns whether all of its tests have passed so far, for what is kept after it. */
export function watchFailures(): () => boolean {
  let allPassed = true;
  // Missing in the types of the oldest Node.js that we run on, but there.
  afterEach((context) => {
    allPassed &&= (context as { passed?: boolean }).passed !== false;
  });
  return () => allPassed;
}
