import { Refusal, RefusedError } from '../../base/errors.js';
import type { Channel } from '../channel.js';

/** The queue a method means: an empty name stands for the one last declared on the channel (§1.7.2.1). */
export function queueName(channel: Channel, name: string): string {
  if (name !== '') return name;
  if (channel.lastQueue === '') throw new RefusedError(Refusal.notFound, 'no previously declared queue');
  return channel.lastQueue;
}
