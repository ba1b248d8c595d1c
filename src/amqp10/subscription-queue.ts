/**
 * Subscriptions that outlive their links (§3.5.3, §3.5.6, §3.5.7): queues that are bound to an exchange, and named by the client's container
 * and the link. What the source was is kept with the queue, in an argument; so any node finds it again.
 *
 *   attach ──► there, and the same ──► goes on        detach ──► stays, as long as its expiry-policy and timeout say
 *     │   └──► there, but other ─────► made anew      detach, closed ──► goes
 *     └──► without a source: whatever is there under that name
 */
import * as v from 'valibot';
import { Refusal, RefusedError } from '../base/errors.js';
import type { Arguments } from '../model/broker.js';
import { type FilterDefinition, MessageFilter } from '../model/selection/message-filter.js';
import { topicPatternMax } from '../model/selection/topic-pattern.js';
import { type Attach, Condition, Described, MapValue, Scalar, Source, symbol, textOf } from './codec/index.js';
import { LinkError } from './errors.js';
import { bindQueue } from './node-lookup.js';
import type { Bound, SourceContext, SourceNode } from './source-node.js';

/** The queue's argument with the source, as JSON. */
const sourceArgument = 'x-amqp10-source';
const nameBytesMax = 255;
/** Longest `x-expires`. */
const expiresMaxMs = 0xffff_ffff;
const selectorCode = 0x468c_0000_0004n;

/** Of what is kept, what is read again. */
const keptShape = v.object({
  address: v.string(),
  durable: v.picklist([0, 1, 2]),
  expiryPolicy: v.string(),
  timeout: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff)),
  capabilities: v.array(v.string()),
  filter: v.optional(
    v.object({
      selector: v.optional(v.string()),
      key: v.optional(v.string()),
      topic: v.optional(v.pipe(v.string(), v.maxLength(topicPatternMax))),
      headers: v.optional(v.record(v.string(), v.unknown())),
      discards: v.optional(v.boolean()),
    }),
  ),
});

/** What is kept of a source. */
interface Kept {
  readonly address: string;
  readonly durable: number;
  readonly expiryPolicy: string;
  readonly timeout: number;
  readonly capabilities: readonly string[];
  readonly routingKey: string;
  readonly binding: Arguments;
  readonly filter?: FilterDefinition;
}

/** The source of an exchange is a subscription that is kept, or shared. */
export function isSubscription({ durable, expiryPolicy, timeout, capabilities }: Source): boolean {
  return durable > 0 || expiryPolicy === 'never' || timeout > 0 || capabilities?.includes('shared') === true;
}

/** Rejects with RefusedError or LinkError. */
export async function openSubscription(
  context: SourceContext,
  request: Attach,
  bound: Bound,
  answer: Source,
): Promise<SourceNode> {
  const { broker, vhost, id, permissions } = context;
  // The client is told what is in force: its time begins when its last link is gone.
  if (answer.expiryPolicy !== 'never') answer.expiryPolicy = 'link-detach';
  const { durable, expiryPolicy, timeout, capabilities = [] } = answer;
  // Others' links may be of a shared one, which goes with the last of them.
  const isVolatile = durable === 0 && expiryPolicy !== 'never' && timeout === 0;
  const queue = queueName(context, request.name, capabilities, isVolatile);
  for (const need of ['configure', 'read', 'write'] as const) permissions.require(need, 'queue', queue);
  const kept: Kept = {
    address: textOf(answer.address)!,
    durable,
    expiryPolicy,
    timeout,
    capabilities,
    routingKey: bound.routingKey,
    binding: bound.arguments,
    ...(bound.filter === undefined ? {} : { filter: bound.filter }),
  };
  const text = JSON.stringify(kept, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
  const known = await keptOf(context, queue);
  if (known !== undefined && known !== text) await dropOther(context, queue);
  const goesAlone = expiryPolicy !== 'never';
  const expires = goesAlone && timeout > 0 ? { 'x-expires': Math.min(timeout * 1000, expiresMaxMs) } : {};
  await broker.wiring.declareQueue({
    vhost,
    name: queue,
    passive: false,
    durable: durable > 0,
    exclusive: false,
    autoDelete: goesAlone && timeout === 0,
    arguments: { ...expires, [sourceArgument]: text },
    connection: id,
  });
  const opened = node(context, queue, bound.filter, answer);
  try {
    await bindQueue(context, queue, bound);
  } catch (error) {
    opened.leave(known === undefined, false);
    throw error;
  }
  return opened;
}

/** A link without a source asks for a subscription that is there (as clients of JMS do to end one). Rejects with LinkError not-found. */
export async function lookUpSubscription(context: SourceContext, request: Attach): Promise<SourceNode> {
  const queue = queueName(context, request.name, request.desiredCapabilities ?? [], false);
  // Whoever finds it may end it.
  for (const need of ['configure', 'read'] as const) context.permissions.require(need, 'queue', queue);
  const text = await keptOf(context, queue);
  if (text === undefined) throw new LinkError(Condition.notFound, `no subscription '${request.name}' of this client`);
  const kept = keptIn(text);
  if (kept === undefined)
    throw new LinkError(
      Condition.preconditionFailed,
      `queue '${queue}' was made by somebody else: it is no subscription`,
    );
  const { address, durable, expiryPolicy, timeout, capabilities, filter } = kept;
  const source = Object.assign(new Source(), { address, durable, expiryPolicy, timeout, capabilities });
  if (filter?.selector !== undefined)
    source.filter = new MapValue([
      [symbol('jms-selector'), new Described(new Scalar('ulong', selectorCode), filter.selector)],
    ]);
  return node(context, queue, filter, source);
}

function node(context: SourceContext, queue: string, filter: FilterDefinition | undefined, source: Source): SourceNode {
  const isVolatile = source.expiryPolicy !== 'never' && source.timeout === 0;
  const leave = (closed: boolean, wasUsed = true): void => {
    // One that goes with its last consumer, and has had none, would stay for ever, and gather messages.
    if (!closed && (wasUsed || !isVolatile)) return;
    const { broker, vhost, id } = context;
    // Others may use it too.
    broker.wiring.deleteQueue(vhost, queue, { ifUnused: true, ifEmpty: false, connection: id }).catch(() => {});
  };
  return { queue, filter, browses: false, isKept: true, isPlain: false, source, leave };
}

/**
 * The name of its queue. `shared`: links of one subscription have names that differ behind `|` (as Qpid JMS has them). `global`: of all
 * clients, else of those with the same container-id. Throws LinkError if it is too long.
 */
function queueName(
  { container }: SourceContext,
  linkName: string,
  capabilities: readonly string[],
  isVolatile: boolean,
): string {
  const isGlobal = capabilities.includes('global');
  const isShared = isGlobal || capabilities.includes('shared');
  const own = isShared ? linkName.split('|', 1)[0]! : linkName;
  const owner = isGlobal ? '' : encodeURIComponent(container);
  const name = `${isVolatile ? 'volatile' : 'durable'}-subscription/${owner}/${encodeURIComponent(own)}`;
  if (Buffer.byteLength(name) <= nameBytesMax) return name;
  const text = `container-id and link name are too long for a subscription: its queue's name would have more than ${nameBytesMax} bytes`;
  throw new LinkError(Condition.invalidField, text);
}

/** What is kept under that name; '' = a queue that is no subscription. */
async function keptOf({ broker, vhost }: SourceContext, queue: string): Promise<string | undefined> {
  try {
    const { arguments: table } = await broker.queueStatus(vhost, queue);
    const text = table[sourceArgument];
    return typeof text === 'string' ? text : '';
  } catch (error) {
    if (error instanceof RefusedError && error.kind === Refusal.notFound) return undefined;
    throw error;
  }
}

/** Undefined: nobody but this broker writes such an argument, and this one it has not written. */
function keptIn(text: string): Kept | undefined {
  try {
    const kept = v.parse(keptShape, JSON.parse(text));
    if (kept.filter !== undefined) void new MessageFilter(kept.filter as FilterDefinition);
    return kept as unknown as Kept;
  } catch {
    return undefined;
  }
}

/** Whoever subscribes to something else by the same name gives the old one up (JMS 2.0 §8.3.3), unless it is in use. */
async function dropOther({ broker, vhost, id }: SourceContext, queue: string): Promise<void> {
  try {
    await broker.wiring.deleteQueue(vhost, queue, { ifUnused: true, ifEmpty: false, connection: id });
  } catch (error) {
    if (!(error instanceof RefusedError) || error.kind !== Refusal.preconditionFailed) throw error;
    const text = 'the subscription is in use, with another source or filter; detach its links first';
    throw new LinkError(Condition.resourceLocked, text);
  }
}
