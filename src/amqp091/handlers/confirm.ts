import type { Channel } from '../channel.js';
import { type ConfirmSelect, ConfirmSelectOk } from '../codec/index.js';

/** From now on every publish of the channel is confirmed; numbers count from here. */
export function select(channel: Channel, method: ConfirmSelect): void {
  channel.publisher.selectConfirms();
  channel.reply(new ConfirmSelectOk(), method.noWait);
}
