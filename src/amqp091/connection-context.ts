import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Turn } from '../base/turn.js';
import type { Admission } from '../model/admission.js';
import type { Broker } from '../model/broker.js';
import type { Authenticator } from '../security/authenticator.js';
import type { Occupancy } from '../security/occupancy.js';
import type { Connection } from './connection.js';
import type { Counters } from './counters.js';
import type { Product } from './product.js';
import type { InputTurns } from '../base/input-turns.js';
import type { Limits } from './limits.js';
import type { PartialBodies } from './partial-bodies.js';

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
  inputTurns: InputTurns;
  product: Product;
}

/** Told by a connection about its life. */
export interface ConnectionOwner {
  /** The handshake is over. */
  opened(connection: Connection): void;
  closed(connection: Connection): void;
}
