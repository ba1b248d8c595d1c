/** What the tests of the group service do again and again. */
import { protocolVersions } from '../../../src/base/versions.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { type GroupServicePort, type HeldMessage, Naming } from '../../../src/model/group-port.js';
import { EnqueueView } from '../../../src/log/record.js';
import type { QueueTraitsSource } from '../../../src/model/group-service/traits-of.js';
import { noTraits, type QueueTraits } from '../../../src/model/queue/queue-traits.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

/** The queue of these tests. */
export const q: Lsn = 10;

export function subscribe(
  port: GroupServicePort,
  subscriber: number,
  credit: number,
  options: {
    noAck?: boolean;
    exclusive?: boolean;
    queue?: Lsn;
    version?: Lsn;
    priority?: number;
    wasActive?: boolean;
  } = {},
): void {
  const { noAck = false, exclusive = false, queue = q, version = 0, priority, wasActive = false } = options;
  port.subscribe(subscriber, queue, version, {
    consumerTag: `c${subscriber}`,
    noAck,
    exclusive,
    arguments: priority === undefined ? {} : { 'x-priority': priority },
    credit,
    wasActive,
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

/** What is asked of queues. */
export class Traits implements QueueTraitsSource {
  version: number = 1;
  wiringVersion: Lsn = Number.POSITIVE_INFINITY;
  readonly known: Map<Lsn, QueueTraits> = new Map();

  constructor(...traits: [queue: Lsn, traits: Partial<QueueTraits>][]) {
    for (const [queue, some] of traits) this.known.set(queue, { ...noTraits, ...some });
  }

  /** The node does not know its queues yet. */
  isLate: boolean = false;

  of(queue: Lsn): QueueTraits {
    if (this.isLate) return undefined as unknown as QueueTraits;
    return this.known.get(queue) ?? noTraits;
  }
}

/** The queue of these tests, of which that is asked. */
export function queueWith(
  traits: Partial<QueueTraits>,
  more: Parameters<typeof setUp>[0] = {},
): ReturnType<typeof setUp> {
  const all = setUp({ traits: new Traits([q, traits]), durable: true, ...more });
  all.primary.log.version = protocolVersions.max;
  all.primary.clock.advance(1000);
  return all;
}

/** Bodies in a queue, in order. */
export function bodies(primary: TestPrimary, queue: Lsn): string[] {
  const index = primary.state.queue(queue)?.index;
  const positions = index?.positionsAscending(0, 1000) ?? [];
  return positions.map((position) => {
    const { bytes, bodyStart, bodyLength } = viewAt(primary, queue, position);
    return new TextDecoder().decode(bytes.subarray(bodyStart, bodyStart + bodyLength));
  });
}

export function viewAt(primary: TestPrimary, queue: Lsn, position: Lsn): EnqueueView {
  const entry = primary.state.queue(queue)!.index.find(position)!;
  const chunk = primary.state.chunk(entry.chunk);
  return new EnqueueView().set(chunk.bytes!, chunk.view!, entry.offset);
}

/** Time passes. */
export function pass(primary: TestPrimary, ms: number): void {
  primary.clock.advance(ms);
  primary.run();
}
