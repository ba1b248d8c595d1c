/** The sessions of a connection by the client's channels: begins them, and gives each its frames. */
import {
  AmqpError,
  type Begin,
  Condition,
  decodePerformative,
  Descriptor,
  descriptorName,
  inUsualForm,
  DispositionView,
  FlowView,
  type Performative,
  performativeAt,
  TransferView,
} from './codec/index.js';
import { SessionError } from './errors.js';
import { Session } from './session.js';
import type { ConnectionHost } from './session-host.js';
import { TransactionTable } from './transaction-table.js';

/** All connections share them: a frame is done with before the next comes. */
const transferView = new TransferView();
const dispositionView = new DispositionView();
const flowView = new FlowView();

export class SessionTable {
  /** As the client's open has it. */
  peerChannelMax = 0xffff;
  private readonly host: ConnectionHost;
  private readonly closed: () => void;
  private readonly transactions: TransactionTable;
  private readonly sessions: Map<number, Session> = new Map();
  private readonly ownChannels: (Session | undefined)[] = [];

  /** @param closed the client's close has come */
  constructor(host: ConnectionHost, closed: () => void) {
    this.host = host;
    this.closed = closed;
    this.transactions = new TransactionTable(host);
  }

  forEach(visit: (session: Session) => void): void {
    for (const session of this.sessions.values()) visit(session);
  }

  /** The session is over on both sides. */
  remove(channel: number): void {
    const session = this.sessions.get(channel);
    if (session === undefined) return;
    this.sessions.delete(channel);
    const own = this.ownChannels.indexOf(session);
    if (own >= 0) this.ownChannels[own] = undefined;
    this.host.counters.sessions--;
  }

  /** The connection ends, and all its sessions with it. */
  dispose(): void {
    for (const session of this.sessions.values()) {
      session.dispose();
      this.remove(session.channel);
    }
  }

  /** A frame of a connection that is open. Throws AmqpError, for the connection. */
  frame(channel: number, bytes: Uint8Array, start: number, end: number): void {
    const code = performativeAt(bytes, start, end);
    const usual = code < 0 ? inUsualForm(bytes, start, end) : undefined;
    if (usual !== undefined) return this.frame(channel, usual, 0, usual.length);
    const session = this.sessions.get(channel);
    try {
      if (session === undefined) this.withoutSession(channel, bytes, start, end);
      else if (code === Descriptor.transfer) session.transfer(transferView.set(bytes, start, end));
      else if (code === Descriptor.disposition) session.disposition(dispositionView.set(bytes, start, end));
      else if (code === Descriptor.flow) session.flow(flowView.set(bytes, start, end));
      else this.sessionFrame(session, decodePerformative(bytes, start, end));
    } catch (error) {
      if (error instanceof SessionError && session !== undefined) session.fail(error);
      else throw error;
    }
  }

  /** A frame that is rare. */
  private sessionFrame(session: Session, body: Performative): void {
    switch (body.descriptor) {
      case Descriptor.attach:
        return session.attach(body);
      case Descriptor.detach:
        return session.detach(body);
      case Descriptor.end:
        return session.endedByClient();
      case Descriptor.close:
        return this.closed();
      case Descriptor.open:
        throw new AmqpError(Condition.illegalState, 'a second open');
      case Descriptor.begin:
        throw new AmqpError(Condition.illegalState, `a second begin on channel ${session.channel}`);
      default:
        // Transfer, disposition and flow have come in their usual form.
        throw new AmqpError(Condition.internalError, `${descriptorName(body.descriptor)} was passed over`);
    }
  }

  private withoutSession(channel: number, bytes: Uint8Array, start: number, end: number): void {
    const body = decodePerformative(bytes, start, end);
    if (body.descriptor === Descriptor.close) return this.closed();
    if (body.descriptor === Descriptor.open) throw new AmqpError(Condition.illegalState, 'a second open');
    if (body.descriptor !== Descriptor.begin)
      throw new AmqpError(
        Condition.notAllowed,
        `${descriptorName(body.descriptor)} on channel ${channel}, which has no session`,
      );
    this.begin(channel, body);
  }

  private begin(channel: number, request: Begin): void {
    const { limits, counters } = this.host;
    if (channel > limits.channelMax)
      throw new AmqpError(
        Condition.connectionFramingError,
        `channel ${channel} is above channel-max (${limits.channelMax})`,
      );
    if (request.remoteChannel !== undefined)
      throw new AmqpError(Condition.notAllowed, 'this broker begins no sessions that could be answered');
    if (counters.sessions >= limits.allSessionsMax) {
      const text = `all connections have ${limits.allSessionsMax} sessions, there may be no more`;
      throw new AmqpError(Condition.resourceLimitExceeded, text);
    }
    const free = this.ownChannels.findIndex((session) => session === undefined);
    const own = free < 0 ? this.ownChannels.length : free;
    if (own > this.peerChannelMax)
      throw new AmqpError(
        Condition.notAllowed,
        `more sessions than the peer's channel-max (${this.peerChannelMax}) has room for`,
      );
    counters.sessions++;
    const session = new Session(this.host, channel, own, request, this.transactions);
    this.sessions.set(channel, session);
    this.ownChannels[own] = session;
  }
}
