/**
 * Whether a password is a user's. The first time costs a thread of the pool some 50 ms; after that it is known by a keyed digest, in
 * memory only, until the password changes. The same question from several clients at once is one question.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Hashing } from '../model/access/objects.js';
import type { LoginThrottle } from './login-throttle.js';
import { BusyError, OneAtATime } from './one-at-a-time.js';
import { hashPassword, isPassword } from './password-hash.js';
import type { Peer } from './peer.js';
import type { Person } from './realm.js';
import { formatScramKeys, makeScramKeys, sha256 } from './scram-keys.js';

/** Passwords that are known to be right; the one goes that has been there longest. */
const knownMax = 10_000;
/** Hashes that wait for each other: more than a client waits for. */
const waitingMax = 150;

/** What of a user goes with its password. */
export interface Credentials {
  readonly hashing: Hashing;
  readonly hash: string;
  readonly scram: string;
}

/** '' = right. */
export type Verdict = '' | string;

export class Passwords {
  private readonly throttle: LoginThrottle;
  private readonly key = randomBytes(32);
  private readonly known = new Set<string>();
  private readonly asked = new Map<string, Promise<boolean>>();
  private readonly line = new OneAtATime(waitingMax);
  /** Compared with when there is no such user, so that the time taken does not tell. */
  private nobody: string | undefined;

  constructor(throttle: LoginThrottle) {
    this.throttle = throttle;
  }

  /** Resolves to '' or to why not, for the log. @param person undefined: there is nobody of that name */
  async check(person: Person | undefined, password: Uint8Array, peer: Peer): Promise<Verdict> {
    const id = this.idOf(person, password);
    if (this.known.has(id)) return '';
    if (!(await this.throttle.turn(peer.address)))
      return 'too many logins from this address have failed; it is not looked at';
    let asked = this.asked.get(id);
    if (asked === undefined) {
      asked = this.verify(person, password).finally(() => this.asked.delete(id));
      this.asked.set(id, asked);
    }
    try {
      if (!(await asked)) return person === undefined ? 'there is no such user' : 'wrong password';
    } catch (error) {
      if (error instanceof BusyError) return 'too many logins at once; try again later';
      throw error;
    }
    this.remember(id);
    return '';
  }

  /** What is kept of a new password. Rejects with BusyError. */
  credentials(password: string): Promise<Credentials> {
    const bytes = Buffer.from(password, 'utf8');
    return this.line.run(async () => {
      const hash = await hashPassword(bytes);
      const scram = formatScramKeys(await makeScramKeys(bytes));
      return { hashing: Hashing.scrypt, hash, scram };
    });
  }

  private async verify(person: Person | undefined, password: Uint8Array): Promise<boolean> {
    if (person === undefined) {
      await this.line.run(async () => {
        this.nobody ??= await hashPassword(randomBytes(16));
        return isPassword(password, Hashing.scrypt, this.nobody);
      });
      return false;
    }
    const { proof } = person;
    if ('password' in proof) return timingSafeEqual(sha256(proof.password), sha256(password));
    if (proof.hash === '') return false;
    return this.line.run(() => isPassword(password, proof.hashing, proof.hash));
  }

  private remember(id: string): void {
    this.known.add(id);
    if (this.known.size <= knownMax) return;
    for (const oldest of this.known) {
      this.known.delete(oldest);
      break;
    }
  }

  /** Nothing is told by it to whoever has no key, and a new password is another one. */
  private idOf(person: Person | undefined, password: Uint8Array): string {
    const digest = createHmac('sha256', this.key);
    const proof = person?.proof;
    const hash = proof === undefined ? '' : 'password' in proof ? `=${proof.password}` : proof.hash;
    digest.update(JSON.stringify([person?.name ?? null, hash])).update(password);
    return digest.digest('base64');
  }
}
