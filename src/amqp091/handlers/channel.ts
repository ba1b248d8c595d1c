import type { Channel } from '../channel.js';
import { AccessRequestOk, type ChannelFlow, ChannelFlowOk, ProtocolError, ReplyCode } from '../codec/index.js';

/** channel.open on a channel that is open. */
export function openAgain(): never {
  throw new ProtocolError(ReplyCode.channelError, "second 'channel.open' seen");
}

/** The client stops or resumes its deliveries. */
export function flow(channel: Channel, method: ChannelFlow): void {
  channel.deliveries.credit.flowing = method.active;
  if (method.active) channel.deliveries.credit.resume();
  channel.reply(new ChannelFlowOk(method.active));
}

/** A right to work with a realm, of clients before 0-9-1. Everybody has it: permissions are looked at with each request. */
export function access(channel: Channel): void {
  channel.reply(new AccessRequestOk(1));
}
