import { createHash, timingSafeEqual } from 'node:crypto';

/** Where a login comes from; an authenticator may refuse by it. */
export interface LoginOrigin {
  /** Address of the client, without the port. */
  peerAddress: string;
  /** SASL mechanism, as the client named it. */
  mechanism: string;
}

/** Decides who may connect. Permissions on vhosts and queues are another matter. */
export interface Authenticator {
  /** Resolves to whether the password is this user's. Rejects only if that cannot be found out. */
  authenticate(user: string, password: Uint8Array, origin: LoginOrigin): Promise<boolean>;
  /** Resolves to whether there is such a user, who has proved who it is otherwise: by a certificate. */
  recognize(user: string, origin: LoginOrigin): Promise<boolean>;
}

/** Users from a plain map of names to passwords. */
export class StaticAuthenticator implements Authenticator {
  private readonly digests: Map<string, Buffer> = new Map();
  /** Compared with when there is no such user, so that the time taken does not tell. */
  private readonly nobody: Buffer = sha256('');

  /** @param users passwords by user name. */
  constructor(users: ReadonlyMap<string, string> = new Map([['guest', 'guest']])) {
    for (const [user, password] of users) this.digests.set(user, sha256(password));
  }

  authenticate(user: string, password: Uint8Array, _origin: LoginOrigin): Promise<boolean> {
    const expected = this.digests.get(user);
    const same = timingSafeEqual(sha256(password), expected ?? this.nobody);
    return Promise.resolve(same && expected !== undefined);
  }

  recognize(user: string, _origin: LoginOrigin): Promise<boolean> {
    return Promise.resolve(this.digests.has(user));
  }
}

/** Digests have one length, which a constant-time comparison needs and passwords lack. */
function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}
