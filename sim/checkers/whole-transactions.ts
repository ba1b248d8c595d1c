/**
 * What a transaction does in one group is done as a whole, or not at all.
 *
 * Judged at the end, when all queues have been drained. Of one group:
 * - Either all messages that a transaction published there were given to somebody, or none.
 * - If they were, what it took there is not given to anybody by a later primary than the one that wrote them: that one's log had both.
 * - If they were not, what it took is not gone: somebody else has taken it.
 */
import { epochOf } from '../../src/log/lsn.js';
import type { ClientTransaction } from '../client/transaction.js';
import type { Copy, Delivery } from '../history.js';
import { Checker } from './checker.js';

export class WholeTransactions extends Checker {
  readonly name = 'whole-transactions';
  /** Transactions that took a message, by its copy. */
  private readonly takers = new Map<Copy, ClientTransaction[]>();

  override atEnd(): void {
    const { transactions } = this.world.history;
    for (const transaction of transactions)
      for (const { copy } of transaction.inputs) this.takers.set(copy, [...(this.takers.get(copy) ?? []), transaction]);
    for (const transaction of transactions) this.judge(transaction);
  }

  private judge(transaction: ClientTransaction): void {
    const copies = transaction.outputs.flatMap((message) => message.copies);
    const all = [...copies, ...transaction.inputs.map(({ copy }) => copy)];
    if (all.some(({ excuse, queue }) => excuse !== '' || queue.rolledBack)) return;
    for (const group of new Set(all.map((copy) => this.groupOf(copy)))) {
      const outputs = copies.filter((copy) => this.groupOf(copy) === group);
      const inputs = transaction.inputs.filter(({ copy }) => this.groupOf(copy) === group);
      const there = outputs.filter(({ deliveries }) => deliveries.length > 0);
      if (there.length > 0 && there.length < outputs.length)
        this.fail(`half of ${transaction} in group ${group}: only ${there.join(', ')} came`);
      for (const input of inputs)
        if (there.length > 0) this.mustBeGone(transaction, input, there);
        else if (outputs.length > 0) this.mustNotBeGone(transaction, input, group);
    }
  }

  private mustBeGone(transaction: ClientTransaction, input: Delivery, there: readonly Copy[]): void {
    const written = Math.max(...there.map(({ deliveries }) => epochOf(deliveries[0]!.position)));
    const back = input.copy.deliveries.find((one) => one.isSameMessage(input) && one.facts.epoch > written);
    if (back !== undefined) this.fail(`${transaction} has published in epoch ${written}, and ${back}`);
  }

  private mustNotBeGone(transaction: ClientTransaction, { copy }: Delivery, group: number): void {
    const takers = this.takers.get(copy)!;
    const inTransactions = new Set(takers.flatMap(({ inputs }) => inputs));
    const isTaken =
      copy.deliveries.some(({ state }, i) => state === 'acked' && !inTransactions.has(copy.deliveries[i]!)) ||
      copy.deliveries.some(({ state }, i) => state === 'rejected' && !inTransactions.has(copy.deliveries[i]!)) ||
      takers.some((other) => other !== transaction && this.mayHaveTaken(other, group));
    if (!isTaken) this.fail(`${transaction} has published nothing, and ${copy} is gone`);
  }

  private mayHaveTaken({ outputs }: ClientTransaction, group: number): boolean {
    const copies = outputs.flatMap((message) => message.copies).filter((copy) => this.groupOf(copy) === group);
    return copies.length === 0 || copies.some(({ deliveries }) => deliveries.length > 0);
  }

  private groupOf({ queue, deliveries }: Copy): number {
    const known = deliveries.at(-1)?.facts.group ?? queue.copies.find((copy) => copy.deliveries.length > 0);
    if (typeof known === 'number') return known;
    return known?.deliveries.at(-1)?.facts.group ?? -1;
  }
}
