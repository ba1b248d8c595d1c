import type { ExchangeType } from '../wiring/objects.js';
import { DirectMatcher } from './direct.js';
import { FanoutMatcher } from './fanout.js';
import { HeadersMatcher } from './headers.js';
import type { Matcher } from './matcher.js';
import { TopicMatcher } from './topic.js';

/** An empty matcher for a type of exchange. */
export function createMatcher(type: ExchangeType): Matcher {
  switch (type) {
    case 'direct':
      return new DirectMatcher();
    case 'fanout':
      return new FanoutMatcher();
    case 'topic':
      return new TopicMatcher();
    case 'headers':
      return new HeadersMatcher();
  }
}
