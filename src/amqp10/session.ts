/**
 * One session (§2.5): its windows, its links, what waits for an outcome in either direction.
 *
 *   mapped ──end──► gone          mapped ──error: our end──► ended (frames are discarded) ──client's end──► gone
 *
 * Client to broker: transfers are counted, and the client is told of more room when half of it is used. Broker to client: TransferWindow.
 */
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import type { EnqueueView, MessageParts } from '../log/record.js';
import type { Broker, ConnectionId, DeliverySink } from '../model/broker.js';
import type { Permissions } from '../security/permissions.js';
import type { Output } from '../socket/output.js';
import {
  absent,
  type AmqpError,
  AmqpError as Failure,
  type Attach,
  Begin,
  Condition,
  Descriptor,
  type DeliveryState,
  type Detach,
  Disposition,
  type DispositionView,
  End,
  Flow,
  type FlowView,
  type FrameWriter,
  type Performative,
  Rejected,
  type TransferView,
} from './codec/index.js';
import { CoordinatorLink } from './coordinator-link.js';
import type { Counters } from './counters.js';
import { Deliveries, type OutgoingHost } from './deliveries.js';
import { describeFault, isFault, LinkError, SessionError, toAmqpError } from './errors.js';
import { IncomingLink } from './incoming-link.js';
import type { Limits } from './limits.js';
import { type Link, LinkState } from './link.js';
import { AnswersLink } from './management/answers-link.js';
import { isManagement, pairOf } from './management/pair.js';
import { RequestsLink } from './management/requests-link.js';
import { OutcomeLedger, PublishOutcome } from './outcome-ledger.js';
import { OutgoingLink } from './outgoing-link.js';
import { OwnSettlements } from './own-settlements.js';
import type { PartialBytes } from './partial-bytes.js';
import { ResumableLinks } from './resumable-links.js';
import { add } from './serial.js';
import type { ConnectionHost } from './session-host.js';
import type { TransactionTable } from './transaction-table.js';
import { TransferWindow } from './transfer-window.js';

/** There are clients, rhea among them, whose window stays shut after a flow from here when the numbers of transfers have gone round. */
const firstTransferId = 0;

const stateOf = {
  [PublishOutcome.accepted]: Descriptor.accepted,
  [PublishOutcome.released]: Descriptor.released,
  [PublishOutcome.rejected]: Descriptor.rejected,
} as const;

export class Session implements OutgoingHost {
  readonly channel: number;
  readonly ledger: OutcomeLedger;
  readonly transactions: TransactionTable;
  readonly resumable: ResumableLinks = new ResumableLinks();
  private readonly connection: ConnectionHost;
  private readonly ownChannel: number;
  private readonly window: TransferWindow;
  private readonly deliveries: Deliveries;
  private readonly settlements: OwnSettlements;
  private readonly links: Map<number, Link> = new Map();
  /** By our handles; the client's own. */
  private readonly ownHandles: (Link | undefined)[] = [];
  private readonly peerHandleMax: number;
  private nextIncomingId: number;
  /** Transfers that the client may still send. */
  private incomingRoom: number;
  /** Our end is out. */
  private ended = false;
  private flushScheduled = false;
  /** Links whose outcomes were told in this turn. */
  private told: { topUp(): void }[] = [];

  constructor(
    connection: ConnectionHost,
    channel: number,
    ownChannel: number,
    request: Begin,
    transactions: TransactionTable,
  ) {
    this.connection = connection;
    this.transactions = transactions;
    this.channel = channel;
    this.ownChannel = ownChannel;
    this.nextIncomingId = request.nextOutgoingId;
    this.incomingRoom = connection.limits.incomingWindow;
    this.peerHandleMax = request.handleMax;
    const { frames, output } = connection;
    this.window = new TransferWindow(frames, output, ownChannel, firstTransferId, 0, () => this.askForRoom());
    this.window.update(undefined, request.incomingWindow);
    this.settlements = new OwnSettlements(() => this.outcomesDue());
    this.deliveries = new Deliveries(this, this.window, this.settlements, () => this.replenish());
    this.ledger = new OutcomeLedger(() => this.outcomesDue());
    const begin = new Begin();
    begin.remoteChannel = channel;
    begin.nextOutgoingId = firstTransferId;
    begin.incomingWindow = this.incomingRoom;
    begin.outgoingWindow = 0x7fff_ffff;
    begin.handleMax = connection.limits.handleMax;
    this.send(begin);
  }

  // Frames. They throw AmqpError for the connection, SessionError for this session.

  transfer(view: TransferView): void {
    if (this.ended) return;
    if (this.incomingRoom <= 0)
      throw new SessionError(Condition.sessionWindowViolation, 'a transfer beyond the incoming window');
    this.incomingRoom--;
    this.nextIncomingId = add(this.nextIncomingId, 1);
    const link = this.linkOf(view.handle);
    if (!(link instanceof IncomingLink || link instanceof RequestsLink || link instanceof CoordinatorLink))
      throw new SessionError(
        Condition.sessionErrantLink,
        `a transfer on link '${link.name}', where this broker is the sender`,
      );
    try {
      (link as IncomingLink | CoordinatorLink).transfer(view);
    } catch (error) {
      endLink(link, error);
    }
    if (this.incomingRoom * 2 <= this.limits.incomingWindow) this.openWindow();
  }

  flow(view: FlowView): void {
    if (this.ended) return;
    const wasOpen = this.window.isOpen;
    this.window.update(view.nextIncomingId === absent ? undefined : view.nextIncomingId, view.incomingWindow);
    this.deliveries.goOn();
    if (view.handle === absent) {
      if (view.echo) this.sendFlow(new Flow());
    } else {
      this.linkFlow(this.linkOf(view.handle), view);
    }
    if (!wasOpen && this.window.isOpen) this.replenish();
  }

  private linkFlow(link: Link, view: FlowView): void {
    if (!link.toClient)
      return (link as IncomingLink | CoordinatorLink | RequestsLink).flow(view.deliveryCount, view.echo);
    try {
      (link as OutgoingLink | AnswersLink).flow(view);
    } catch (error) {
      endLink(link, error);
    }
  }

  disposition(view: DispositionView): void {
    if (this.ended) return;
    if (this.resumable.isAny) this.resumable.said(view, this.settleOthers);
    else if (view.role) this.settleOthers(view);
  }

  private readonly settleOthers = (view: DispositionView): void => {
    this.deliveries.settle(view);
    if (this.deliveries.regainsRoom()) this.replenish();
  };

  attach(request: Attach): void {
    if (this.ended) return;
    const { handle, name } = request;
    if (handle > this.limits.handleMax)
      throw new Failure(
        Condition.connectionFramingError,
        `handle ${handle} is above handle-max (${this.limits.handleMax})`,
      );
    if (this.links.has(handle)) throw new SessionError(Condition.sessionHandleInUse, `handle ${handle} is in use`);
    if (this.counters.links >= this.limits.allLinksMax) {
      const text = `all connections have ${this.limits.allLinksMax} links, there may be no more`;
      throw new SessionError(Condition.resourceLimitExceeded, text);
    }
    const ownHandle = this.ownHandles.findIndex((link) => link === undefined);
    const own = ownHandle < 0 ? this.ownHandles.length : ownHandle;
    if (own > this.peerHandleMax)
      throw new SessionError(
        Condition.resourceLimitExceeded,
        `link '${name}' needs a handle above the peer's handle-max`,
      );
    const link = this.newLink(request, own);
    this.links.set(handle, link);
    this.ownHandles[own] = link;
    this.counters.links++;
    this.connection.linkAttached(link);
    link.attach();
  }

  detach({ handle, closed }: Detach): void {
    if (!this.ended) this.linkOf(handle).detachedByClient(closed);
  }

  /** The client ends the session. */
  endedByClient(): void {
    if (!this.ended) {
      this.release();
      this.ended = true;
      this.send(new End());
    }
    this.connection.sessionGone(this.channel);
  }

  /** Ends the session with an error; frames are discarded until the client's end. */
  fail(error: AmqpError): void {
    if (this.ended) return;
    this.counters.sessionErrors++;
    this.logger.info('session ended with an error', {
      channel: this.channel,
      condition: error.condition,
      error: error.message,
    });
    this.release();
    this.ended = true;
    const end = new End();
    end.error = error.fields;
    this.send(end);
  }

  /** The connection is gone or going: no more output. */
  dispose(): void {
    if (this.ended) return;
    this.ended = true;
    this.release();
  }

  /** The client reads again, or may be given more. */
  replenish(): void {
    for (const link of this.links.values()) if (link.toClient) link.replenish();
  }

  /** The output takes more of what goes out in part. */
  roomForParts(): void {
    if (this.ended) return;
    const wasOpen = this.window.isOpen;
    this.window.goOn();
    this.deliveries.goOn();
    if (!wasOpen && this.window.isOpen) this.replenish();
  }

  /** Publishers may go on. */
  topUp(): void {
    for (const link of this.links.values()) if (link instanceof IncomingLink) link.topUp();
  }

  flushOutcomes(): void {
    this.flushScheduled = false;
    if (this.ended) return;
    this.ledger.flush((first, last, outcome, error) => {
      if (outcome !== PublishOutcome.rejected)
        return this.frames.disposition(this.ownChannel, true, first, last, stateOf[outcome]);
      const rejected = new Rejected();
      rejected.error = error?.fields;
      this.frames.dispositionWith(this.ownChannel, true, first, rejected);
    });
    this.settlements.flush((first, last, state) => this.settle(first, last, state));
    const { told } = this;
    this.told = [];
    for (const link of told) link.topUp();
  }

  // What links need

  get sink(): DeliverySink {
    return this.deliveries;
  }
  get hasRoom(): boolean {
    return this.deliveries.hasRoom;
  }
  get isSending(): boolean {
    return this.window.isSending;
  }
  get windowMax(): number {
    return this.deliveries.windowMax;
  }
  creditDue(link: OutgoingLink): void {
    this.deliveries.creditDue(link);
  }
  sendAcquired(
    link: OutgoingLink,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
    resumes: boolean,
  ): number {
    return this.deliveries.sendAcquired(link, position, redelivered, message, returns, resumes);
  }
  giveBack(link: OutgoingLink): boolean {
    return this.deliveries.giveBack(link);
  }

  sendOwn(ownHandle: number, payload: Uint8Array): void {
    this.deliveries.sendOwn(ownHandle, payload);
  }
  answersOf(name: string): AnswersLink | undefined {
    return pairOf(this.links.values(), name);
  }

  send(body: Performative): void {
    this.connection.send(this.ownChannel, body);
  }

  answer(deliveryId: number, state: DeliveryState): void {
    if (!this.ended)
      this.send(Object.assign(new Disposition(), { role: true, first: deliveryId, settled: true, state }));
  }

  sendFlow(flow: Flow): void {
    flow.nextIncomingId = this.nextIncomingId;
    flow.incomingWindow = this.incomingRoom;
    flow.nextOutgoingId = this.window.nextId;
    flow.outgoingWindow = 0x7fff_ffff;
    this.send(flow);
  }

  linkGone(link: Link): void {
    if (this.links.get(link.handle) !== link) return;
    this.links.delete(link.handle);
    this.ownHandles[link.ownHandle] = undefined;
    this.counters.links--;
    this.connection.linkGone(link);
  }

  linkFailed(link: Link, error: unknown): void {
    if (isFault(error)) this.logger.error('a link failed', { link: link.name, error: describeFault(error) });
    link.fail(toAmqpError(error));
  }

  toldOutcome(link: { topUp(): void }): void {
    this.told.push(link);
  }

  // What is the connection's

  get id(): ConnectionId {
    return this.connection.id;
  }
  get vhost(): string {
    return this.connection.vhost;
  }
  get user(): string {
    return this.connection.user;
  }
  get container(): string {
    return this.connection.container;
  }
  get permissions(): Permissions {
    return this.connection.permissions;
  }
  get broker(): Broker {
    return this.connection.broker;
  }
  get turn(): Turn {
    return this.connection.turn;
  }
  get clock(): Clock {
    return this.connection.clock;
  }
  get logger(): Logger {
    return this.connection.logger;
  }
  get limits(): Limits {
    return this.connection.limits;
  }
  get counters(): Counters {
    return this.connection.counters;
  }
  get output(): Output {
    return this.connection.output;
  }
  get frames(): FrameWriter {
    return this.connection.frames;
  }
  get parts(): MessageParts {
    return this.connection.parts;
  }
  get partials(): PartialBytes {
    return this.connection.partials;
  }
  publishing(bytes: number): void {
    this.connection.publishing(bytes);
  }
  answeredTooLate(): void {
    this.connection.answeredTooLate();
  }

  // Private

  private newLink(
    request: Attach,
    own: number,
  ): OutgoingLink | IncomingLink | CoordinatorLink | AnswersLink | RequestsLink {
    if (isManagement(request))
      return request.role ? new AnswersLink(this, request, own) : new RequestsLink(this, request, own);
    if (request.role) return new OutgoingLink(this, request, own);
    const isCoordinator = request.target?.descriptor === Descriptor.coordinator;
    return isCoordinator ? new CoordinatorLink(this, request, own) : new IncomingLink(this, request, own);
  }

  private linkOf(handle: number): Link {
    const link = this.links.get(handle);
    if (link === undefined) throw new SessionError(Condition.sessionUnattachedHandle, `no link has handle ${handle}`);
    return link;
  }

  private settle(first: number, last: number, state: DeliveryState | undefined): void {
    const { frames, ownChannel } = this;
    if (state === undefined) return frames.disposition(ownChannel, false, first, last, Descriptor.accepted);
    this.send(Object.assign(new Disposition(), { role: false, first, last, settled: true, state }));
  }

  private openWindow(): void {
    this.incomingRoom = this.limits.incomingWindow;
    this.sendFlow(new Flow());
  }

  private askForRoom(): void {
    this.sendFlow(Object.assign(new Flow(), { echo: true }));
  }

  private outcomesDue(): void {
    if (this.flushScheduled) return;
    this.flushScheduled = true;
    this.connection.flushDue(this);
  }

  private release(): void {
    this.deliveries.beginClose();
    for (const link of this.links.values()) {
      if (link.state !== LinkState.gone) link.dispose();
      this.counters.links--;
      this.connection.linkGone(link);
    }
    this.links.clear();
    this.deliveries.close();
    this.broker.forgetPublisher(this.ledger);
  }
}

/** What is wrong with a link ends the link. */
function endLink(link: Link, error: unknown): void {
  if (!(error instanceof LinkError)) throw error;
  link.fail(error);
}
