/**
 * What an exchange is made of: a matcher per type, filled with its bindings, which says for a message where they lead.
 * Matchers name targets, not queues: a binding may be there before its queue is (while a node joins).
 */
import type { Arguments, MessageProperty } from '../broker.js';
import type { BindingObject } from '../wiring/objects.js';
import type { Target } from './target.js';

/** Takes the targets that a message reaches; the same one may be named several times. */
export interface Reached {
  reach(target: Target): void;
  /** The message's headers; asking for them makes the answer depend on them. */
  headers(): Arguments;
  /** One of the message's properties, '' if it has none; the answer depends on it. */
  property(name: MessageProperty): string;
  /** By chance, from 0 to `below` - 1; the answer holds for this message alone. */
  chance(below: number): number;
}

export interface Matcher {
  /** It sends a message to one target, however many keys that has (CC, BCC): the first counts. */
  readonly picksOne?: true;
  /** A binding is added once and removed once. */
  add(binding: BindingObject, target: Target): void;
  remove(binding: BindingObject, target: Target): void;
  match(routingKey: string, reached: Reached): void;
}
