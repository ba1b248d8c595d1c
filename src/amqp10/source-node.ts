/** Where the messages of a receiving link come from (§3.5.3): a queue, one that is made for the link, or a subscription that outlives it. */
import type { FilterDefinition } from '../model/selection/message-filter.js';
import { type Attach, Condition, Source, textOf } from './codec/index.js';
import { type DynamicContext, makeDynamic } from './dynamic-node.js';
import { LinkError } from './errors.js';
import { type ExchangeOrigin, bindTemporary, findOrigin } from './node-lookup.js';
import { SourceFilters } from './source-filters.js';
import { isSubscription, lookUpSubscription, openSubscription } from './subscription-queue.js';
import { addressOf, dropTemporary } from './temporary-queue.js';

export interface SourceContext extends DynamicContext {
  readonly container: string;
}

export interface SourceNode {
  readonly queue: string;
  readonly filter: FilterDefinition | undefined;
  /** Messages are shown, and stay. */
  readonly browses: boolean;
  /** It stays when its link is detached, until it is closed. */
  readonly isKept: boolean;
  /** All messages of a queue that others know: its link can be resumed. */
  readonly isPlain: boolean;
  /** As the answer has it. */
  readonly source: Source;
  /**
   * The link is over. @param closed its client has closed it: it does not come back @param wasUsed it had its subscription: without one
   * nothing would end what goes with its last consumer
   */
  leave(closed: boolean, wasUsed?: boolean): void;
}

/** Rejects with RefusedError or LinkError: not there, not allowed, makes no sense. */
export async function findSource(context: SourceContext, request: Attach): Promise<SourceNode> {
  const { source } = request;
  if (source === undefined) return lookUpSubscription(context, request);
  const filters = new SourceFilters(source.filter);
  const answer = Object.assign(new Source(), source, { filter: filters.applied });
  const browses = source.distributionMode === 'copy';
  const queueNode = (queue: string, leave: () => void): SourceNode => ({
    queue,
    filter: filters.definition,
    browses,
    isKept: false,
    isPlain: !source.dynamic && !browses && filters.definition === undefined,
    source: answer,
    leave,
  });
  if (source.dynamic) {
    const { queue, properties, leave } = await makeDynamic(context, source.dynamicNodeProperties);
    answer.address = addressOf(queue);
    answer.dynamicNodeProperties = properties;
    return queueNode(queue, leave);
  }
  const text = textOf(source.address);
  if (text === undefined) throw new LinkError(Condition.invalidField, 'a source without an address');
  const isTopic = source.capabilities?.includes('topic') === true;
  const origin = await findOrigin(context, text, isTopic);
  if (typeof origin === 'string') return queueNode(origin, () => {});
  const bound = boundBy(context, origin, filters);
  if (isSubscription(source)) return openSubscription(context, request, bound, answer);
  const queue = await bindTemporary(context, bound);
  const leave = (): void => dropTemporary(context, queue);
  return { queue, filter: bound.filter, browses: false, isKept: false, isPlain: false, source: answer, leave };
}

/** How a queue is to be bound to an exchange, and what of that its link wants. */
export interface Bound extends ExchangeOrigin {
  readonly routingKey: string;
  readonly arguments: NonNullable<SourceFilters['headers']>;
  readonly filter: FilterDefinition | undefined;
}

/** A filter is the key of the binding, where it can be; what does not match else is not wanted by anybody. */
function boundBy({ broker, vhost }: SourceContext, origin: ExchangeOrigin, filters: SourceFilters): Bound {
  const isTopic = broker.isTopicExchange(vhost, origin.exchange);
  const byFilter = isTopic ? (filters.topic ?? filters.direct) : filters.direct;
  const key = origin.routingKey ?? byFilter;
  const { key: _key, topic: _topic, ...rest } = filters.definition ?? {};
  // What is bound by its filter needs not be compared again.
  const wanted = origin.routingKey === undefined && byFilter !== undefined ? rest : (filters.definition ?? {});
  const filter = Object.keys(wanted).length === 0 ? undefined : { ...wanted, discards: true };
  return { ...origin, routingKey: key ?? (isTopic ? '#' : ''), arguments: filters.headers ?? {}, filter };
}
