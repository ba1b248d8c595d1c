/**
 * Who a client is: the mechanisms that it is offered, and what is asked of everybody whatever the mechanism: whether the user is there,
 * and may come from where it comes. Refusals come late, see LoginThrottle.
 */
import type { Clock } from '../base/clock.js';
import { LoginThrottle } from './login-throttle.js';
import { Passwords } from './passwords.js';
import type { Peer } from './peer.js';
import type { Person, Realm } from './realm.js';
import { anonymous } from './sasl/anonymous.js';
import type { CheckPassword, Exchange, Mechanism, Step } from './sasl/mechanism.js';
import { external } from './sasl/external.js';
import { plain } from './sasl/plain.js';
import { scramSha256 } from './sasl/scram-sha-256.js';

export interface AuthenticatorOptions {
  realm: Realm;
  clock: Clock;
  /** Names of those who may come from this machine only. */
  loopbackUsers: readonly string[];
  /** Whoever names no user is this one; '' = nobody comes so. */
  anonymousUser: string;
}

/** A refusal; `told`: what the client is told more than that, '' = nothing. */
export interface Refused {
  readonly user: string;
  readonly reason: string;
  readonly told: string;
}

export type Login = Person | Refused;

export function isRefused(login: Login): login is Refused {
  return 'reason' in login;
}

export class Authenticator {
  readonly realm: Realm;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  private readonly options: AuthenticatorOptions;
  private readonly mechanisms: Mechanism[];

  constructor(options: AuthenticatorOptions) {
    this.options = options;
    this.realm = options.realm;
    this.throttle = new LoginThrottle(options.clock);
    this.passwords = new Passwords(this.throttle);
    const find = (name: string): Person | undefined => this.realm.find(name);
    const { throttle, checkPassword } = this;
    this.mechanisms = [plain(checkPassword), scramSha256({ find, throttle }), external()];
    if (options.anonymousUser !== '') this.mechanisms.push(anonymous(options.anonymousUser));
  }

  /** For mechanisms of a protocol's own. Looks at nothing but the password. */
  readonly checkPassword: CheckPassword = (user, password, peer) =>
    this.passwords.check(this.realm.find(user), password, peer);

  /** A mechanism that only some protocol has. */
  add(mechanism: Mechanism): void {
    this.mechanisms.push(mechanism);
  }

  /** Names of the mechanisms that the client may use. */
  offered(peer: Peer): string[] {
    return this.mechanisms.filter((mechanism) => mechanism.isFor(peer)).map(({ name }) => name);
  }

  /** Undefined: there is no such mechanism, for this client. */
  begin(mechanism: string, peer: Peer): Exchange | undefined {
    return this.mechanisms.find(({ name, isFor }) => name === mechanism && isFor(peer))?.begin(peer);
  }

  /** What a step of an exchange comes to: a challenge, or an outcome, which may take its time. */
  async outcome(step: Exclude<Step, { kind: 'challenge' }>, peer: Peer): Promise<Login> {
    const login = this.judge(step, peer);
    if (isRefused(login)) await this.throttle.failed(peer.address);
    return login;
  }

  /** A name and a password, for protocols without mechanisms. */
  async logIn(user: string, password: Uint8Array, peer: Peer): Promise<Login> {
    const reason = await this.checkPassword(user, password, peer);
    return this.outcome(reason === '' ? { kind: 'user', user } : { kind: 'refused', user, reason }, peer);
  }

  private judge(step: Exclude<Step, { kind: 'challenge' }>, peer: Peer): Login {
    const { user } = step;
    if (step.kind === 'refused') return { user, reason: step.reason, told: '' };
    const person = this.realm.find(user);
    if (person === undefined) return { user, reason: 'there is no such user', told: '' };
    if (peer.isLoopback || !this.options.loopbackUsers.includes(user)) return person;
    return {
      user,
      reason: `user '${user}' can only connect via localhost`,
      told: `user '${user}' can only connect via localhost: add another user, or see the setting loopback-users`,
    };
  }
}
