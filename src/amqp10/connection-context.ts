import type { Clock } from '../base/clock.js';
import type { InputTurns } from '../base/input-turns.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import type { Admission } from '../model/admission.js';
import type { Broker } from '../model/broker.js';
import type { Authenticator } from '../security/authenticator.js';
import type { Occupancy } from '../security/occupancy.js';
import type { Peer } from '../security/peer.js';
import type { Connection } from './connection.js';
import type { Counters } from './counters.js';
import type { Limits } from './limits.js';
import type { AllPartialBytes } from './partial-bytes.js';

/** What this server says of itself in its open. */
export interface Product {
  name: string;
  version: string;
  clusterName: string;
}

/** What all connections of a server share. */
export interface ConnectionContext {
  broker: Broker;
  turn: Turn;
  clock: Clock;
  logger: Logger;
  authenticator: Authenticator;
  occupancy: Occupancy;
  admission: Admission;
  inputTurns: InputTurns;
  product: Product;
  limits: Limits;
  counters: Counters;
  partials: AllPartialBytes;
}

/** What is known of a client beside its address. */
export type Transport = Pick<Peer, 'tls' | 'certificateName'>;

/** Told by a connection about its life. */
export interface ConnectionOwner {
  /** Its open has come, and it is in its vhost. Throws AmqpError if it may not be. */
  entered(connection: Connection): void;
  /** The handshake is over. */
  opened(connection: Connection): void;
  closed(connection: Connection): void;
}
