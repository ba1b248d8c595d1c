/** Rules about names that RabbitMQ's users know; texts as RabbitMQ words them. */
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Channel } from '../channel.js';

const reservedPrefix = 'amq.';

/** The queue a method means: an empty name stands for the one last declared on the channel (§1.7.2.1). */
export function queueName(channel: Channel, name: string): string {
  if (name !== '') return name;
  if (channel.lastQueue === '') throw new RefusedError(Refusal.notFound, 'no previously declared queue');
  return channel.lastQueue;
}

/** The default exchange cannot be declared, deleted or bound. */
export function refuseDefaultExchange(name: string): void {
  if (name !== '') return;
  throw new RefusedError(Refusal.accessRefused, 'operation not permitted on the default exchange');
}

export function isReserved(name: string): boolean {
  return name.startsWith(reservedPrefix);
}

/**
 * Declares something whose name begins with 'amq.': it must exist, clients make none (§1.6.2.1).
 * @param passive asks whether it exists; @param declare compares its properties.
 */
export async function declareReserved<T>(
  kind: 'exchange' | 'queue',
  name: string,
  passive: () => Promise<unknown>,
  declare: () => Promise<T>,
): Promise<T> {
  try {
    await passive();
  } catch (error) {
    if (!(error instanceof RefusedError) || error.kind !== Refusal.notFound) throw error;
    throw new RefusedError(Refusal.accessRefused, `${kind} name '${name}' contains reserved prefix 'amq.*'`);
  }
  return declare();
}
