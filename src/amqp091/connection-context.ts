import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import type { Admission } from '../model/admission.js';
import type { Broker, ConnectionId } from '../model/broker.js';
import type { Authenticator } from '../security/authenticator.js';
import type { Peer } from '../security/peer.js';
import type { Occupancy } from '../security/occupancy.js';
import type { Connection } from './connection.js';
import type { Counters } from './counters.js';
import type { Product } from './product.js';
import type { InputTurns } from '../base/input-turns.js';
import type { Limits } from './limits.js';
import type { PartialBodies } from './partial-bodies.js';
import type { RouteMemo } from './route-memo.js';

/** What all connections of a server share. */
export interface ConnectionContext {
  broker: Broker;
  turn: Turn;
  clock: Clock;
  logger: Logger;
  authenticator: Authenticator;
  occupancy: Occupancy;
  admission: Admission;
  limits: Limits;
  counters: Counters;
  partials: PartialBodies;
  routes: RouteMemo;
  inputTurns: InputTurns;
  product: Product;
}

/** What is known of a client beside its address. */
export type Transport = Pick<Peer, 'tls' | 'certificateName'>;

/** Takes clients of another protocol over, which come to the same port. */
export interface OtherServer {
  speaks(header: Uint8Array): boolean;
  take(socket: Socket, id: ConnectionId, transport: Transport, first: Uint8Array): void;
  readonly connectionCount: number;
}

export const inTheClear: Transport = { tls: '', certificateName: undefined };

/** Told by a connection about its life. */
export interface ConnectionOwner {
  /** The handshake is over. */
  opened(connection: Connection): void;
  closed(connection: Connection): void;
  /** Whether another server takes clients that begin with this header. */
  isOthers(header: Uint8Array): boolean;
  /** Such a client is that server's now. @param first what it has said, from its header on */
  passOn(connection: Connection, socket: Socket, transport: Transport, first: Uint8Array): void;
  /** It speaks something else, and is about to be ended. @param beginning what it said first, eight bytes at most */
  foreign(connection: Connection, beginning: Uint8Array): void;
}
