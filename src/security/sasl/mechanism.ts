/**
 * SASL (RFC 4422), as all protocols use it: a mechanism gets what is known of the connection, then each response of the client, and says
 * who the client is, or what it is asked next. A file for each.
 */
import type { Peer } from '../peer.js';

export type Step =
  | { readonly kind: 'challenge'; readonly challenge: Uint8Array }
  /** `last`: what the client is to hear, in protocols that can tell it with the outcome; else as a challenge whose response is empty. */
  | { readonly kind: 'user'; readonly user: string; readonly last?: Uint8Array }
  /** `user`: as the client says, '' if it did not get so far; `reason`: for the log. */
  | { readonly kind: 'refused'; readonly user: string; readonly reason: string };

/** One login. */
export interface Exchange {
  /** Takes the client's (first or next) response. Never called again before it has resolved, nor after a user or a refusal. */
  next(response: Uint8Array): Promise<Step>;
}

export interface Mechanism {
  readonly name: string;
  /** Whether it is offered to this client. */
  isFor(peer: Peer): boolean;
  begin(peer: Peer): Exchange;
}

export function refused(user: string, reason: string): Step {
  return { kind: 'refused', user, reason };
}

/** Looks at a name and a password; '' or why not. */
export type CheckPassword = (user: string, password: Uint8Array, peer: Peer) => Promise<string>;

/** A mechanism whose first response is a name and a password. @param read undefined: the response makes no sense */
export function passwordMechanism(
  name: string,
  read: (response: Uint8Array) => { user: string; password: Uint8Array } | undefined,
  check: CheckPassword,
): Mechanism {
  return {
    name,
    isFor: () => true,
    begin: (peer) => ({
      async next(response) {
        const credentials = read(response);
        if (credentials === undefined) return refused('', 'the response makes no sense');
        const { user, password } = credentials;
        const reason = await check(user, password, peer);
        return reason === '' ? { kind: 'user', user } : refused(user, reason);
      },
    }),
  };
}
