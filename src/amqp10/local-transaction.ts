/**
 * A local transaction of a controller (part 4): what it has published and settled since it was declared, on whatever links and sessions of
 * its connection.
 *
 *   open ──discharge──► discharging ──► committed                        open ──discharge with fail, or its coordinator link ends──► rolled back
 *     └─too much, or a session ended that it has settled deliveries of─► doomed: it can only be rolled back
 *
 * Nothing of it is anywhere else until its discharge (ADR 6). Deliveries that it settles stay in their session's list until then, so that
 * they are given back if the session ends.
 */
import type { TransactionPort, Transaction, TransactionSettlement } from '../model/transaction.js';
import { type AmqpError, AmqpError as Failure, Condition } from './codec/index.js';
import { toAmqpError } from './errors.js';
import type { Limits } from './limits.js';
import type { PartialBytes } from './partial-bytes.js';
import type { StagedDeliveries } from './staged-deliveries.js';
import type { StagedMessage } from './staged-message.js';

/** What it needs of its connection. */
export interface TransactionHost {
  readonly vhost: string;
  readonly limits: Limits;
  readonly partials: PartialBytes;
  readonly broker: { readonly transactions: TransactionPort };
}

/** Memory that each publish or settlement takes, besides its bytes. */
const overheadBytes = 512;

export class LocalTransaction implements Transaction {
  readonly id: Uint8Array;
  readonly vhost: string;
  /** What was accepted for it is to reach a queue. */
  readonly mustRoute = true;
  messages: StagedMessage[] = [];
  isAbandoned = false;
  /** Deliveries of it that have come in part. */
  partial = 0;
  private readonly host: TransactionHost;
  /** Sessions that it has settled deliveries of. */
  private readonly sessions = new Set<StagedDeliveries>();
  private settlements = 0;
  private bytes = 0;
  private doom: AmqpError | undefined;
  /** Its settlements were taken: they are not to be given back. */
  private isSent = false;
  private discharged: ((error: AmqpError | undefined) => void) | undefined;

  constructor(host: TransactionHost, id: Uint8Array) {
    this.host = host;
    this.vhost = host.vhost;
    this.id = id;
  }

  /** The message is published by its commit. If that is too much it can only be rolled back: returns why. */
  publish(message: StagedMessage): AmqpError | undefined {
    const bytes = message.bytes + overheadBytes;
    const { transactionBytesMax } = this.host.limits;
    // One message may be as large as any.
    if (this.messages.length > 0 && this.bytes + bytes > transactionBytesMax)
      this.fail(tooMuch(`${transactionBytesMax} bytes`));
    this.grow(bytes);
    if (this.doom === undefined) this.messages.push(message);
    return this.doom;
  }

  /** A delivery of that session is settled by its commit. */
  settles(deliveries: StagedDeliveries): void {
    this.sessions.add(deliveries);
    this.grow(overheadBytes);
    this.settlements++;
  }

  /** It can only be rolled back, and its messages are forgotten. */
  fail(error: AmqpError): void {
    if (this.isSent) return;
    this.doom ??= error;
    this.isAbandoned = true;
    this.drop();
  }

  /** `discharged` is called once, perhaps within this call: with the error if it was rolled back. */
  commit(discharged: (error: AmqpError | undefined) => void): void {
    this.discharged = discharged;
    if (this.doom !== undefined) return this.failed(this.doom);
    this.host.broker.transactions.commit(this);
  }

  /** Deliveries are the client's again, but for those that it has settled: they go back to their queues. */
  rollback(): void {
    this.isAbandoned = true;
    this.discharged = undefined;
    this.giveBack();
  }

  // For its commit

  takeSettlements(): TransactionSettlement[] {
    this.isSent = true;
    const taken: TransactionSettlement[] = [];
    for (const deliveries of this.sessions) deliveries.take(this, taken);
    return taken;
  }

  unroutable(): void {}

  committed(): void {
    for (const deliveries of this.sessions) deliveries.committed(this);
    this.end(undefined);
  }

  failed(error: Error): void {
    if (this.isSent) for (const deliveries of this.sessions) deliveries.committed(this);
    else this.giveBack();
    this.end(this.doom ?? rolledBack(error, this.isSent));
  }

  private end(error: AmqpError | undefined): void {
    const { discharged } = this;
    this.discharged = undefined;
    this.drop();
    discharged?.(error);
  }

  private giveBack(): void {
    this.drop();
    if (this.isSent) return;
    for (const deliveries of this.sessions) deliveries.rolledBack(this);
    this.sessions.clear();
  }

  private grow(bytes: number): void {
    if (this.doom !== undefined) return;
    const { limits, partials } = this.host;
    if (this.messages.length + this.settlements >= limits.transactionSizeMax)
      return this.fail(tooMuch(`${limits.transactionSizeMax} publishes and settlements`));
    this.bytes += bytes;
    try {
      partials.add(bytes);
    } catch (error) {
      // This connection holds too much: it does without this.
      this.fail(
        new Failure(
          Condition.transactionRollback,
          `the transaction can only be rolled back: ${(error as Error).message}`,
        ),
      );
    }
  }

  private drop(): void {
    this.host.partials.remove(this.bytes);
    this.bytes = 0;
    this.messages = [];
  }
}

function tooMuch(what: string): AmqpError {
  const text = `the transaction has more than ${what}, which is the most, and can only be rolled back: discharge more often`;
  return new Failure(Condition.transactionRollback, text);
}

/** @param isSent it was on its way: something of it may have been done */
function rolledBack(error: Error, isSent: boolean): AmqpError {
  const { condition, message } = toAmqpError(error);
  if (isSent) return new Failure(condition, message);
  return new Failure(Condition.transactionRollback, `the transaction was rolled back: ${message}`);
}
