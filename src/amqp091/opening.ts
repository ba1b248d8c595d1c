/** The opening of a connection (§2.2.4): start-ok, as many secure-ok as the mechanism takes, tune-ok, open, in this order and nothing else. */
import { type Admission, AdmissionState } from '../model/admission.js';
import type { Arguments } from '../model/broker.js';
import { type Authenticator, isRefused, type Login } from '../security/authenticator.js';
import type { Occupancy } from '../security/occupancy.js';
import type { Peer } from '../security/peer.js';
import { Permissions } from '../security/permissions.js';
import { Tag } from '../security/realm.js';
import type { Exchange, Step as SaslStep } from '../security/sasl/mechanism.js';
import {
  type ConnectionOpen,
  ConnectionOpenOk,
  ConnectionSecure,
  type ConnectionSecureOk,
  type ConnectionStartOk,
  type ConnectionTuneOk,
  type Method,
  MethodId,
  methodName,
  ProtocolError,
  ReplyCode,
} from './codec/index.js';
import { type ClientTraits, clientTraits } from './client-traits.js';
import { negotiate, startMethod, type Tuning, tuneMethod } from './handshake.js';
import type { Product } from './product.js';
import type { Limits } from './limits.js';

/** The client property by which an operator is known. */
const operatorProperty = 'understudy.operator';

/** What is due next. */
export const Step = {
  protocolHeader: 'starting',
  startOk: 'started',
  authentication: 'securing',
  secureOk: 'challenged',
  tuneOk: 'tuning',
  open: 'opening',
  admission: 'waiting for a primary',
  done: 'running',
  over: 'closed',
} as const;
export type Step = (typeof Step)[keyof typeof Step];

/** What the opening needs of its connection. */
export interface OpeningHost {
  send(method: Method): void;
  /** Counts and logs it, and ends the connection: with connection.close, or without a word. */
  loginRefused(user: string, reason: string, told: ProtocolError | undefined): void;
  /** While credentials are looked up, no frame is handled. */
  pauseParser(): void;
  resumeParser(): void;
  tuned(tuning: Tuning): void;
  /** The client is served by another node, or by none now. */
  turnAway(): void;
  /** `admit` is to be called when the admission has changed, and `turnAway` if that takes too long. */
  awaitAdmission(): void;
  opened(): void;
}

export interface OpeningContext {
  authenticator: Authenticator;
  occupancy: Occupancy;
  limits: Limits;
  product: Product;
  admission: Admission;
  hasVhost(name: string): boolean;
  peer: Peer;
}

export class Opening {
  step: Step = Step.protocolHeader;
  /** '' until authenticated. */
  user = '';
  mechanism = '';
  vhost = '';
  clientProperties: Arguments = {};
  traits: ClientTraits;
  tuning: Tuning;
  private readonly host: OpeningHost;
  private readonly context: OpeningContext;
  private exchange: Exchange | undefined;
  /** The client is known, and is only to hear what its mechanism says in the end. */
  private settled: Login | undefined;
  /** Counted as one of its user and vhost. */
  private entered = false;
  /** Defined once a vhost is open. */
  permissions: Permissions | undefined;

  constructor(host: OpeningHost, context: OpeningContext) {
    this.host = host;
    this.context = context;
    this.traits = clientTraits({}, context.product);
    const { channelMax, frameMax, heartbeatSeconds } = context.limits;
    this.tuning = { channelMax, frameMax, heartbeatSeconds };
  }

  /** The client speaks our protocol. */
  begin(): void {
    const { product, authenticator, admission, peer } = this.context;
    this.step = Step.startOk;
    const addresses = admission.addresses(isSecure(peer));
    this.host.send(startMethod(product, authenticator.offered(peer), addresses));
  }

  /** Throws ProtocolError 503 for a method that is not due. */
  method(method: Method): void {
    if (method.id === MethodId.connectionStartOk && this.step === Step.startOk) this.startOk(method);
    else if (method.id === MethodId.connectionSecureOk && this.step === Step.secureOk) this.secureOk(method);
    else if (method.id === MethodId.connectionTuneOk && this.step === Step.tuneOk) this.tuneOk(method);
    else if (method.id === MethodId.connectionOpen && this.step === Step.open) this.open(method);
    else {
      const text = `${methodName(method.id)} is not due now, the connection is ${this.step}`;
      throw new ProtocolError(ReplyCode.commandInvalid, text, method.id);
    }
  }

  private startOk(method: ConnectionStartOk): void {
    const { mechanism, response } = method;
    this.clientProperties = method.clientProperties;
    this.traits = clientTraits(this.clientProperties, this.context.product);
    this.mechanism = mechanism;
    this.exchange = this.context.authenticator.begin(mechanism, this.context.peer);
    if (this.exchange === undefined) {
      const text = `unknown authentication mechanism '${mechanism}'`;
      throw new ProtocolError(ReplyCode.commandInvalid, text, method.id);
    }
    this.respond(response);
  }

  private secureOk({ response }: ConnectionSecureOk): void {
    if (this.settled === undefined) this.respond(response);
    else this.authenticated(this.settled);
  }

  /** The parser waits meanwhile. */
  private respond(response: Uint8Array): void {
    this.step = Step.authentication;
    this.host.pauseParser();
    this.exchange!.next(response.slice())
      .then((step) => this.goOn(step))
      .catch((error: unknown) => this.refuseLogin('', String(error), ''))
      .finally(() => this.host.resumeParser());
  }

  private async goOn(step: SaslStep): Promise<void> {
    if (step.kind === 'challenge') return this.challenge(step.challenge);
    const login = await this.context.authenticator.outcome(step, this.context.peer);
    if (step.kind === 'refused' || step.last === undefined || isRefused(login)) return this.authenticated(login);
    this.settled = login;
    this.challenge(step.last);
  }

  private challenge(challenge: Uint8Array): void {
    if (this.step === Step.over) return;
    this.step = Step.secureOk;
    this.host.send(new ConnectionSecure(challenge));
  }

  private authenticated(login: Login): void {
    if (isRefused(login)) {
      this.refuseLogin(login.user, login.reason, login.told);
      return;
    }
    if (this.step === Step.over) return;
    this.user = login.name;
    this.step = Step.tuneOk;
    this.host.send(tuneMethod(this.context.limits));
  }

  /** Clients that know authentication_failure_close are told; to others a lost socket is the sign (as before 0-9-1). */
  private refuseLogin(user: string, reason: string, told: string): void {
    const details = told === '' ? 'For details see the broker logfile.' : told;
    const text = `Login was refused using authentication mechanism ${this.mechanism}. ${details}`;
    const error = new ProtocolError(ReplyCode.accessRefused, text);
    const isTold = this.traits.authenticationFailureClose;
    this.host.loginRefused(user, reason, isTold ? error : undefined);
  }

  private tuneOk(method: ConnectionTuneOk): void {
    this.tuning = negotiate(method, this.context.limits);
    this.step = Step.open;
    this.host.tuned(this.tuning);
  }

  private open(method: ConnectionOpen): void {
    const { virtualHost } = method;
    const { authenticator, occupancy } = this.context;
    if (!this.context.hasVhost(virtualHost))
      throw new ProtocolError(ReplyCode.notAllowed, `vhost ${virtualHost} not found`, method.id);
    if (!authenticator.realm.mayEnter(this.user, virtualHost)) {
      const text = `access to vhost '${virtualHost}' refused for user '${this.user}'`;
      throw new ProtocolError(ReplyCode.notAllowed, text, method.id);
    }
    if (this.isOperator && !authenticator.realm.hasTag(this.user, Tag.administrator)) {
      const text = `'${operatorProperty}' is for users with the tag administrator, which user '${this.user}' has not`;
      throw new ProtocolError(ReplyCode.accessRefused, text, method.id);
    }
    const full = occupancy.enter(this.user, virtualHost);
    if (full !== '') throw new ProtocolError(ReplyCode.notAllowed, full, method.id);
    this.entered = true;
    this.vhost = virtualHost;
    this.permissions = new Permissions(authenticator.realm, this.user, virtualHost);
    this.step = Step.admission;
    this.admit();
    if (this.isAdmitted || this.context.admission.state === AdmissionState.standby) return;
    this.host.pauseParser();
    this.host.awaitAdmission();
  }

  /** The connection is over. */
  end(): void {
    this.step = Step.over;
    if (this.entered) this.context.occupancy.leave(this.user, this.vhost);
    this.entered = false;
  }

  /** Lets the client in or sends it away, if it waits for that and it is settled. */
  admit(): void {
    if (this.step !== Step.admission) return;
    if (this.isAdmitted) {
      this.step = Step.done;
      this.host.send(new ConnectionOpenOk());
      this.host.opened();
      this.host.resumeParser();
    } else if (this.context.admission.state === AdmissionState.standby) this.host.turnAway();
  }

  /** This node serves the client. Operators are served by every node, in whatever role. */
  get isAdmitted(): boolean {
    return this.context.admission.state === AdmissionState.serving || this.isOperator;
  }

  private get isOperator(): boolean {
    return this.clientProperties[operatorProperty] === true;
  }
}

function isSecure({ tls }: Peer): boolean {
  return tls !== '';
}

/** What a client gets that this node does not serve: clients show the text, which says where to go. */
export function redirection(admission: Admission, peer: Peer): ProtocolError {
  const primary = admission.primary(isSecure(peer));
  const where = primary === '' ? 'the cluster has no primary now' : `the primary is ${primary}`;
  return new ProtocolError(ReplyCode.connectionForced, `this node is a backup: ${where}`);
}
