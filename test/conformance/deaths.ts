/** Dead letters as cases see them. */
import type { Arguments, Client, Message } from './client.js';

export interface Death {
  count: number;
  reason: string;
  queue: string;
  exchange: string;
  'routing-keys': string[];
  time: { '!': string; value: number };
  'original-expiration'?: string;
}

export function deaths(message: Message): Death[] {
  return message.properties.headers?.['x-death'] as unknown as Death[];
}

export function summary(message: Message): string[] {
  return deaths(message).map(({ queue, reason, count }) => `${queue} ${reason} ${count}`);
}

/** A queue whose dead letters go to `dead` by the default exchange. */
export function into(client: Client, dead: string, args: Arguments = {}): Promise<string> {
  return client.queue({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead, ...args });
}
