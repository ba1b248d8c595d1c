import { nobody, type Broker } from '../../src/model/broker.js';
import type { Transaction, TransactionPort } from '../../src/model/transaction.js';

/** Transactions over any broker: done message by message at once, answered when a test says so. */
export class FakeTransactions implements TransactionPort {
  /** True: commits wait for `answer`. */
  holds = false;
  /** True: what is to be committed is not even begun. */
  postpones = false;
  readonly begun: Transaction[] = [];
  private readonly broker: Pick<Broker, 'route' | 'publish'>;

  constructor(broker: Pick<Broker, 'route' | 'publish'>) {
    this.broker = broker;
  }

  check(): void {}

  commit(transaction: Transaction): void {
    this.begun.push(transaction);
    if (this.postpones) return;
    for (const message of transaction.messages) {
      const { exchange, routingKey, moreKeys, parts } = message;
      const headers = (): ReturnType<typeof message.headers> => message.headers();
      const route = this.broker.route(transaction.vhost, exchange, routingKey, headers, moreKeys);
      if (route.queueCount === 0) transaction.unroutable(message);
      this.broker.publish(route, parts, nobody, 0);
    }
    for (const { holder, position, rejects } of transaction.takeSettlements())
      if (rejects) holder.reject(position);
      else holder.ack(position);
    if (!this.holds) this.answer();
  }

  /** Answers the oldest commit. */
  answer(error?: Error): void {
    const transaction = this.begun.shift()!;
    if (error === undefined) transaction.committed();
    else transaction.failed(error);
  }
}
