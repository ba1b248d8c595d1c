import type { TransactionSettlement } from '../model/transaction.js';
import { Outcome, type Unacked } from '../model/unacked.js';
import { type AmqpError, AmqpError as Failure, Condition, type DeliveryState } from './codec/index.js';
import type { LocalTransaction } from './local-transaction.js';

/** What is to become of a delivery when its transaction commits. */
interface Staged {
  readonly transaction: LocalTransaction;
  readonly outcome: Outcome;
  readonly state: DeliveryState | undefined;
  /** The client has settled it, and knows nothing of it any more. */
  isSettled: boolean;
}

/** What it needs of its session. */
export interface StagingHost {
  readonly unacked: Unacked;
  /** It goes back to its place, as the client wants it. */
  giveBackOne(number: number, outcome: Outcome, state: DeliveryState | undefined): void;
  /** The delivery is settled by us: the client is to be told. */
  settled(number: number, state: DeliveryState | undefined): void;
  /** The client holds less. */
  heldLess(): void;
}

/** Deliveries of a session that transactions settle, by their numbers. They stay in the session's list until the commit is sent off. */
export class StagedDeliveries {
  private readonly host: StagingHost;
  private readonly staged = new Map<number, Staged>();

  constructor(host: StagingHost) {
    this.host = host;
  }

  get isEmpty(): boolean {
    return this.staged.size === 0;
  }

  /** The delivery's link ends: it stays held if a transaction settles it, and is not the client's any more. */
  keeps(number: number): boolean {
    return this.settledByClient(number);
  }

  /**
   * Those of `first` to `last` that are outstanding become part of the transaction (§4.4.2). A delivery that is of another one already
   * belongs to neither from now on: that one's error is returned.
   */
  stage(
    first: number,
    last: number,
    transaction: LocalTransaction,
    outcome: Outcome,
    state: DeliveryState | undefined,
    isSettled: boolean,
  ): AmqpError | undefined {
    let error: AmqpError | undefined;
    this.host.unacked.forEachIn(first, last, (number) => {
      const before = this.staged.get(number);
      if (before !== undefined && before.transaction !== transaction) {
        error ??= new Failure(Condition.transactionRollback, 'a delivery is settled by two transactions');
        return;
      }
      if (before === undefined) transaction.settles(this);
      this.staged.set(number, { transaction, outcome, state, isSettled: isSettled || before?.isSettled === true });
    });
    return error;
  }

  /** The client has settled the delivery without a word of what is to become of it. False: it is in no transaction. */
  settledByClient(number: number): boolean {
    const one = this.staged.get(number);
    if (one === undefined) return false;
    one.isSettled = true;
    return true;
  }

  /** What the transaction takes out of queues is not the client's any more. */
  take(transaction: LocalTransaction, taken: TransactionSettlement[]): void {
    for (const [number, { transaction: whose, outcome }] of this.staged) {
      if (whose !== transaction || staysInQueue(outcome)) continue;
      const rejects = outcome === Outcome.reject;
      this.host.unacked.take(number, (holder, position) => taken.push({ holder, position, rejects }));
    }
  }

  /** It is safe: what is to go back does so, and the client is told of what it has not settled itself. */
  committed(transaction: LocalTransaction): void {
    this.finish(transaction, (number, { outcome, state, isSettled }) => {
      if (staysInQueue(outcome)) this.host.giveBackOne(number, outcome, state);
      if (!isSettled) this.host.settled(number, state);
    });
  }

  /** What the client has forgotten goes back to its queue; the rest is as it was. */
  rolledBack(transaction: LocalTransaction): void {
    this.finish(transaction, (number, { isSettled }) => {
      if (isSettled) this.host.unacked.settle(number, false, Outcome.requeue);
    });
  }

  /** The session ends, and what its client holds goes back: transactions that settle some of it cannot be committed. */
  close(): void {
    const error = new Failure(
      Condition.transactionRollback,
      'a session ended in which the transaction has settled deliveries',
    );
    for (const { transaction } of this.staged.values()) transaction.fail(error);
    this.staged.clear();
  }

  private finish(transaction: LocalTransaction, each: (number: number, staged: Staged) => void): void {
    for (const [number, one] of this.staged) {
      if (one.transaction !== transaction) continue;
      this.staged.delete(number);
      each(number, one);
    }
    this.host.heldLess();
  }
}

function staysInQueue(outcome: Outcome): boolean {
  return outcome === Outcome.requeue || outcome === Outcome.putBack;
}
