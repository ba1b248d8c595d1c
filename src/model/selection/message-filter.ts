/** What a subscription wants of a queue's messages. */
import type { EnqueueView } from '../../log/record.js';
import type { HeaderCodec } from '../dead-letter/death.js';
import { HeadersPattern } from '../exchange/headers.js';
import { argumentsFromJson, type Json } from '../wiring/arguments.js';
import { Selector } from './selector.js';
import { topicPattern } from './topic-pattern.js';

/** As it is said to a primary, as JSON: a message must match all of it. */
export interface FilterDefinition {
  /** A selector (JMS 2.0 §3.8.1). */
  readonly selector?: string;
  /** The message's subject, or if it has none its routing key, is this. */
  readonly key?: string;
  /** The same, matches this pattern of a topic exchange. */
  readonly topic?: string;
  /** Headers, as the arguments of a binding to a headers exchange (`x-match`). */
  readonly headers?: Json;
  /** What does not match leaves the queue: nobody else is to have it. */
  readonly discards?: boolean;
}

/** Characters of patterns that cost as much for each character of a text as reading it. */
const patternUnit = 8;
/** Names that are looked for one by one; for more, all of a message's names are read once. */
const namesMax = 8;
/** Operands, operators and headers that cost as much as a message with a small head. */
const partUnit = 32;

const decoder = new TextDecoder();

export class MessageFilter {
  readonly discards: boolean;
  /** How often each byte of a message's head may be read; and what it costs besides to look at one, in messages with small heads. */
  readonly weight: number;
  readonly cost: number;
  private readonly selector: Selector | undefined;
  private readonly key: string | undefined;
  private readonly topic: ((key: string) => boolean) | undefined;
  private readonly headers: HeadersPattern | undefined;

  /** Throws SelectorError. */
  constructor({ selector, key, topic, headers, discards }: FilterDefinition) {
    this.discards = discards === true;
    this.selector = selector === undefined ? undefined : new Selector(selector);
    const { names = 0, patterns = 0, nodes = 0 } = this.selector ?? {};
    this.weight = 1 + Math.min(names, namesMax) + patterns / patternUnit;
    this.key = key;
    this.topic = topic === undefined ? undefined : topicPattern(topic);
    this.headers = headers === undefined ? undefined : new HeadersPattern(argumentsFromJson(headers));
    this.cost = (nodes + (this.headers?.size ?? 0)) / partUnit;
  }

  matches(message: EnqueueView, codec: HeaderCodec): boolean {
    if (this.key !== undefined || this.topic !== undefined) {
      const key = keyOf(message, codec);
      if (this.key !== undefined && key !== this.key) return false;
      if (this.topic?.(key) === false) return false;
    }
    if (this.headers?.matches(codec.table(message)) === false) return false;
    return this.selector === undefined || this.selector.matches(codec.fields(message));
  }
}

function keyOf(message: EnqueueView, codec: HeaderCodec): string {
  const subject = codec.fields(message).field('subject');
  if (typeof subject === 'string') return subject;
  const { bytes, metaStart } = message;
  const at = metaStart + 1 + bytes[metaStart]!;
  return decoder.decode(bytes.subarray(at + 1, at + 1 + bytes[at]!));
}
