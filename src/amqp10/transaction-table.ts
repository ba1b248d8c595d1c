import { AmqpError, Condition } from './codec/index.js';
import { LocalTransaction, type TransactionHost } from './local-transaction.js';

/** The transactions of a connection that are not discharged, by their ids: they may be used in all of its sessions (`amqp:multi-ssns-per-txn`). */
export class TransactionTable {
  private readonly host: TransactionHost;
  private readonly open = new Map<number, LocalTransaction>();
  private last = 0;

  constructor(host: TransactionHost) {
    this.host = host;
  }

  /** Throws AmqpError resource-limit-exceeded, or RefusedError not-implemented. */
  declare(): LocalTransaction {
    const { transactionsMax } = this.host.limits;
    this.host.broker.transactions.check();
    if (this.open.size >= transactionsMax) {
      const text = `the connection has ${transactionsMax} transactions that are not discharged, there may be no more`;
      throw new AmqpError(Condition.resourceLimitExceeded, text);
    }
    // Ids are not used again: 2^32 transactions of a connection are not expected.
    this.last = (this.last + 1) >>> 0;
    const id = Buffer.alloc(4);
    id.writeUInt32BE(this.last);
    const transaction = new LocalTransaction(this.host, id);
    this.open.set(this.last, transaction);
    return transaction;
  }

  get(id: Uint8Array): LocalTransaction | undefined {
    return this.open.get(numberOf(id));
  }

  /** It is discharged, or rolled back. */
  remove({ id }: LocalTransaction): void {
    this.open.delete(numberOf(id));
  }
}

function numberOf(id: Uint8Array): number {
  return id.length === 4 ? new DataView(id.buffer, id.byteOffset).getUint32(0) : -1;
}

/** What is wrong with an id that the table does not have. */
export function unknownTransaction(id: Uint8Array): string {
  return `this connection has no transaction '${Buffer.from(id).toString('hex')}' that is not discharged`;
}
