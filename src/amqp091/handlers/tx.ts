import { ProtocolError, ReplyCode } from '../codec/index.js';

/** Transactions do not exist here: a client must learn it before it relies on them. */
export function refuseTransactions(): never {
  throw new ProtocolError(ReplyCode.notImplemented, 'transactions are not supported; use publisher confirms');
}
