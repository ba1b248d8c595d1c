/**
 * The AMQP 1.0 server: the connections that another server of the same port has passed on because of what they said first, and what is
 * true of all of them together.
 *
 * From a frame to its outcome: Connection (socket, SASL, open) → Session (windows) → IncomingLink, Publisher → the Broker port → the
 * session's OutcomeLedger. From the broker to the client: Deliveries → OutgoingLink (credit) → TransferWindow.
 *
 * One `Turn` must serve the broker and all its servers: deliveries and outcomes of a turn leave in its output phase.
 */
import type { Socket } from 'node:net';
import { fullSlices, SlicedWalk } from '../base/slices.js';
import type { Departed } from '../model/access/access-tables.js';
import type { ConnectionId } from '../model/broker.js';
import { ProtocolId, protocolIdAt } from './codec/index.js';
import { Connection } from './connection.js';
import type { ConnectionContext, ConnectionOwner, Transport } from './connection-context.js';
import { Counters } from './counters.js';
import { defaultLimits, type Limits } from './limits.js';
import { AllPartialBytes } from './partial-bytes.js';
import { SoleConnections } from './sole-connections.js';

/** Connections that are told in one turn: each may end all its sessions. */
const toldPerTurn = 100;

export interface Amqp10Options extends Omit<ConnectionContext, 'limits' | 'counters' | 'partials'> {
  /** What is not named has its default. */
  limits?: Partial<Limits>;
}

export class Amqp10Server implements ConnectionOwner {
  readonly counters: Counters = new Counters();
  private readonly context: ConnectionContext;
  private readonly gate: { close(): void };
  private readonly admission: { close(): void };
  private readonly departures: { close(): void };
  private readonly connections: Set<Connection> = new Set();
  /** Those whose handshake is under way, oldest first. */
  private readonly opening: Set<Connection> = new Set();
  private readonly soleConnections: SoleConnections = new SoleConnections();
  private stopping: Promise<void> | null = null;
  private allClosed: () => void = () => {};

  constructor(options: Amqp10Options) {
    const limits = { ...defaultLimits, ...options.limits };
    const partials = new AllPartialBytes(limits.allPartialBytesMax);
    this.context = { ...options, limits, counters: this.counters, partials };
    this.gate = options.broker.gate.onChange((reason) => {
      for (const connection of this.connections) connection.gateChanged(reason);
    });
    this.admission = options.admission.onChange(() => this.tellAll((connection) => connection.admissionChanged()));
    this.departures = options.authenticator.realm.access.onDeparture((departed) => this.departed(departed));
  }

  /** Whether a client that begins with these eight bytes is to be passed on to this server. */
  speaks(header: Uint8Array): boolean {
    const id = protocolIdAt(header, 0);
    return (
      (id === ProtocolId.amqp || id === ProtocolId.sasl) && this.context.broker.keepsAmqp10 && this.stopping === null
    );
  }

  /** Takes a client over. @param first what it has said, from its header on */
  take(socket: Socket, id: ConnectionId, transport: Transport, first: Uint8Array): void {
    if (this.opening.size >= this.context.limits.handshakesMax) this.dropOldestOpening();
    const connection = new Connection(socket, id, this.context, this, transport, first);
    this.connections.add(connection);
    this.opening.add(connection);
    this.counters.connectionsOpened++;
  }

  get connectionCount(): number {
    return this.connections.size;
  }

  /** Clean stop: close to all, and whoever is still there after the close timeout is cut off. */
  stop(reason: string = 'shutdown'): Promise<void> {
    this.stopping ??= this.stopOnce(reason);
    return this.stopping;
  }

  /** Hard stop: every socket is closed without a word. */
  destroy(): void {
    this.close();
    for (const connection of [...this.connections]) connection.destroy();
  }

  // ConnectionOwner

  entered(connection: Connection): void {
    this.soleConnections.enter(connection);
  }

  opened(connection: Connection): void {
    this.opening.delete(connection);
  }

  closed(connection: Connection): void {
    this.connections.delete(connection);
    this.soleConnections.leave(connection);
    this.opening.delete(connection);
    this.counters.connectionsClosed++;
    if (this.connections.size === 0) this.allClosed();
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
  }

  /** A flood of sockets that never speak must not keep out clients that do. */
  private dropOldestOpening(): void {
    const [oldest] = this.opening;
    if (!oldest) return;
    this.counters.connectionsRefused++;
    this.opening.delete(oldest);
    oldest.drop('too many unfinished handshakes');
  }

  private departed(departed: Departed): void {
    this.tellAll((connection) => connection.partFrom(departed));
  }

  private tellAll(tell: (connection: Connection) => void): void {
    const walk = visit([...this.connections], tell);
    void new SlicedWalk(
      walk,
      toldPerTurn,
      fullSlices((run) => this.context.clock.after(0, run)),
    );
  }
}

function* visit(connections: readonly Connection[], tell: (connection: Connection) => void): Generator<number, void> {
  for (const connection of connections) {
    tell(connection);
    yield 1;
  }
}
