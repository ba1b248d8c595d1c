/** The SASL part of a connection (§5.3): mechanisms, init, as many challenges as the mechanism takes, outcome. */
import { type Authenticator, isRefused, type Login } from '../security/authenticator.js';
import type { Peer } from '../security/peer.js';
import type { Exchange, Step } from '../security/sasl/mechanism.js';
import {
  AmqpError,
  Condition,
  SaslChallenge,
  SaslMechanisms,
  SaslOutcome,
  type SaslPerformative,
} from './codec/index.js';
import { Descriptor } from './codec/index.js';

/** §5.3.3.6 */
const Code = { ok: 0, auth: 1 } as const;

/** Of other protocols. */
const notHere: ReadonlySet<string> = new Set(['AMQPLAIN']);
const anonymous = 'ANONYMOUS';

export interface SaslHost {
  sendSasl(body: SaslMechanisms | SaslChallenge | SaslOutcome): void;
  /** While credentials are looked up, no frame is handled. */
  pauseParser(): void;
  resumeParser(): void;
  /** The client is known; in the SASL layer its outcome is out. */
  authenticated(user: string, mechanism: string): void;
  /** It is not; in the SASL layer its outcome is out. */
  refused(user: string, reason: string): void;
}

export class SaslLayer {
  private readonly host: SaslHost;
  private readonly authenticator: Authenticator;
  private readonly peer: Peer;
  private exchange: Exchange | undefined;
  private mechanism = '';
  private isOver = false;
  /** The client speaks without this layer: nothing of it is sent. */
  private isBare = false;

  constructor(host: SaslHost, authenticator: Authenticator, peer: Peer) {
    this.host = host;
    this.authenticator = authenticator;
    this.peer = peer;
  }

  private get offered(): string[] {
    return this.authenticator.offered(this.peer).filter((name) => !notHere.has(name));
  }

  begin(): void {
    const mechanisms = new SaslMechanisms();
    mechanisms.saslServerMechanisms = this.offered;
    this.host.sendSasl(mechanisms);
  }

  /** The client comes without SASL: it is nobody in particular, if that is allowed. @returns false if it is not */
  beginBare(): boolean {
    if (!this.offered.includes(anonymous)) return false;
    this.isBare = true;
    this.mechanism = anonymous;
    this.exchange = this.authenticator.begin(anonymous, this.peer);
    this.respond(new Uint8Array(0));
    return true;
  }

  /** Throws AmqpError for a frame that is not due. */
  frame(body: SaslPerformative): void {
    if (body.descriptor === Descriptor.saslInit && this.mechanism === '') {
      const { mechanism, initialResponse } = body;
      this.mechanism = mechanism;
      this.exchange = this.offered.includes(mechanism) ? this.authenticator.begin(mechanism, this.peer) : undefined;
      if (this.exchange === undefined) this.refuse('', `unknown authentication mechanism '${mechanism}'`);
      else this.respond(initialResponse ?? new Uint8Array(0));
    } else if (body.descriptor === Descriptor.saslResponse && this.exchange !== undefined) {
      this.respond(body.response);
    } else throw new AmqpError(Condition.illegalState, 'a SASL frame that is not due');
  }

  /** The connection is over. */
  end(): void {
    this.isOver = true;
  }

  /** The parser waits meanwhile. */
  private respond(response: Uint8Array): void {
    this.host.pauseParser();
    this.exchange!.next(response)
      .then((step) => this.goOn(step))
      .catch((error: unknown) => this.refuse('', String(error)))
      .finally(() => this.host.resumeParser());
  }

  private async goOn(step: Step): Promise<void> {
    if (step.kind === 'challenge') {
      if (this.isOver) return;
      const challenge = new SaslChallenge();
      challenge.challenge = step.challenge;
      this.host.sendSasl(challenge);
      return;
    }
    const login = await this.authenticator.outcome(step, this.peer);
    this.settle(login, step.kind === 'user' ? step.last : undefined);
  }

  private settle(login: Login, last: Uint8Array | undefined): void {
    if (this.isOver) return;
    if (isRefused(login)) return this.refuse(login.user, login.reason);
    this.isOver = true;
    this.outcome(Code.ok, last);
    this.host.authenticated(login.name, this.mechanism);
  }

  private refuse(user: string, reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.outcome(Code.auth, undefined);
    this.host.refused(user, reason);
  }

  private outcome(code: number, additionalData: Uint8Array | undefined): void {
    if (this.isBare) return;
    const outcome = new SaslOutcome();
    outcome.code = code;
    outcome.additionalData = additionalData;
    this.host.sendSasl(outcome);
  }
}
