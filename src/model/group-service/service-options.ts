/** What a group's service is given. */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Rules } from '../../base/rules.js';
import type { Turn } from '../../base/turn.js';
import type { Lsn } from '../../log/lsn.js';
import type { HeaderCodec } from '../dead-letter/death.js';
import type { GroupAppender, QueueUse } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import type { HandOver } from './hand-over.js';
import type { QueueTraitsSource } from './traits-of.js';

/** What a node's clients take from the group. */
export interface NodeUse {
  readonly node: string;
  /** Messages handed to them since it attached. */
  readonly delivered: number;
  readonly consumers: number;
}

export interface GroupServiceOptions {
  /** The group's state, with everything applied that the log had at the takeover. */
  state: GroupState;
  appender: GroupAppender;
  epoch: number;
  turn: Turn;
  clock: Clock;
  logger: Logger;
  rules?: Rules;
  /** Default: none has any. */
  traits?: QueueTraitsSource;
  /** Default: messages' headers pass as they are. */
  headers?: HeaderCodec;
  /** This replica follows another primary's: of its time nobody here knows which queues had consumers. */
  tookOver: boolean;
  /** What the last primary passed on, in the state already (rule 20). Undefined: it is gone, or this one is the first. */
  handedOver?: HandOver | undefined;
  /** `used` each time that a queue has its first consumer, `unused` each time that the last one is gone, once the gate is open. */
  queueUse(incarnation: Lsn, use: QueueUse): void;
  /** The node's attachment breaks the protocol or a bound: its tie must be cut. It was detached already. */
  broken(node: string, boot: number, reason: string): void;
}
