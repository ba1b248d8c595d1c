/**
 * One client connection: the socket, its SASL layer, its open and close, and the sessions by channel.
 *
 *   header ──SASL──► sasl ──outcome──► header ──AMQP──► open ──► (admission) ──► running ──► closing ──► closed
 *      └──AMQP: anonymous, if that is allowed──────────────┘
 *
 * Input. What the socket gives goes through the parser to a session, and is handled at once. What is thrown below ends what it is about:
 * LinkError a link, SessionError a session, AmqpError the connection. Output is written through `frames` and leaves once a turn.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import { MessageParts } from '../log/record.js';
import type { Departed } from '../model/access/access-tables.js';
import type { Broker, ConnectionId } from '../model/broker.js';
import { type Peer, peerAt } from '../security/peer.js';
import type { Permissions } from '../security/permissions.js';
import { Pause } from '../socket/input-gate.js';
import { Input, type InputOwner } from '../socket/input.js';
import { Output, type OutputOwner } from '../socket/output.js';
import {
  AmqpError,
  Close,
  Condition,
  decodePerformative,
  decodeSasl,
  Descriptor,
  descriptorName,
  type FrameHandler,
  FrameParser,
  frameMaxLeast,
  FrameType,
  FrameWriter,
  Open,
  type Performative,
  performativeAt,
  ProtocolId,
  protocolIdAt,
} from './codec/index.js';
import type { ConnectionContext, ConnectionOwner, Transport } from './connection-context.js';
import type { Counters } from './counters.js';
import { describeFault, isFault, toAmqpError } from './errors.js';
import { Idle, type IdleOwner } from './idle.js';
import type { Limits } from './limits.js';
import type { Link } from './link.js';
import { enter, isAdmitted, ownOpen, redirection, vhostOf } from './opening.js';
import { PartialBytes } from './partial-bytes.js';
import { SaslLayer, type SaslHost } from './sasl-layer.js';
import { SessionTable } from './session-table.js';
import type { ConnectionHost } from './session-host.js';

const Step = {
  header: 'starting',
  sasl: 'securing',
  secondHeader: 'secured',
  open: 'opening',
  admission: 'waiting for a primary',
  running: 'running',
  closing: 'closing',
  closed: 'closed',
} as const;
type Step = (typeof Step)[keyof typeof Step];

/** Frames of the SASL layer; some mechanisms of others have long tokens. */
const saslFrameMax = 8_192;

export class Connection implements ConnectionHost, FrameHandler, InputOwner, OutputOwner, SaslHost, IdleOwner {
  readonly id: ConnectionId;
  readonly name: string;
  readonly broker: Broker;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly counters: Counters;
  readonly output: Output;
  readonly frames: FrameWriter;
  readonly parts: MessageParts = new MessageParts();
  readonly partials: PartialBytes;
  user = '';
  vhost = '';
  private readonly context: ConnectionContext;
  private readonly owner: ConnectionOwner;
  private readonly socket: Socket;
  private readonly peer: Peer;
  private readonly input: Input<FrameParser>;
  private readonly sasl: SaslLayer;
  private readonly sessions: SessionTable;
  private readonly links: Map<string, Link> = new Map();
  private step: Step = Step.header;
  private deadline: Timer;
  private idle: Idle | undefined;
  /** The client's open. */
  asked: Open = new Open();
  private own: Permissions | undefined;
  private sentOpen = false;
  /** The client has asked for no SASL layer. */
  private isBare = false;
  private gatedBytes = 0;
  private due: { flushOutcomes(): void }[] = [];
  /** The broker was told that the connection has ended. */
  released = false;

  /** @param first what it has said already: its protocol header, and what came with that */
  constructor(
    socket: Socket,
    id: ConnectionId,
    context: ConnectionContext,
    owner: ConnectionOwner,
    transport: Transport,
    first: Uint8Array,
  ) {
    this.socket = socket;
    this.id = id;
    this.context = context;
    this.owner = owner;
    this.name = `${socket.remoteAddress}:${socket.remotePort} -> ${socket.localAddress}:${socket.localPort}`;
    this.broker = context.broker;
    this.turn = context.turn;
    this.clock = context.clock;
    this.limits = context.limits;
    this.counters = context.counters;
    this.logger = context.logger.child({ connection: this.name });
    this.partials = new PartialBytes(this.limits.partialBytesMax, context.partials, (error) => this.fail(error));
    this.peer = { ...peerAt(socket.remoteAddress ?? ''), ...transport };
    const parser = new FrameParser(this);
    parser.frameMax = saslFrameMax;
    parser.expectHeader();
    this.input = new Input(socket, context.turn, context.inputTurns, context.counters, parser, this);
    this.output = new Output(socket, context.turn, context.counters, context.limits, this);
    this.frames = new FrameWriter(this.output.writer);
    this.sessions = new SessionTable(this, () => this.closedByClient());
    this.sasl = new SaslLayer(this, context.authenticator, this.peer);
    this.deadline = this.clock.after(this.limits.handshakeTimeoutMs, () => this.drop('the handshake took too long'));
    this.input.received(Buffer.from(first));
  }

  // What the server asks

  /** Ends the connection with a close, as when the broker stops; bounded by the close timeout. */
  closeByServer(reason: string): void {
    this.force(`broker forced connection closure with reason '${reason}'`);
  }

  /** Ends the connection if it is of a user or in a vhost that is gone. */
  partFrom({ users, vhosts }: Departed): void {
    if (users.has(this.user)) this.force(`user '${this.user}' is deleted`);
    else if (vhosts.has(this.vhost)) this.force(`vhost '${this.vhost}' is deleted`);
  }

  /** This node may have begun or ceased to serve ordinary clients. */
  admissionChanged(): void {
    if (this.step === Step.admission) this.admit();
    else if (this.step === Step.running && isAdmitted(this.context.admission) === false) this.turnAway();
  }

  /** The broker's gate has opened ('') or closed: links get no credit, and who sends all the same is not read. */
  gateChanged(reason: string): void {
    if (reason !== '' || this.step !== Step.running) return;
    this.gatedBytes = 0;
    if (this.input.isPausedBy(Pause.gate)) this.input.unpause(Pause.gate);
    this.sessions.forEach((session) => session.topUp());
  }

  destroy(): void {
    this.socket.destroy();
  }

  drop(reason: string): void {
    this.logger.info('connection dropped', { reason });
    this.socket.destroy();
  }

  // FrameHandler

  protocolHeader(bytes: Uint8Array, start: number): void {
    const id = protocolIdAt(bytes, start);
    if (this.step === Step.header && id === ProtocolId.sasl) {
      this.step = Step.sasl;
      this.frames.protocolHeader(ProtocolId.sasl);
      this.sasl.begin();
    } else if (this.step === Step.header && id === ProtocolId.amqp && this.sasl.beginBare()) {
      this.isBare = true;
      this.step = Step.sasl;
    } else if (this.step === Step.secondHeader && id === ProtocolId.amqp) {
      this.beginAmqp();
    } else {
      // What is supported is the answer to everything else (§2.2).
      this.frames.protocolHeader(this.step === Step.header ? ProtocolId.sasl : ProtocolId.amqp);
      this.hangUp();
    }
  }

  frame(type: number, channel: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.step === Step.sasl) return this.saslFrame(type, bytes, start, end);
    if (type !== FrameType.amqp)
      throw new AmqpError(Condition.connectionFramingError, 'a SASL frame behind the SASL layer');
    if (start === end) return;
    if (this.step === Step.running) this.sessions.frame(channel, bytes, start, end);
    else if (this.step === Step.closing) this.closingFrame(bytes, start, end);
    else if (this.step === Step.open) this.openFrame(bytes, start, end);
  }

  // SaslHost

  sendSasl(body: Parameters<SaslHost['sendSasl']>[0]): void {
    this.frames.sasl(body);
    this.output.touch();
  }

  pauseParser(): void {
    this.input.holdParser();
  }

  resumeParser(): void {
    this.input.releaseParser();
  }

  authenticated(user: string, mechanism: string): void {
    if (this.step !== Step.sasl) return;
    this.user = user;
    this.logger.debug('authenticated', { user, mechanism });
    // Without the SASL layer the header has come already.
    if (this.isBare) return this.beginAmqp();
    this.step = Step.secondHeader;
    this.input.parser.expectHeader();
  }

  refused(user: string, reason: string): void {
    this.counters.authenticationFailures++;
    this.logger.warn('login refused', { user, reason });
    if (this.step !== Step.closed) this.hangUp();
  }

  // ConnectionHost

  get container(): string {
    return this.asked.containerId;
  }
  get permissions(): Permissions {
    return this.own!;
  }

  send(channel: number, body: Performative): void {
    if (this.step === Step.closed) return;
    try {
      this.frames.performative(channel, body);
      this.output.touch();
    } catch (error) {
      this.fail(error);
    }
  }

  publishing(bytes: number): void {
    if (this.broker.gate.closed === '') return;
    this.gatedBytes += bytes;
    if (this.gatedBytes > this.limits.gatedBytesMax && !this.input.isPausedBy(Pause.gate)) this.input.pause(Pause.gate);
  }

  flushDue(session: { flushOutcomes(): void }): void {
    this.due.push(session);
    this.output.touch();
  }

  linkAttached(link: Link): void {
    const other = this.links.get(link.key);
    this.links.set(link.key, link);
    // §2.6.1: a link is attached once; who attaches it again has it.
    other?.fail(new AmqpError(Condition.linkStolen, `link '${link.name}' was attached again`));
  }

  linkGone(link: Link): void {
    if (this.links.get(link.key) === link) this.links.delete(link.key);
  }

  sessionGone(channel: number): void {
    this.sessions.remove(channel);
  }

  answeredTooLate(): void {
    if (this.released) this.broker.connectionClosed(this.id);
  }

  /** Ends the connection with what `error` means to the client. */
  fail(error: unknown): void {
    if (this.step === Step.closing || this.step === Step.closed) return;
    const known = toAmqpError(error);
    if (isFault(error)) this.logger.error('connection failed', { error: describeFault(error) });
    else this.logger.warn('connection closed with an error', { condition: known.condition, error: known.message });
    this.counters.connectionErrors++;
    this.closeWith(known);
  }

  // InputOwner

  drainChannels(): void {}
  /** A client that does not read what it asked for is not read either. */
  handledInput(): void {
    if (this.output.overfull && !this.input.isPausedBy(Pause.output)) this.input.pause(Pause.output);
  }

  givenAway(): void {}

  socketFailed(error: Error): void {
    this.logger.debug('socket error', { error: String(error) });
  }

  // OutputOwner

  beforeFlush(): void {
    if (this.due.length === 0) return;
    const { due } = this;
    this.due = [];
    for (const session of due) session.flushOutcomes();
  }

  relieved(): void {
    if (this.step === Step.closed) return;
    this.sessions.forEach((session) => session.replenish());
    if (this.input.isPausedBy(Pause.output)) this.input.unpause(Pause.output);
  }

  roomForBodies(): void {
    this.sessions.forEach((session) => session.roomForParts());
  }

  /** What is delivered here may have been delivered elsewhere since: this client must not see it now. */
  overdue(): void {
    this.drop('this process stood still while it delivered');
  }

  // IdleOwner

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

  sendEmptyFrame(): void {
    this.input.parser.shrink();
    this.frames.empty();
    this.output.touch();
  }

  wasSilent(): void {
    this.fail(new AmqpError(Condition.resourceLimitExceeded, `nothing came for ${this.limits.idleTimeoutMs} ms`));
    this.drop(`the client was silent for ${this.limits.idleTimeoutMs} ms`);
  }

  // Private

  private beginAmqp(): void {
    this.step = Step.open;
    this.frames.protocolHeader(ProtocolId.amqp);
    this.output.touch();
    this.input.parser.frameMax = this.limits.frameMax;
  }

  private saslFrame(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (type !== FrameType.sasl) return this.drop('a frame of AMQP in the SASL layer');
    try {
      this.sasl.frame(decodeSasl(bytes, start, end));
    } catch (error) {
      // Nothing can be said before open (§2.4.1).
      this.drop(`SASL: ${(error as Error).message}`);
    }
  }

  private openFrame(bytes: Uint8Array, start: number, end: number): void {
    const body = decodePerformative(bytes, start, end);
    if (body.descriptor === Descriptor.open) this.open(body);
    else throw new AmqpError(Condition.illegalState, `${descriptorName(body.descriptor)} before open`);
  }

  private open(open: Open): void {
    const { broker, authenticator, occupancy } = this.context;
    if (open.maxFrameSize < frameMaxLeast)
      throw new AmqpError(Condition.invalidField, `max-frame-size ${open.maxFrameSize} is below ${frameMaxLeast}`);
    this.frames.frameMax = Math.min(open.maxFrameSize, this.limits.frameMax);
    this.sessions.peerChannelMax = open.channelMax;
    this.vhost = vhostOf(open.hostname);
    this.own = enter({ authenticator, occupancy, hasVhost: (name) => broker.hasVhost(name) }, this.user, this.vhost);
    this.asked = open;
    this.owner.entered(this);
    this.step = Step.admission;
    this.deadline.cancel();
    this.deadline = this.clock.after(this.limits.admissionWaitMs, () => this.turnAway());
    this.admit();
    if (this.step === Step.admission) this.input.holdParser();
  }

  /** Lets the client in or sends it away, if that is settled. */
  private admit(): void {
    const admitted = isAdmitted(this.context.admission);
    if (admitted === undefined) return;
    this.input.releaseParser();
    if (!admitted) return this.turnAway();
    this.deadline.cancel();
    this.step = Step.running;
    this.sendOpen(false);
    this.idle = new Idle(this.clock, this.limits.idleTimeoutMs, this.asked.idleTimeOut ?? 0, this);
    const tls = this.peer.tls || undefined;
    this.logger.info('connection opened', { user: this.user, vhost: this.vhost, protocol: 'AMQP 1.0', tls });
    this.owner.opened(this);
  }

  private turnAway(): void {
    this.counters.connectionsRedirected++;
    this.closeWith(redirection(this.context.admission, this.peer.tls !== ''));
  }

  private sendOpen(fails: boolean): void {
    this.sentOpen = true;
    const others = this.context.admission.addresses(this.peer.tls !== '');
    const opened = { frameMax: this.frames.frameMax, others, asked: this.asked };
    this.frames.performative(0, ownOpen(this.limits, this.context.product, opened, fails));
    this.output.touch();
  }

  private force(text: string): void {
    if (this.step === Step.running) this.closeWith(new AmqpError(Condition.connectionForced, text));
    else if (this.step !== Step.closing && this.step !== Step.closed) this.drop(text);
  }

  /** The client closes. */
  private closedByClient(): void {
    this.releaseBroker();
    this.frames.performative(0, new Close());
    this.hangUp();
  }

  /** Our close: sessions end at once, the socket when the client has answered. */
  private closeWith(error: AmqpError): void {
    if (this.step === Step.closing || this.step === Step.closed) return;
    // Before AMQP's header there is no frame that could say it.
    const canSay = this.step === Step.open || this.step === Step.admission || this.step === Step.running;
    if (!canSay) return this.drop(error.message);
    if (!this.sentOpen) this.sendOpen(true);
    this.releaseBroker();
    this.step = Step.closing;
    const close = new Close();
    close.error = error.fields;
    this.frames.frameMax = Math.max(this.frames.frameMax, error.message.length + frameMaxLeast);
    this.frames.performative(0, close);
    this.output.flushLast();
    this.armDeadline();
    this.input.unpauseForGood();
    // Without a parser no answer can be read: all that is left is to wait until the client hangs up.
    if (this.input.parser.stopped) this.socket.end();
  }

  /** Everything is discarded but the answer to our close (§2.4.3). */
  private closingFrame(bytes: Uint8Array, start: number, end: number): void {
    if (performativeAt(bytes, start, end) === Descriptor.close) this.hangUp();
  }

  /** Writes what is left and ends the socket; a client that does not hang up is cut off. */
  private hangUp(): void {
    this.step = Step.closing;
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
    this.step = Step.closed;
    this.deadline.cancel();
    this.input.parser.stop();
    this.sasl.end();
    this.releaseBroker();
    this.logger.info('connection ended');
    this.owner.closed(this);
  }

  /** Sessions end, what their clients hold goes back, exclusive queues are deleted. */
  private releaseBroker(): void {
    this.idle?.stop();
    this.sessions.dispose();
    if (this.released || this.own === undefined) return;
    this.released = true;
    this.context.occupancy.leave(this.user, this.vhost);
    this.broker.connectionClosed(this.id);
  }
}
