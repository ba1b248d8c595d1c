import type { Mechanism } from './mechanism.js';

/** RFC 4505: whoever asks is the user that the operator has named for that. */
export function anonymous(user: string): Mechanism {
  return {
    name: 'ANONYMOUS',
    isFor: () => true,
    begin: () => ({ next: () => Promise.resolve({ kind: 'user', user }) }),
  };
}
