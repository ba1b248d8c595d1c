import { argument } from '../wiring/arguments.js';
import type { ExchangeObject, ExchangeType } from '../wiring/objects.js';
import { ConsistentHashMatcher } from './consistent-hash.js';
import { DirectMatcher } from './direct.js';
import { FanoutMatcher } from './fanout.js';
import { HeadersMatcher } from './headers.js';
import type { Matcher } from './matcher.js';
import { ModulusHashMatcher } from './modulus-hash.js';
import { RandomMatcher } from './random.js';
import { TopicMatcher } from './topic.js';

/** Names the type of exchange by which a delayed message is routed when its time has come. */
export const delayedTypeArgument = 'x-delayed-type';

type Routed = Pick<ExchangeObject, 'type' | 'arguments'>;

/** The types that say where a message goes: all but one, which says when. */
type RoutingType = Exclude<ExchangeType, 'x-delayed-message'>;

/** By which type's rules an exchange routes. */
export function routingType({ type, arguments: table }: Routed): RoutingType {
  return type === 'x-delayed-message' ? (argument(table, delayedTypeArgument) as RoutingType) : type;
}

/** An empty matcher for an exchange. */
export function createMatcher(exchange: Routed): Matcher {
  switch (routingType(exchange)) {
    case 'direct':
      return new DirectMatcher();
    case 'fanout':
      return new FanoutMatcher();
    case 'topic':
      return new TopicMatcher();
    case 'headers':
      return new HeadersMatcher();
    case 'x-consistent-hash':
      return new ConsistentHashMatcher(exchange);
    case 'x-random':
      return new RandomMatcher();
    case 'x-modulus-hash':
      return new ModulusHashMatcher();
  }
}
