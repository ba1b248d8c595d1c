import { Refusal, RefusedError } from '../../base/errors.js';
import type { Channel } from '../channel.js';
import { ChannelTransaction } from '../channel-transaction.js';
import { TxCommitOk, TxRollbackOk, TxSelectOk } from '../codec/index.js';

/** From now on what is published and settled takes effect with tx.commit (§1.9). */
export function select(channel: Channel): void {
  const { host, publisher, deliveries } = channel;
  if (publisher.confirms !== null) refuse('cannot switch from confirm to tx mode');
  if (publisher.transaction === null) {
    host.broker.transactions.check();
    publisher.transaction = new ChannelTransaction(host, deliveries, {
      returned: publisher.returnToSender,
      committed: () => channel.answer(() => channel.reply(new TxCommitOk())),
      failed: (error) => channel.answer(() => channel.fail(error)),
    });
  }
  channel.reply(new TxSelectOk());
}

/** Answered when everything is safe. */
export function commit(channel: Channel): void {
  const transaction = transactionOf(channel);
  channel.wait();
  transaction.commit();
}

export function rollback(channel: Channel): void {
  transactionOf(channel).rollback();
  channel.reply(new TxRollbackOk());
}

function transactionOf({ publisher: { transaction } }: Channel): ChannelTransaction {
  return transaction ?? refuse('channel is not transactional');
}

function refuse(text: string): never {
  throw new RefusedError(Refusal.preconditionFailed, text);
}
