import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { MessageParts } from '../log/record.js';
import type { Broker, ConnectionId } from '../model/broker.js';
import type { Permissions } from '../security/permissions.js';
import type { Output } from '../socket/output.js';
import type { Turn } from '../base/turn.js';
import type { AmqpError, DeliveryState, Flow, FrameWriter, Performative } from './codec/index.js';
import type { Counters } from './counters.js';
import type { Limits } from './limits.js';
import type { Link } from './link.js';
import type { OutcomeLedger } from './outcome-ledger.js';
import type { ResumableLinks } from './resumable-links.js';
import type { PartialBytes } from './partial-bytes.js';
import type { TransactionTable } from './transaction-table.js';

/** What a session needs of its connection. */
export interface ConnectionHost {
  readonly id: ConnectionId;
  readonly vhost: string;
  readonly user: string;
  /** The client's container-id. */
  readonly container: string;
  readonly permissions: Permissions;
  readonly broker: Broker;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly counters: Counters;
  readonly output: Output;
  readonly frames: FrameWriter;
  /** One flyweight for all publishes. */
  readonly parts: MessageParts;
  readonly partials: PartialBytes;
  /** Handles of links that the client takes are at most this. */
  send(channel: number, body: Performative): void;
  /** A message of this connection goes to the broker. @param bytes of it */
  publishing(bytes: number): void;
  /** The session wants to be flushed when this turn's output leaves. */
  flushDue(session: { flushOutcomes(): void }): void;
  /** A link of that key is attached: another one that has it ends. */
  linkAttached(link: Link): void;
  linkGone(link: Link): void;
  sessionGone(channel: number): void;
  /** What the broker has made for this connection came too late, and must go. */
  answeredTooLate(): void;
  fail(error: unknown): void;
}

/** What a link needs of its session. */
export interface SessionHost
  extends Omit<ConnectionHost, 'send' | 'fail' | 'linkAttached' | 'sessionGone' | 'flushDue'> {
  readonly ledger: OutcomeLedger;
  readonly transactions: TransactionTable;
  readonly resumable: ResumableLinks;
  send(body: Performative): void;
  /** Session's and link's flow state: a flow about that link (§2.7.4). */
  sendFlow(flow: Flow): void;
  /** What becomes of a delivery of the client: it is settled with that, at once. */
  answer(deliveryId: number, state: DeliveryState): void;
  linkFailed(link: Link, error: unknown): void;
  /** Outcomes of the link's publishes are being told: `topUp` is due when all are. */
  toldOutcome(link: { topUp(): void }): void;
}

export type { AmqpError };
