import { Refusal, RefusedError } from '../../base/errors.js';
import type { ConnectionId } from '../../model/broker.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';

/** @throws RefusedError (not-found) if there is no such queue. */
export function findQueue(tables: WiringTables, vhost: string, name: string): QueueObject {
  const queue = tables.queue(vhost, name);
  if (queue === undefined) throw new RefusedError(Refusal.notFound, `no queue '${name}' in vhost '${vhost}'`);
  return queue;
}

/** @throws RefusedError (resource-locked) if the queue belongs to another connection. */
export function checkAccess(queue: QueueObject, connection: ConnectionId): void {
  if (queue.owner === '' || queue.owner === connection) return;
  throw new RefusedError(
    Refusal.resourceLocked,
    `cannot obtain exclusive access to locked queue '${queue.name}' in vhost '${queue.vhost}'. ` +
      'It could be originally declared on another connection or the exclusive property value does not match that of the ' +
      'original declaration.',
  );
}
