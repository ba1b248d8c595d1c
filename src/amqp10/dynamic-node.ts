/**
 * Queues that links have made for them (§3.5.3), and how long they live (§3.5.10 to §3.5.13). Of "links" the broker counts those that
 * receive, besides the one for which the queue was made.
 */
import { Refusal, RefusedError } from '../base/errors.js';
import type { Clock } from '../base/clock.js';
import { Descriptor, Described, fieldMap, type MapValue, Scalar, textOf, type Value } from './codec/index.js';
import type { LookupContext } from './node-lookup.js';
import { dropTemporary, makeTemporary, requireTemporary } from './temporary-queue.js';

/** A queue that still has messages or receivers is looked at again, at the latest after this time. */
const lookAgainMs = 1000;
const lookAgainMaxMs = 60_000;

export interface DynamicContext extends LookupContext {
  readonly clock: Clock;
}

export interface DynamicNode {
  readonly queue: string;
  /** As the answer has them: what is in force. */
  readonly properties: MapValue;
  /** The link for which it was made is gone. */
  leave(): void;
}

const policies: Readonly<Record<string, number>> = {
  'amqp:delete-on-close:list': Descriptor.deleteOnClose,
  'amqp:delete-on-no-links:list': Descriptor.deleteOnNoLinks,
  'amqp:delete-on-no-messages:list': Descriptor.deleteOnNoMessages,
  'amqp:delete-on-no-links-or-messages:list': Descriptor.deleteOnNoLinksOrMessages,
};

/** @param asked dynamic-node-properties. Rejects with RefusedError. */
export async function makeDynamic(context: DynamicContext, asked: MapValue | undefined): Promise<DynamicNode> {
  const policy = policyOf(asked?.get('lifetime-policy'));
  const properties = fieldMap({ 'lifetime-policy': new Described(new Scalar('ulong', BigInt(policy)), []) });
  if (policy === Descriptor.deleteOnClose) {
    const queue = await makeTemporary(context);
    return { queue, properties, leave: () => dropTemporary(context, queue) };
  }
  requireTemporary(context);
  const { broker, vhost, id } = context;
  const ifUnused = policy !== Descriptor.deleteOnNoMessages;
  const ifEmpty = policy !== Descriptor.deleteOnNoLinks;
  const flags = { passive: false, durable: false, exclusive: false, autoDelete: !ifEmpty, arguments: {} };
  const { name } = await broker.wiring.declareQueue({ vhost, name: '', ...flags, connection: id });
  return { queue: name, properties, leave: () => dropWhen(context, name, { ifUnused, ifEmpty }, lookAgainMs) };
}

function policyOf(value: Value | undefined): number {
  if (!(value instanceof Described)) return Descriptor.deleteOnClose;
  const { descriptor } = value;
  const code = descriptor instanceof Scalar ? Number(descriptor.value) : Number.NaN;
  const policy = policies[textOf(descriptor) ?? ''] ?? code;
  return Object.values(policies).includes(policy) ? policy : Descriptor.deleteOnClose;
}

function dropWhen(
  context: DynamicContext,
  queue: string,
  options: { ifUnused: boolean; ifEmpty: boolean },
  waitMs: number,
): void {
  const { broker, vhost, id, clock } = context;
  broker.wiring.deleteQueue(vhost, queue, { ...options, connection: id }).catch((error: unknown) => {
    const stays = error instanceof RefusedError && error.kind === Refusal.preconditionFailed;
    // Without messages to wait for it goes with its last consumer.
    if (!stays || !options.ifEmpty) return;
    clock.after(waitMs, () => dropWhen(context, queue, options, Math.min(waitMs * 2, lookAgainMaxMs)));
  });
}
