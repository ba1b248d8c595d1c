/**
 * Transactions: publishes and settlements of one client that take effect together, or not at all.
 *
 * What of a transaction concerns one group is one unit there: it is in the group's log as a whole or not at all, whatever fails, and is
 * taken once, however often it is sent. Of several groups, each has its unit; if the client's node goes between handing them out and
 * their arrival, some groups may have theirs and others not. The port is given the whole transaction at once, so that a later version
 * can promise more without a change of those who use it.
 */
import type { MessageParts } from '../log/record.js';
import type { Arguments, Holder, Properties } from './broker.js';

/** A message to be published; its parts are its own. */
export interface TransactionMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly moreKeys: readonly string[] | undefined;
  readonly parts: MessageParts;
  headers(): Arguments;
  /** See Broker.route. */
  readonly property?: Properties;
}

/** A message that the client holds and is done with. */
export interface TransactionSettlement {
  readonly holder: Holder;
  readonly position: number;
  /** Refused for good; otherwise acknowledged. */
  readonly rejects: boolean;
}

export interface Transaction {
  readonly vhost: string;
  readonly messages: readonly TransactionMessage[];
  /** It fails, and nothing is done, if one of its messages reaches no queue. */
  readonly mustRoute?: boolean;
  /** The client has gone before anything was done: nothing is to be. */
  readonly isAbandoned: boolean;
  /**
   * What is settled: no longer the client's from now on. Asked for once, when everything is on its way; until then, and if that never
   * comes, they stay held.
   */
  takeSettlements(): readonly TransactionSettlement[];
  /** The message reaches no queue. `committed` follows. */
  unroutable(message: TransactionMessage): void;
  /** Everything is safe on every in-sync replica, and min-in-sync of the queues allows it to be said. */
  committed(): void;
  /** Instead of `committed`. If settlements were taken, nothing is known of what became of it. */
  failed(error: Error): void;
}

export interface TransactionPort {
  /** Throws RefusedError not-implemented while there are nodes that know no transactions. */
  check(): void;
  /** Answers by `committed` or `failed`, perhaps within this call. */
  commit(transaction: Transaction): void;
}
