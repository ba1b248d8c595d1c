/**
 * SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding: the password never crosses the network, and the client learns that the
 * broker knows it.
 *
 *   client  n,,n=USER,r=NONCE
 *   broker  r=NONCE+OURS,s=SALT,i=ITERATIONS
 *   client  c=biws,r=NONCE+OURS,p=PROOF
 *   broker  v=SIGNATURE
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { textOrUndefined } from '../../wire/utf8.js';
import type { LoginThrottle } from '../login-throttle.js';
import type { Peer } from '../peer.js';
import type { Person } from '../realm.js';
import { hmac, makeScramKeys, parseScramKeys, type ScramKeys, scramIterations, sha256 } from '../scram-keys.js';
import { type Exchange, type Mechanism, refused, type Step } from './mechanism.js';

const nonceBytes = 18;
const messageBytesMax = 4096;
const senseless = 'the response makes no sense';

export interface ScramOptions {
  find(user: string): Person | undefined;
  throttle: LoginThrottle;
}

export function scramSha256(options: ScramOptions): Mechanism {
  // Users that are not there have a salt too, always the same.
  const secret = randomBytes(32);
  return { name: 'SCRAM-SHA-256', isFor: () => true, begin: (peer) => new ScramExchange(options, secret, peer) };
}

class ScramExchange implements Exchange {
  private readonly options: ScramOptions;
  private readonly secret: Buffer;
  private readonly peer: Peer;
  private user = '';
  private keys: ScramKeys | undefined;
  private header = '';
  private nonce = '';
  /** The messages so far, as the proof is about them; '' before the first. */
  private messages = '';

  constructor(options: ScramOptions, secret: Buffer, peer: Peer) {
    this.options = options;
    this.secret = secret;
    this.peer = peer;
  }

  async next(response: Uint8Array): Promise<Step> {
    const text = response.length > messageBytesMax ? undefined : textOrUndefined(response, 0, response.length);
    if (text === undefined) return refused(this.user, senseless);
    return this.messages === '' ? this.first(text) : this.final(text);
  }

  private async first(text: string): Promise<Step> {
    const match = /^([ny],(?:a=[^,]*)?,)(n=([^,]+),r=([!-+\--~]+))(?:,.*)?$/s.exec(text);
    if (match === null) return refused('', text.startsWith('p=') ? 'there is no channel binding' : senseless);
    const user = readName(match[3]!);
    if (user === undefined) return refused('', senseless);
    this.header = match[1]!;
    this.user = user;
    this.keys = await this.keysOf(this.options.find(user));
    const { salt, iterations } = this.keys ?? this.nobodysKeys();
    this.nonce = `${match[4]!}${randomBytes(nonceBytes).toString('base64')}`;
    const challenge = `r=${this.nonce},s=${salt.toString('base64')},i=${iterations}`;
    this.messages = `${text.slice(this.header.length)},${challenge}`;
    return { kind: 'challenge', challenge: Buffer.from(challenge) };
  }

  private async final(text: string): Promise<Step> {
    const { user, keys, options } = this;
    const match = /^(c=([A-Za-z0-9+/=]+),r=([!-+\--~]+)(?:,[^p].*?)?),p=([A-Za-z0-9+/=]+)$/s.exec(text);
    if (match === null) return refused(user, senseless);
    if (!(await options.throttle.turn(this.peer.address)))
      return refused(user, 'too many logins from this address have failed; it is not looked at');
    const [, withoutProof, binding, nonce, proof] = match as unknown as [string, string, string, string, string];
    if (nonce !== this.nonce || Buffer.from(binding, 'base64').toString('latin1') !== this.header)
      return refused(user, senseless);
    if (keys === undefined)
      return refused(
        user,
        options.find(user) === undefined
          ? 'there is no such user'
          : 'it has no keys for SCRAM-SHA-256: its password must be set anew',
      );
    const message = `${this.messages},${withoutProof}`;
    const signature = hmac(keys.storedKey, message);
    const given = Buffer.from(proof, 'base64');
    if (given.length !== signature.length) return refused(user, senseless);
    const clientKey = given.map((byte, index) => byte ^ signature[index]!);
    if (!timingSafeEqual(sha256(clientKey), keys.storedKey)) return refused(user, 'wrong password');
    return { kind: 'user', user, last: Buffer.from(`v=${hmac(keys.serverKey, message).toString('base64')}`) };
  }

  private async keysOf(person: Person | undefined): Promise<ScramKeys | undefined> {
    if (person === undefined) return undefined;
    const { proof } = person;
    return 'password' in proof ? makeScramKeys(Buffer.from(proof.password, 'utf8')) : parseScramKeys(proof.scram);
  }

  private nobodysKeys(): Pick<ScramKeys, 'salt' | 'iterations'> {
    return { salt: hmac(this.secret, this.user).subarray(0, 16), iterations: scramIterations };
  }
}

/** Commas and equals signs in names are written `=2C` and `=3D`; undefined if another `=` is there. */
function readName(written: string): string | undefined {
  if (/=(?!2C|3D)/.test(written)) return undefined;
  return written.replaceAll('=2C', ',').replaceAll('=3D', '=');
}
