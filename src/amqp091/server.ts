/**
 * The AMQP 0-9-1 server: listens, and keeps what is true of all connections together: how many there may be, how they are
 * told that publishers must wait, how they end.
 *
 * From a frame to its answer: Connection (socket, channel 0) → ChannelTable → Channel (order) → handlers/<class> or, for the
 * hot path, Publisher (publish, confirms) and Deliveries (consumers, acks, Credit) → the Broker port.
 *
 * Usage, in the composition root:
 *
 *   const amqp = createAmqp091Server({ broker, turn, later, clock, logger, authenticator, admission, limits, product, boot });
 *   const address = await amqp.listen('127.0.0.1', 5672);   // port 0: any free one; `address.port` tells
 *   await amqp.listen('0.0.0.0', 5671, entrance);           // amqps
 *   ...
 *   await amqp.stop('shutdown');                            // clients get connection.close 320; `destroy()` does without
 *
 * One `Turn` must serve the broker and all its servers: deliveries and confirms of a turn leave in its output phase.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { fullSlices, SlicedWalk } from '../base/slices.js';
import type { Departed } from '../model/access/access-tables.js';
import { Occupancy } from '../security/occupancy.js';
import { amqplain } from './amqplain.js';
import { RareLog } from '../base/rare-log.js';
import { helloState } from '../security/client-hello.js';
import type { TlsEntrance, TlsHandshake } from '../security/tls-entrance.js';
import { Connection } from './connection.js';
import {
  type ConnectionContext,
  type ConnectionOwner,
  inTheClear,
  type OtherServer,
  type Transport,
} from './connection-context.js';
import type { ConnectionInfo } from './connection-info.js';
import { Counters } from './counters.js';
import { InputTurns } from '../base/input-turns.js';
import { defaultLimits, type Limits } from './limits.js';
import { PartialBodies } from './partial-bodies.js';
import { RouteMemo } from './route-memo.js';

/** Silence after which the system asks whether a client's machine is still there, for clients without heartbeats. */
const keepAliveMs = 60_000;

/** Connections that are told in one turn: each may end all its channels. */
const toldPerTurn = 100;

/** Clients that are turned away, in ten seconds of the log. */
const turnedAwayLinesMax = 20;

export interface Amqp091Options
  extends Omit<ConnectionContext, 'limits' | 'counters' | 'partials' | 'routes' | 'inputTurns' | 'occupancy'> {
  /** Runs a function in a later turn of the event loop. */
  later: (run: () => void) => void;
  /** What is not named has its default. */
  limits?: Partial<Limits>;
  /** This life of the node: makes connection ids unique in the cluster. */
  boot: number;
  /** Shared with other servers, if there are any. */
  inputTurns?: InputTurns;
  occupancy?: Occupancy;
  /** They take clients that do not speak this protocol. */
  others?: readonly OtherServer[];
}

/** A server that does not listen yet. */
export function createAmqp091Server(options: Amqp091Options): Amqp091Server {
  return new Amqp091Server(options);
}

export class Amqp091Server implements ConnectionOwner {
  readonly counters: Counters = new Counters();
  private readonly context: ConnectionContext;
  private readonly turnedAway: RareLog;
  private readonly boot: number;
  private readonly others: readonly OtherServer[];
  /** One for each call of `listen`. */
  private readonly servers: Server[] = [];
  private readonly gate: { close(): void };
  private readonly admission: { close(): void };
  private readonly departures: { close(): void };
  /** Tells all connections that the admission has changed. */
  private telling: SlicedWalk | null = null;
  private readonly connections: Set<Connection> = new Set();
  /** Those that are not through with TLS, and no connections yet. */
  private readonly securing: Set<TlsHandshake> = new Set();
  /** Those whose handshake is under way, that of TLS or ours, oldest first. */
  private readonly opening: Set<Connection | TlsHandshake> = new Set();
  private nextConnection = 1;
  private stopping: Promise<void> | null = null;
  private allClosed: () => void = () => {};

  constructor(options: Amqp091Options) {
    const limits = { ...defaultLimits, ...options.limits };
    const inputTurns = options.inputTurns ?? new InputTurns(limits.turnInputBytesMax, options.later);
    const { authenticator } = options;
    authenticator.add(amqplain(authenticator.checkPassword));
    const own = {
      counters: this.counters,
      partials: new PartialBodies(limits),
      routes: new RouteMemo(),
      occupancy: options.occupancy ?? new Occupancy(authenticator.realm),
    };
    this.context = { ...options, ...own, limits, inputTurns };
    this.turnedAway = new RareLog(options.logger, options.clock, 'a client was turned away', turnedAwayLinesMax);
    this.boot = options.boot;
    this.others = options.others ?? [];
    this.gate = options.broker.gate.onChange((reason) => this.gateChanged(reason));
    this.admission = options.admission.onChange(() => this.admissionChanged());
    this.departures = authenticator.realm.access.onDeparture((departed) => this.departed(departed));
  }

  /**
   * Starts to listen, also for TLS, and resolves to the address. Rejects as `net.Server.listen` fails (EADDRINUSE and the like).
   * @param tls clients come over TLS, and through this
   */
  listen(host: string, port: number, tls?: TlsEntrance): Promise<AddressInfo> {
    const { context } = this;
    const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs }, (socket) =>
      this.accept(socket, tls),
    );
    this.servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      // All clients of a primary that was lost may come in one moment: whom the system's queue has no room for tries again much later.
      server.listen({ host, port, backlog: context.limits.handshakesMax }, () => {
        server.off('error', reject);
        server.on('error', (error) => context.logger.error('AMQP listener failed', { error: String(error) }));
        resolve(server.address() as AddressInfo);
      });
    });
  }

  get connectionCount(): number {
    return this.connections.size;
  }

  /** Clients that are not through with their handshake, that of TLS or ours. */
  get unfinished(): number {
    return this.opening.size;
  }

  /** All connections as they are now. */
  list(): ConnectionInfo[] {
    return Array.from(this.connections, (connection) => connection.info);
  }

  /** Ends one connection, as an operator may wish; false if there is none with this name. */
  closeConnection(name: string, reason: string): boolean {
    for (const connection of this.connections) {
      if (connection.name !== name) continue;
      connection.closeByServer(reason);
      return true;
    }
    return false;
  }

  /** Clean stop: no new clients, connection.close 320 to all, and whoever is still there after the close timeout is cut off. */
  stop(reason: string = 'shutdown'): Promise<void> {
    this.stopping ??= this.stopOnce(reason);
    return this.stopping;
  }

  /** Hard stop: every socket is closed without a word. */
  destroy(): void {
    this.close();
    for (const connection of [...this.connections]) connection.destroy();
  }

  /** A client that came in otherwise, and speaks this protocol, or that of another server. @param socket as one that was just accepted */
  enter(socket: Socket, transport: Transport): void {
    if (this.stopping !== null) socket.destroy();
    else this.connect(socket, transport);
  }

  // ConnectionOwner

  opened(connection: Connection): void {
    this.opening.delete(connection);
  }

  closed(connection: Connection): void {
    this.connections.delete(connection);
    this.opening.delete(connection);
    this.counters.connectionsClosed++;
    if (this.connections.size === 0) this.allClosed();
  }

  isOthers(header: Uint8Array): boolean {
    return this.others.some((other) => other.speaks(header));
  }

  passOn(connection: Connection, socket: Socket, transport: Transport, first: Uint8Array): void {
    this.closed(connection);
    this.others.find((other) => other.speaks(first))?.take(socket, connection.id, transport, first);
  }

  foreign({ name }: Connection, beginning: Uint8Array): void {
    const isTls = beginning.length > 1 && helloState(beginning) !== 'other';
    const reason = isTls
      ? 'it speaks TLS, and this port does not: its URL must begin with amqp, or have the port of amqps'
      : 'what it says first is not AMQP 0-9-1';
    this.turnedAway.warn({ connection: name, reason });
  }

  private async stopOnce(reason: string): Promise<void> {
    this.close();
    if (this.connections.size === 0) return;
    const { clock, limits } = this.context;
    const timer = clock.after(limits.closeTimeoutMs, () => this.destroy());
    await new Promise<void>((resolve) => {
      this.allClosed = resolve;
      for (const connection of [...this.connections]) connection.closeByServer(reason);
    });
    timer.cancel();
  }

  private close(): void {
    this.gate.close();
    this.admission.close();
    this.departures.close();
    this.telling?.stop();
    for (const server of this.servers) if (server.listening) server.close();
    for (const handshake of [...this.securing]) handshake.drop('this node stops');
  }

  /** Of other servers too. */
  private get allConnections(): number {
    return this.others.reduce((sum, other) => sum + other.connectionCount, this.connections.size + this.securing.size);
  }

  private accept(socket: Socket, tls: TlsEntrance | undefined): void {
    const { limits, logger } = this.context;
    if (this.allConnections >= limits.connectionsMax) {
      this.counters.connectionsRefused++;
      logger.warn('connection refused: too many', { connectionsMax: limits.connectionsMax });
      socket.destroy();
      return;
    }
    if (this.opening.size >= limits.handshakesMax) this.dropOldestOpening();
    if (tls === undefined) this.connect(socket, inTheClear);
    else this.secure(socket, tls);
  }

  private secure(socket: Socket, tls: TlsEntrance): void {
    const { limits, inputTurns } = this.context;
    const over = (): void => {
      this.securing.delete(handshake);
      this.opening.delete(handshake);
    };
    const handshake = tls.take(socket, {
      protocol: 'AMQP',
      turns: inputTurns,
      timeoutMs: limits.handshakeTimeoutMs,
      secured: (client) => {
        over();
        this.connect(client.socket, {
          tls: client.socket.getProtocol() ?? '',
          certificateName: client.certificateName,
        });
      },
      gone: over,
    });
    this.securing.add(handshake);
    this.opening.add(handshake);
  }

  private connect(socket: Socket, transport: Transport): void {
    const id = `${this.context.broker.node}/${this.boot}/${this.nextConnection++}`;
    const connection = new Connection(socket, id, this.context, this, transport);
    this.connections.add(connection);
    this.opening.add(connection);
    this.counters.connectionsOpened++;
  }

  /** A flood of sockets that never speak must not keep out clients that do: theirs takes milliseconds. */
  private dropOldestOpening(): void {
    const [oldest] = this.opening;
    if (!oldest) return;
    this.counters.connectionsRefused++;
    this.opening.delete(oldest);
    oldest.drop('too many unfinished handshakes');
  }

  private admissionChanged(): void {
    this.telling?.stop();
    this.telling = this.tellAll((connection) => connection.admissionChanged());
  }

  /** Users or vhosts are gone, and their connections with them. */
  private departed(departed: Departed): void {
    this.tellAll((connection) => connection.partFrom(departed));
  }

  private tellAll(tell: (connection: Connection) => void): SlicedWalk {
    return new SlicedWalk(
      visit([...this.connections], tell),
      toldPerTurn,
      fullSlices((run) => this.context.clock.after(0, run)),
    );
  }

  private gateChanged(reason: string): void {
    for (const connection of this.connections) connection.gateChanged(reason);
  }
}

function* visit(connections: readonly Connection[], tell: (connection: Connection) => void): Generator<number, void> {
  for (const connection of connections) {
    tell(connection);
    yield 1;
  }
}
