import type { Mechanism } from './mechanism.js';

/** RFC 4422, appendix A: whoever has shown a certificate is the user whose name it has. What the client says beside it counts for nothing. */
export function external(): Mechanism {
  return {
    name: 'EXTERNAL',
    isFor: ({ certificateName }) => certificateName !== undefined,
    begin: ({ certificateName }) => ({ next: () => Promise.resolve({ kind: 'user', user: certificateName ?? '' }) }),
  };
}
