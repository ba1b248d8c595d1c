import { Refusal, RefusedError } from '../../base/errors.js';
import type { Channel } from '../channel.js';
import { type ConfirmSelect, ConfirmSelectOk } from '../codec/index.js';

/** From now on every publish of the channel is confirmed; numbers count from here. */
export function select(channel: Channel, method: ConfirmSelect): void {
  if (channel.publisher.transaction !== null)
    throw new RefusedError(Refusal.preconditionFailed, 'cannot switch from tx to confirm mode');
  channel.publisher.selectConfirms();
  channel.reply(new ConfirmSelectOk(), method.noWait);
}
