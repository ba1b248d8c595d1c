/**
 * From a client's socket to a TLS socket. What strangers can make us do here is bounded:
 *
 *   accepted ── its hello is whole ──▶ in line ── its turn ──▶ TLS ── certificate judged ──▶ secured
 *       └──────────── not TLS, refused, too late, or dropped by the owner ──▶ gone
 *
 * A handshake costs us about a millisecond of computing, so a few of them are begun in one turn of the event loop (see InputTurns).
 * Nothing is decided by OpenSSL about a client's certificate: it would be gone before the log could say who it was.
 */
import { constants, type X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../base/clock.js';
import type { InputInLine, InputTurns } from '../base/input-turns.js';
import type { Logger } from '../base/logger.js';
import { RareLog } from '../base/rare-log.js';
import type { Certificates } from './certificate-files.js';
import { certificateName, distinguishedName } from './certificate-name.js';
import type { CertificateUser } from './certificate-watch.js';
import { helloState } from './client-hello.js';
import type { ClientCheck, LoginPart } from './tls-options.js';

export interface TlsEntranceOptions {
  certificates: Certificates;
  clients: ClientCheck;
  /** The part of a client's certificate that names a user. */
  loginFrom: LoginPart;
  clock: Clock;
  logger: Logger;
}

/** What is known of a client once its connection is secure. */
export interface Secured {
  socket: TLSSocket;
  /** The user that its certificate names; undefined: it showed none, or one that names nobody. */
  certificateName: string | undefined;
}

/** Who wants a client to be let in. */
export interface Arrival {
  /** Where it arrived, in the log: AMQP, HTTP. */
  readonly protocol: string;
  readonly turns: InputTurns;
  readonly timeoutMs: number;
  secured(client: Secured): void;
  /** It is not let in; its socket is closed. Never together with `secured`. */
  gone(): void;
}

/** What a handshake counts as in a turn's input: of the 512 KiB that AMQP has four handshakes are a turn's. */
const handshakeCostBytes = 128 * 1024;
/** Of a client's hello, which is some hundred bytes, or two thousand. */
const helloBytesMax = 16 * 1024;
/** Clients that are refused, in ten seconds of the log. */
const refusalLinesMax = 20;

export class TlsEntrance implements CertificateUser {
  readonly options: TlsEntranceOptions;
  private readonly server: Server;
  private readonly refusals: RareLog;
  /** Those whose TLS is under way, by the addresses of both ends. */
  private readonly underWay: Map<string, TlsHandshake> = new Map();

  /** Throws for certificates and keys that cannot be read, or do not fit together. */
  constructor(options: TlsEntranceOptions) {
    this.options = options;
    const { clients, certificates, logger, clock } = options;
    this.refusals = new RareLog(logger, clock, 'a client was refused at TLS', refusalLinesMax);
    this.server = createServer({
      ...contextOf(certificates),
      requestCert: clients !== 'none',
      rejectUnauthorized: false,
    });
    this.server.on('secureConnection', (socket) => this.secured(socket));
    this.server.on('tlsClientError', (error, socket) => this.handshakeOf(socket)?.refuse(reasonOf(error)));
  }

  renew(certificates: Certificates): void {
    this.server.setSecureContext(contextOf(certificates));
  }

  /** The client's first bytes are awaited. */
  take(socket: Socket, arrival: Arrival): TlsHandshake {
    return new TlsHandshake(socket, arrival, this);
  }

  /** Its hello is there. For TlsHandshake. */
  begin(handshake: TlsHandshake): void {
    this.underWay.set(handshake.addresses, handshake);
    this.server.emit('connection', handshake.socket);
  }

  /** For TlsHandshake. */
  ended({ addresses }: TlsHandshake): void {
    this.underWay.delete(addresses);
  }

  /** For TlsHandshake. */
  tellRefused(client: string, protocol: string, reason: string): void {
    this.refusals.warn({ client, protocol, reason });
  }

  private handshakeOf(socket: Socket): TlsHandshake | undefined {
    return this.underWay.get(addressesOf(socket));
  }

  private secured(socket: TLSSocket): void {
    const handshake = this.handshakeOf(socket);
    if (handshake === undefined) {
      socket.destroy();
      return;
    }
    const { clients, loginFrom } = this.options;
    const certificate = clients === 'none' ? undefined : socket.getPeerX509Certificate();
    const fault = clients === 'none' ? '' : faultOf(socket, certificate, clients);
    if (fault !== '') return handshake.refuse(fault);
    const name = certificate === undefined ? undefined : certificateName(certificate, loginFrom);
    if (certificate !== undefined && name === undefined) handshake.tellNameless(certificate, loginFrom);
    handshake.succeed({ socket, certificateName: name });
  }
}

/** One client on its way in. */
export class TlsHandshake implements InputInLine {
  readonly socket: Socket;
  /** Of both ends: a socket that is closed does not know them any more. */
  readonly addresses: string;
  private readonly arrival: Arrival;
  private readonly entrance: TlsEntrance;
  private readonly client: string;
  private readonly timer: Timer;
  private readonly onData = (bytes: Buffer): void => this.read(bytes);
  private readonly onClose = (): void => this.end();
  private heard: Buffer[] = [];
  private heardBytes = 0;
  private over = false;

  constructor(socket: Socket, arrival: Arrival, entrance: TlsEntrance) {
    this.socket = socket;
    this.addresses = addressesOf(socket);
    this.arrival = arrival;
    this.entrance = entrance;
    this.client = `${socket.remoteAddress}:${socket.remotePort}`;
    this.timer = entrance.options.clock.after(arrival.timeoutMs, () => this.drop('the TLS handshake took too long'));
    socket.on('error', () => {});
    socket.on('close', this.onClose);
    socket.on('data', this.onData);
  }

  /** Ends it. */
  drop(reason: string): void {
    this.entrance.options.logger.info('connection dropped', { client: this.client, reason });
    this.end();
  }

  /** Ends it, and says so where whoever runs the broker looks. */
  refuse(reason: string): void {
    if (this.over) return;
    this.entrance.tellRefused(this.client, this.arrival.protocol, reason);
    this.end();
  }

  /** It may log in otherwise. */
  tellNameless(certificate: X509Certificate, loginFrom: LoginPart): void {
    const fields = { client: this.client, certificate: distinguishedName(certificate), loginFrom };
    this.entrance.options.logger.info('a certificate names no user: EXTERNAL is not offered', fields);
  }

  succeed(client: Secured): void {
    this.leave();
    this.arrival.secured(client);
  }

  /** Its turn has come. */
  goOn(): number {
    if (this.over) return 0;
    // It is read again by TLS, together with what has come since.
    this.socket.unshift(Buffer.concat(this.heard));
    this.heard = [];
    this.entrance.begin(this);
    return handshakeCostBytes;
  }

  private read(bytes: Buffer): void {
    this.heard.push(bytes);
    this.heardBytes += bytes.length;
    const said = this.heard.length === 1 ? bytes : Buffer.concat(this.heard);
    const state = this.heardBytes > helloBytesMax ? 'other' : helloState(said);
    if (state === 'more') return;
    if (state === 'other') {
      this.refuse(
        said.toString('latin1', 0, 4) === 'AMQP'
          ? 'it speaks AMQP without TLS: its URL must begin with amqps, or have the port of plain AMQP'
          : 'what it says first is not TLS',
      );
      return;
    }
    this.socket.pause();
    this.socket.off('data', this.onData);
    this.arrival.turns.lineUp(this);
  }

  private end(): void {
    if (this.over) return;
    this.leave();
    this.socket.destroy();
    this.arrival.gone();
  }

  private leave(): void {
    this.over = true;
    this.heard = [];
    this.timer.cancel();
    this.socket.off('close', this.onClose);
    this.socket.off('data', this.onData);
    this.entrance.ended(this);
  }
}

/** Old versions, renegotiation and the taking up of earlier sessions are off: with the latter a certificate that has expired since would count on. */
function contextOf({ certificate, key, ca }: Certificates): SecureContextOptions {
  return {
    cert: certificate,
    key,
    ca,
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
  };
}

/** What stands against the client's certificate, or against its having none; '' = nothing. */
function faultOf(socket: TLSSocket, certificate: X509Certificate | undefined, clients: ClientCheck): string {
  if (certificate === undefined) return clients === 'require' ? 'it shows no certificate' : '';
  if (socket.authorized) return '';
  const code = String(socket.authorizationError);
  const its = `its certificate (${distinguishedName(certificate)})`;
  if (code === 'CERT_HAS_EXPIRED') return `${its} has expired: ${certificate.validTo}`;
  if (code === 'CERT_NOT_YET_VALID') return `${its} is not valid before ${certificate.validFrom}`;
  return `${its} is not good here, issued by ${certificate.issuer.replaceAll('\n', ',')}: ${code}`;
}

function addressesOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress}:${remotePort} ${localAddress}:${localPort}`;
}

/** OpenSSL's messages name source files; its reasons are for people. */
function reasonOf(error: Error & { reason?: string }): string {
  return error.reason ?? error.message;
}
