import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import type { Admission } from '../model/admission.js';
import type { Broker } from '../model/broker.js';
import type { Authenticator } from '../security/authenticator.js';
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
  admission: Admission;
  limits: Limits;
  counters: Counters;
  partials: PartialBodies;
  routes: RouteMemo;
  inputTurns: InputTurns;
  product: Product;
}

/** What the transport knows of a client. */
export interface Peer {
  /** Version of TLS, such as TLSv1.3; '' = it is in the clear. */
  readonly tls: string;
  /** The user that its certificate names; undefined: none does. */
  readonly certificateName: string | undefined;
}

export const plainPeer: Peer = { tls: '', certificateName: undefined };

/** Told by a connection about its life. */
export interface ConnectionOwner {
  /** The handshake is over. */
  opened(connection: Connection): void;
  closed(connection: Connection): void;
  /** It speaks something else, and is about to be ended. @param beginning what it said first, eight bytes at most */
  foreign(connection: Connection, beginning: Uint8Array): void;
}
