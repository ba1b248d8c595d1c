/** The opening of a connection (§2.2.4): start-ok, tune-ok, open, in this order and nothing else. */
import { type Admission, AdmissionState } from '../model/admission.js';
import type { Arguments } from '../model/broker.js';
import type { Authenticator, LoginOrigin } from '../security/authenticator.js';
import {
  type ConnectionOpen,
  ConnectionOpenOk,
  type ConnectionStartOk,
  type ConnectionTuneOk,
  type Method,
  MethodId,
  methodName,
  ProtocolError,
  ReplyCode,
} from './codec/index.js';
import { hasCapability, negotiate, startMethod, type Tuning, tuneMethod } from './handshake.js';
import type { Product } from './product.js';
import type { Limits } from './limits.js';
import { external, mechanismsFor, readCredentials } from './sasl.js';
import type { Peer } from './connection-context.js';

/** The client property by which an operator is known. */
const operatorProperty = 'understudy.operator';

/** What is due next. */
export const Step = {
  protocolHeader: 'starting',
  startOk: 'started',
  authentication: 'securing',
  tuneOk: 'tuning',
  open: 'opening',
  admission: 'waiting for a primary',
  done: 'running',
} as const;
export type Step = (typeof Step)[keyof typeof Step];

/** What the opening needs of its connection. */
export interface OpeningHost {
  send(method: Method): void;
  /** Ends the connection with connection.close. */
  fail(error: ProtocolError): void;
  /** Counts and logs it; the client's end follows. */
  loginRefused(user: string, reason: string): void;
  /** Ends the connection without a word. */
  drop(reason: string): void;
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
  limits: Limits;
  product: Product;
  admission: Admission;
  hasVhost(name: string): boolean;
  peerAddress: string;
  peer: Peer;
}

export class Opening {
  step: Step = Step.protocolHeader;
  /** '' until authenticated. */
  user = '';
  mechanism = '';
  vhost = '';
  clientProperties: Arguments = {};
  tuning: Tuning;
  private readonly host: OpeningHost;
  private readonly context: OpeningContext;

  constructor(host: OpeningHost, context: OpeningContext) {
    this.host = host;
    this.context = context;
    const { channelMax, frameMax, heartbeatSeconds } = context.limits;
    this.tuning = { channelMax, frameMax, heartbeatSeconds };
  }

  /** The client speaks our protocol. */
  begin(): void {
    this.step = Step.startOk;
    const { product, admission, peer } = this.context;
    this.host.send(startMethod(product, admission.addresses(isSecure(peer)), mechanismsFor(peer.certificateName)));
  }

  /** Throws ProtocolError 503 for a method that is not due. */
  method(method: Method): void {
    if (method.id === MethodId.connectionStartOk && this.step === Step.startOk) this.startOk(method);
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
    this.mechanism = mechanism;
    const { certificateName } = this.context.peer;
    if (mechanism === external && certificateName !== undefined) {
      this.authenticate(certificateName, (origin) => this.context.authenticator.recognize(certificateName, origin));
      return;
    }
    const credentials = readCredentials(mechanism, response);
    if (credentials === undefined) {
      const text = `unknown authentication mechanism '${mechanism}'`;
      throw new ProtocolError(ReplyCode.commandInvalid, text, method.id);
    }
    if (credentials === null) {
      this.refuseLogin('', 'the response makes no sense');
      return;
    }
    const { user, password } = credentials;
    this.authenticate(user, (origin) => this.context.authenticator.authenticate(user, password, origin));
  }

  private authenticate(user: string, ask: (origin: LoginOrigin) => Promise<boolean>): void {
    const { mechanism } = this;
    this.step = Step.authentication;
    this.host.pauseParser();
    const refused = mechanism === external ? 'unknown user' : 'unknown user or wrong password';
    ask({ peerAddress: this.context.peerAddress, mechanism }).then(
      (allowed) => this.authenticated(user, allowed, refused),
      (error: unknown) => this.authenticated(user, false, String(error)),
    );
  }

  private authenticated(user: string, allowed: boolean, reason: string): void {
    if (this.step !== Step.authentication) return;
    if (allowed) {
      this.user = user;
      this.step = Step.tuneOk;
      this.host.send(tuneMethod(this.context.limits));
    } else {
      this.refuseLogin(user, reason);
    }
    this.host.resumeParser();
  }

  /** Clients that know authentication_failure_close are told; to others a lost socket is the sign (as before 0-9-1). */
  private refuseLogin(user: string, reason: string): void {
    this.host.loginRefused(user, reason);
    const text = `Login was refused using authentication mechanism ${this.mechanism}. For details see the broker logfile.`;
    const error = new ProtocolError(ReplyCode.accessRefused, text);
    if (hasCapability(this.clientProperties, 'authentication_failure_close')) this.host.fail(error);
    else this.host.drop('login refused');
  }

  private tuneOk(method: ConnectionTuneOk): void {
    this.tuning = negotiate(method, this.context.limits);
    this.step = Step.open;
    this.host.tuned(this.tuning);
  }

  private open(method: ConnectionOpen): void {
    const { virtualHost } = method;
    if (!this.context.hasVhost(virtualHost)) {
      throw new ProtocolError(ReplyCode.notAllowed, `vhost '${virtualHost}' not found`, method.id);
    }
    this.vhost = virtualHost;
    this.step = Step.admission;
    this.admit();
    if (this.isAdmitted || this.context.admission.state === AdmissionState.standby) return;
    this.host.pauseParser();
    this.host.awaitAdmission();
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
    return this.context.admission.state === AdmissionState.serving || this.clientProperties[operatorProperty] === true;
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
