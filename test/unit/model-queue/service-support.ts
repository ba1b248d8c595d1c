/** What the tests of the group service do again and again. */
import type { Lsn } from '../../../src/log/lsn.js';
import { type GroupServicePort, type HeldMessage, Naming } from '../../../src/model/group-port.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

/** The queue of these tests. */
export const q: Lsn = 10;

export function subscribe(
  port: GroupServicePort,
  subscriber: number,
  credit: number,
  options: { noAck?: boolean; exclusive?: boolean; queue?: Lsn; version?: Lsn } = {},
): void {
  const { noAck = false, exclusive = false, queue = q, version = 0 } = options;
  port.subscribe(subscriber, queue, version, {
    consumerTag: `c${subscriber}`,
    noAck,
    exclusive,
    arguments: {},
    credit,
  });
}

/** Publishes messages named `<name><number>` with the sequences [from, to]. */
export function publish(
  port: GroupServicePort,
  from: number,
  to: number,
  options: { name?: string; queues?: Lsn[]; durable?: boolean } = {},
): void {
  const { name = 'm', queues = [q], durable = false } = options;
  for (let sequence = from; sequence <= to; sequence++)
    port.publish(messageParts(`${name}${sequence}`), queues, durable, sequence, 0);
}

/** A primary with an open queue, and a client attached. */
export function setUp(options: ConstructorParameters<typeof TestPrimary>[0] & { durable?: boolean } = {}): {
  primary: TestPrimary;
  client: TestClient;
  port: GroupServicePort;
} {
  const primary = new TestPrimary(options);
  primary.openQueue(q, options.durable ?? false);
  const client = new TestClient();
  const port = primary.attach(client);
  return { primary, client, port };
}

export function heldBy(client: TestClient): HeldMessage[] {
  return client.deliveries.map(({ incarnation, position }) => ({ incarnation, position, naming: Naming.held }));
}
