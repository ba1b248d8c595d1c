/** Queues that are made for a link, and go with it: dynamic nodes (§3.5.3), and what an exchange sends to a link. */
import type { LookupContext } from './node-lookup.js';

/** Stands for all names that the broker makes, where permissions are asked. */
const generatedName = 'amq.gen-0000000000000000000000';

/** Throws RefusedError if the user may make none. */
export function requireTemporary({ permissions }: LookupContext): void {
  permissions.require('configure', 'queue', generatedName);
}

/** An exclusive queue with a name of the broker's; it goes with its connection at the latest. Rejects with RefusedError. */
export async function makeTemporary(context: LookupContext): Promise<string> {
  requireTemporary(context);
  const { broker, vhost, id } = context;
  const flags = { passive: false, durable: false, exclusive: true, autoDelete: false };
  const { name } = await broker.wiring.declareQueue({ vhost, name: '', ...flags, arguments: {}, connection: id });
  return name;
}

/** The link is gone. */
export function dropTemporary({ broker, vhost, id }: LookupContext, queue: string): void {
  const always = { ifUnused: false, ifEmpty: false, connection: id };
  // It goes with the connection otherwise.
  broker.wiring.deleteQueue(vhost, queue, always).catch(() => {});
}

/** The address by which others find it. */
export function addressOf(queue: string): string {
  return `/queues/${encodeURIComponent(queue)}`;
}
