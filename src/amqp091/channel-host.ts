import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import type { MessageParts } from '../log/record.js';
import type { Broker, ConnectionId, Route } from '../model/broker.js';
import type { Occupancy } from '../security/occupancy.js';
import type { Permissions } from '../security/permissions.js';
import type { ClientTraits } from './client-traits.js';
import type { FrameWriter } from './codec/index.js';
import type { BacklogTotal } from './backlog-total.js';
import type { ConfirmLedger } from './confirm-ledger.js';
import type { Counters } from './counters.js';
import type { Input } from '../socket/input.js';
import type { Limits } from './limits.js';
import type { Output } from '../socket/output.js';
import type { BodyHolder, PartialBodies } from './partial-bodies.js';
import type { RouteMemo } from './route-memo.js';

/** What a channel needs of its connection. */
export interface ChannelHost extends BodyHolder {
  readonly id: ConnectionId;
  readonly vhost: string;
  readonly user: string;
  readonly permissions: Permissions;
  readonly occupancy: Occupancy;
  readonly traits: ClientTraits;
  readonly broker: Broker;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly counters: Counters;
  readonly input: Input;
  readonly output: Output;
  readonly frames: FrameWriter;
  /** One flyweight for all publishes. */
  readonly parts: MessageParts;
  /** Bodies received in part, of all connections. */
  readonly partials: PartialBodies;
  /** Of all connections. */
  readonly routes: RouteMemo;
  /** Frames that have queued on channels wait on: the connection is paused for something that concerns them too. */
  readonly holdsBacklogs: boolean;
  /** This connection has published, so that the gate concerns it. */
  readonly publishes: boolean;
  beginsToPublish(): void;
  /** The channel has published by that route, and publishers to some queues wait (see Blockage). */
  publishedBy(route: Route, channel: number): void;
  /** The ledger wants to be flushed when this turn's output leaves. */
  confirmsDue(ledger: ConfirmFlush): void;
  /** Of all channels together. */
  readonly backlogs: BacklogTotal;
  /** Passes a frame on that a channel has queued and that belongs to its successor. */
  dispatch(channel: number, type: number, bytes: Uint8Array, start: number, end: number): void;
  /** The channel is gone: its number is free. */
  channelClosed(channel: number): void;
  /** The channel waits for nothing any more. */
  channelIdle(): void;
  /** A method was answered by the broker after its connection had ended: what it made must go as well. */
  answeredTooLate(): void;
}

/** Writes the confirms that are due. */
export interface ConfirmFlush {
  readonly confirms: ConfirmLedger | null;
  flushConfirms(): void;
}
