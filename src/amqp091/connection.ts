/**
 * One client connection: the socket, channel 0, and the channels by number.
 *
 *   opening (see Opening) ──► running ──► closing ──► closed
 *
 * Input. What the socket gives goes through the parser to channel 0 or to a channel, and is handled at once, except while the
 * input gate is shut (see Pause): then neither socket nor parser go on. What is thrown below becomes channel.close (in
 * Channel) or connection.close (here).
 * Output. Everything is written through `frames` and leaves once a turn, by `Output`.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import { MessageParts } from '../log/record.js';
import type { Departed } from '../model/access/access-tables.js';
import type { Admission } from '../model/admission.js';
import type { Broker, ConnectionId, Route } from '../model/broker.js';
import type { Occupancy } from '../security/occupancy.js';
import { type Peer, peerAt } from '../security/peer.js';
import type { Permissions } from '../security/permissions.js';
import { BacklogTotal } from './backlog-total.js';
import { Blockage } from './blockage.js';
import type { ChannelHost, ConfirmFlush } from './channel-host.js';
import { ChannelTable } from './channel-table.js';
import {
  ConnectionClose,
  ConnectionCloseOk,
  ConnectionUpdateSecretOk,
  decodeMethod,
  type FrameHandler,
  FrameParser,
  FrameWriter,
  type Method,
  MethodId,
  methodIdAt,
  methodName,
  ProtocolError,
  ReplyCode,
} from './codec/index.js';
import type { ClientTraits } from './client-traits.js';
import type { ConnectionContext, ConnectionOwner, Transport } from './connection-context.js';
import { type ConnectionInfo, connectionInfo } from './connection-info.js';
import type { Counters } from './counters.js';
import { describeFault, isFault, notDueOnChannel0, toProtocolError } from './errors.js';
import type { Tuning } from './handshake.js';
import { Heartbeat, type HeartbeatOwner } from './heartbeat.js';
import { Input, type InputOwner } from '../socket/input.js';
import { Pause } from '../socket/input-gate.js';
import type { Limits } from './limits.js';
import { Opening, type OpeningHost, redirection, Step } from './opening.js';
import { Output, type OutputOwner } from '../socket/output.js';
import type { PartialBodies } from './partial-bodies.js';
import type { RouteMemo } from './route-memo.js';

const State = { opening: 'opening', running: 'running', closing: 'closing', closed: 'closed' } as const;
type State = (typeof State)[keyof typeof State];

export class Connection implements ChannelHost, FrameHandler, InputOwner, OutputOwner, OpeningHost, HeartbeatOwner {
  readonly id: ConnectionId;
  readonly name: string;
  readonly broker: Broker;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly counters: Counters;
  readonly input: Input<FrameParser>;
  readonly backlogs: BacklogTotal;
  readonly output: Output;
  readonly frames: FrameWriter;
  readonly parts: MessageParts = new MessageParts();
  readonly partials: PartialBodies;
  readonly occupancy: Occupancy;
  readonly routes: RouteMemo;
  /** It has published, so that the broker's gate concerns it. */
  publishes = false;
  private readonly admission: Admission;
  private readonly peer: Peer;
  private readonly socket: Socket;
  private readonly owner: ConnectionOwner;
  private readonly opening: Opening;
  private readonly connectedAt: number;
  private state: State = State.opening;
  channels: ChannelTable;
  private heart: Heartbeat | null = null;
  private deadline: Timer;
  private ledgersDue: ConfirmFlush[] = [];
  /** connection.close has come while channels still wait for the broker; it has its close-ok. */
  private closeRequested = false;
  private closeAnswered = false;
  private readonly blockage: Blockage = new Blockage(this);
  /** The broker was told that the connection has ended. */
  private released = false;

  constructor(
    socket: Socket,
    id: ConnectionId,
    context: ConnectionContext,
    owner: ConnectionOwner,
    transport: Transport,
  ) {
    this.socket = socket;
    this.id = id;
    this.owner = owner;
    this.name = `${socket.remoteAddress}:${socket.remotePort} -> ${socket.localAddress}:${socket.localPort}`;
    this.broker = context.broker;
    this.turn = context.turn;
    this.clock = context.clock;
    this.limits = context.limits;
    this.counters = context.counters;
    this.partials = context.partials;
    this.occupancy = context.occupancy;
    this.routes = context.routes;
    this.admission = context.admission;
    this.peer = { ...peerAt(socket.remoteAddress ?? ''), ...transport };
    this.logger = context.logger.child({ connection: this.name });
    this.connectedAt = context.clock.wall();
    const parser = new FrameParser(this, true);
    this.input = new Input(socket, context.turn, context.inputTurns, context.counters, parser, this);
    this.backlogs = new BacklogTotal(this.input, context.limits.allBacklogBytesMax);
    this.output = new Output(socket, context.turn, context.counters, context.limits, this);
    this.frames = new FrameWriter(this.output.writer);
    this.channels = new ChannelTable(this, context.limits.channelMax);
    const { authenticator, occupancy, limits, product, admission } = context;
    this.opening = new Opening(this, {
      ...{ authenticator, occupancy, limits, product, admission },
      hasVhost: (name) => context.broker.hasVhost(name),
      peer: this.peer,
    });
    this.deadline = context.clock.after(limits.handshakeTimeoutMs, () => this.drop('the handshake took too long'));
  }

  // What the management and the server ask

  get info(): ConnectionInfo {
    const { id, name, stateName: state, connectedAt, bytesIn, channels, peer } = this;
    const own = { id, name, state, channels: channels.count, connectedAt, bytesIn, tls: peer.tls };
    return connectionInfo(this.socket, this.opening, { ...own, pendingBytes: this.output.pendingBytes });
  }

  /** Ends the connection with connection.close 320, as when the broker stops; bounded by the close timeout. */
  closeByServer(reason: string): void {
    this.force(reason, `broker forced connection closure with reason '${reason}'`);
  }

  /** Ends the connection if it is of a user or in a vhost that is gone. */
  partFrom({ users, vhosts }: Departed): void {
    if (users.has(this.user)) this.force('user deleted', `user '${this.user}' is deleted`);
    else if (vhosts.has(this.vhost)) this.force('vhost deleted', `vhost '${this.vhost}' is deleted`);
  }

  /** This node may have begun or ceased to serve ordinary clients. */
  admissionChanged(): void {
    if (this.state === State.opening) this.opening.admit();
    else if (this.state === State.running && !this.opening.isAdmitted) this.turnAway();
  }

  /** Ends the connection at once. */
  destroy(): void {
    this.socket.destroy();
  }

  /** The broker's gate has opened ('') or closed. */
  gateChanged(reason: string): void {
    if (this.state === State.running && this.publishes) this.blockage.gateChanged(reason);
  }

  // FrameHandler

  protocolHeader(supported: boolean, bytes: Uint8Array, start: number, end: number): void {
    if (supported) return this.opening.begin();
    const header = bytes.slice(start, end);
    if (this.owner.isOthers(header)) return this.input.giveAway(header);
    this.owner.foreign(this, header);
    this.frames.protocolHeader();
    this.hangUp();
  }

  method(channel: number, bytes: Uint8Array, start: number, end: number): void {
    if (channel === 0) this.connectionMethod(bytes, start, end);
    else if (this.state === State.running) this.channels.method(channel, bytes, start, end);
    else this.outOfState(channel);
  }

  header(channel: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.state === State.running && channel !== 0) this.channels.header(channel, bytes, start, end);
    else this.outOfState(channel);
  }

  body(channel: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.state === State.running && channel !== 0) this.channels.body(channel, bytes, start, end);
    else this.outOfState(channel);
  }

  /** Any byte shows that the client lives; see `bytesIn`. */
  heartbeat(): void {}

  // OpeningHost

  send(method: Method): void {
    this.frames.method(0, method);
    this.output.touch();
  }

  loginRefused(user: string, reason: string, told: ProtocolError | undefined): void {
    this.counters.authenticationFailures++;
    this.logger.warn('login refused', { user, reason });
    if (told === undefined) this.socket.destroy();
    else this.closeWith(told);
  }

  drop(reason: string): void {
    this.logger.info('connection dropped', { reason });
    this.socket.destroy();
  }

  pauseParser(): void {
    this.input.holdParser();
  }

  resumeParser(): void {
    this.input.releaseParser();
  }

  tuned(tuning: Tuning): void {
    this.input.parser.frameMax = tuning.frameMax;
    this.frames.frameMax = tuning.frameMax;
    this.channels = new ChannelTable(this, tuning.channelMax);
    if (tuning.heartbeatSeconds > 0) this.heart = new Heartbeat(this.clock, tuning.heartbeatSeconds * 1000, this);
  }

  awaitAdmission(): void {
    this.deadline.cancel();
    this.deadline = this.clock.after(this.limits.admissionWaitMs, () => this.turnAway());
  }

  turnAway(): void {
    this.counters.connectionsRedirected++;
    this.closeWith(redirection(this.admission, this.peer));
  }

  opened(): void {
    this.state = State.running;
    this.deadline.cancel();
    this.logger.info('connection opened', { user: this.user, vhost: this.vhost, tls: this.peer.tls || undefined });
    this.owner.opened(this);
  }

  // ChannelHost

  get user(): string {
    return this.opening.user;
  }

  get vhost(): string {
    return this.opening.vhost;
  }

  get permissions(): Permissions {
    return this.opening.permissions!;
  }

  get traits(): ClientTraits {
    return this.opening.traits;
  }

  get holdsBacklogs(): boolean {
    this.handledInput();
    return this.input.holdsBacklogs;
  }

  beginsToPublish(): void {
    this.publishes = true;
    if (this.broker.gate.closed !== '') this.gateChanged(this.broker.gate.closed);
  }

  publishedBy(route: Route, channel: number): void {
    this.blockage.published(route, this.channels.get(channel)!);
  }

  confirmsDue(ledger: ConfirmFlush): void {
    this.ledgersDue.push(ledger);
    this.output.touch();
  }

  dispatch(channel: number, type: number, bytes: Uint8Array, start: number, end: number): void {
    try {
      if (this.state === State.running) this.channels.dispatch(channel, type, bytes, start, end);
    } catch (error) {
      this.fail(error);
    }
  }

  channelClosed(channel: number): void {
    this.channels.remove(channel);
  }

  channelIdle(): void {
    if (this.closeRequested && this.channels.idle) this.finishClose();
  }

  answeredTooLate(): void {
    if (this.released) this.broker.connectionClosed(this.id);
  }

  /** Ends the connection with what `error` means to the client; see `closeWith`. */
  fail(error: unknown): void {
    if (this.state === State.closing || this.state === State.closed) return;
    const known = toProtocolError(error);
    const { replyText, methodId } = known;
    if (isFault(error)) this.logger.error('connection failed', { error: describeFault(error) });
    else this.logger.warn('connection closed with an error', { error: replyText, method: methodName(methodId) });
    this.counters.connectionErrors++;
    this.closeWith(known);
  }

  // InputOwner

  drainChannels(): void {
    this.channels.forEach((channel) => channel.drain());
  }

  /** A client that does not read what it asked for is not read either. */
  handledInput(): void {
    if (this.output.overfull && !this.input.isPausedBy(Pause.output)) this.input.pause(Pause.output);
  }

  givenAway(first: Uint8Array): void {
    this.state = State.closed;
    this.deadline.cancel();
    this.owner.passOn(this, this.socket, this.peer, first);
  }

  socketFailed(error: Error): void {
    this.logger.debug('socket error', { error: String(error) });
  }

  // OutputOwner

  beforeFlush(): void {
    if (this.ledgersDue.length === 0) return;
    const due = this.ledgersDue;
    this.ledgersDue = [];
    for (const ledger of due) ledger.flushConfirms();
  }

  relieved(): void {
    if (this.state === State.closed) return;
    this.channels.forEach((channel) => channel.deliveries.credit.resume());
    if (this.input.isPausedBy(Pause.output)) this.input.unpause(Pause.output);
  }

  roomForBodies(): void {
    this.channels.roomForBodies();
  }

  /** What is delivered here may have been delivered elsewhere since, flagged: this client must not see it unflagged now. */
  overdue(): void {
    this.drop('this process stood still while it delivered');
  }

  // HeartbeatOwner

  get bytesIn(): number {
    return this.input.bytes;
  }

  get isPaused(): boolean {
    return this.input.paused;
  }

  wroteSomething(): boolean {
    const { active } = this.output;
    this.output.active = false;
    if (!active) this.output.trim();
    return active;
  }

  sendHeartbeat(): void {
    this.input.parser.shrink();
    this.frames.heartbeat();
    this.output.touch();
  }

  missedHeartbeats(): void {
    this.drop(`missed heartbeats from client, timeout: ${this.opening.tuning.heartbeatSeconds}s`);
  }

  // Private

  private force(reason: string, text: string): void {
    if (this.state === State.opening) this.drop(reason);
    else this.closeWith(new ProtocolError(ReplyCode.connectionForced, text));
  }

  private get stateName(): string {
    if (this.state === State.opening) return this.opening.step;
    return this.state === State.running && this.blockage.isBlocked ? 'blocked' : this.state;
  }

  private connectionMethod(bytes: Uint8Array, start: number, end: number): void {
    if (this.state === State.closing) {
      this.closingMethod(methodIdAt(bytes, start, end));
      return;
    }
    const method = decodeMethod(bytes, start, end);
    if (method.id === MethodId.connectionClose) this.closeByClient();
    else if (this.state === State.opening) this.opening.method(method);
    else if (method.id === MethodId.connectionUpdateSecret) this.send(new ConnectionUpdateSecretOk());
    else throw notDueOnChannel0(method.id);
  }

  /** Frames of channels count only while running. */
  private outOfState(channel: number): void {
    if (this.state === State.closing || this.state === State.closed) return;
    const text = `unexpected frame on channel ${channel} while the connection is ${this.stateName}`;
    throw new ProtocolError(channel === 0 ? ReplyCode.unexpectedFrame : ReplyCode.channelError, text);
  }

  private closeByClient(): void {
    if (this.closeRequested) return;
    this.closeRequested = true;
    this.blockage.close();
    if (this.channels.idle) {
      this.finishClose();
      return;
    }
    this.deadline = this.clock.after(this.limits.closeTimeoutMs, () => this.finishClose());
  }

  private finishClose(): void {
    if (this.state === State.closing || this.state === State.closed) return;
    this.beginClosing();
    this.closeAnswered = true;
    this.send(new ConnectionCloseOk());
    this.output.flushLast();
  }

  /** A client that has our close-ok closes the socket (§1.4.2.10): of several closes that crossed each is answered. */
  private closingMethod(methodId: number): void {
    if (methodId === MethodId.connectionClose) this.send(new ConnectionCloseOk());
    else if (methodId !== MethodId.connectionCloseOk) return;
    if (this.closeAnswered) this.output.flushLast();
    else this.hangUp();
  }

  /** connection.close: the channels end at once, the socket when the client has answered. */
  private closeWith(error: ProtocolError): void {
    if (this.state === State.closing || this.state === State.closed) return;
    this.beginClosing();
    this.send(new ConnectionClose(error.code, error.replyText, error.methodId >>> 16, error.methodId & 0xffff));
    this.output.flushLast();
    // Without a parser no answer can be read: all that is left is to wait until the client hangs up.
    if (this.input.parser.stopped) this.socket.end();
  }

  private beginClosing(): void {
    this.state = State.closing;
    this.closeRequested = false;
    this.releaseBroker();
    this.armDeadline();
    this.input.unpauseForGood();
  }

  /** Writes what is left and ends the socket; a client that does not hang up is cut off. */
  private hangUp(): void {
    this.output.flushLast();
    this.input.parser.stop();
    this.socket.end();
    this.armDeadline();
  }

  private armDeadline(): void {
    this.deadline.cancel();
    this.deadline = this.clock.after(this.limits.closeTimeoutMs, () => this.socket.destroy());
  }

  socketClosed(): void {
    this.state = State.closed;
    this.deadline.cancel();
    this.heart?.stop();
    this.input.parser.stop();
    this.releaseBroker();
    this.opening.end();
    const seconds = Math.round((this.clock.wall() - this.connectedAt) / 1000);
    if (this.released) this.logger.info('connection ended', { seconds });
    this.owner.closed(this);
  }

  /** Channels end, what their clients hold goes back, exclusive queues are deleted. */
  private releaseBroker(): void {
    this.channels.dispose();
    this.blockage.close();
    if (this.released || this.opening.step !== Step.done) return;
    this.released = true;
    this.broker.connectionClosed(this.id);
  }
}
