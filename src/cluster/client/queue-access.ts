import type { ConnectionId } from '../../model/broker.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import { checkMayUse, checkVhost, describeQueue, notFound } from '../../model/wiring/planner.js';
import type { WiringTables } from '../../model/wiring/tables.js';

/** The queue of this name. @throws RefusedError (not-found) */
export function findQueue(tables: WiringTables, vhost: string, name: string): QueueObject {
  checkVhost(tables, vhost);
  const queue = tables.queue(vhost, name);
  if (queue === undefined) throw notFound(describeQueue(vhost, name));
  return queue;
}

/** The queue of this name, if the connection may use it. @throws RefusedError (not-found, resource-locked) */
export function usableQueue(tables: WiringTables, vhost: string, name: string, connection: ConnectionId): QueueObject {
  const queue = findQueue(tables, vhost, name);
  checkMayUse(queue, connection);
  return queue;
}
