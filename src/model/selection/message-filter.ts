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
/** Operands and operators of a selector, and words of a topic's pattern, that cost as much as looking at a small message. */
const nodesUnit = 32;
const wordsUnit = 8;
/** What finding several names costs besides reading the bytes. */
const namesWeight = 4;
/** Longer ones, which can be subjects only, match no pattern: so that a match has a bound. */
export const keyBytesMax = 255;

const decoder = new TextDecoder();

export class MessageFilter {
  readonly discards: boolean;
  /** What it costs to look at a message without its bytes, in small messages that are looked at. */
  readonly base: number;
  /** How much more than bytes are read it costs to look at a message, at most. */
  readonly weight: number;
  private readonly selector: Selector | undefined;
  private readonly key: string | undefined;
  private readonly topic: ((key: string) => boolean) | undefined;
  private readonly headers: HeadersPattern | undefined;

  /** Throws SelectorError. */
  constructor({ selector, key, topic, headers, discards }: FilterDefinition) {
    this.discards = discards === true;
    this.selector = selector === undefined ? undefined : new Selector(selector);
    this.weight =
      1 + (this.selector?.patterns ?? 0) / patternUnit + (this.selector?.hasNames === true ? namesWeight : 0);
    this.base = 1 + (this.selector?.nodes ?? 0) / nodesUnit + (topic?.split('.').length ?? 0) / wordsUnit;
    this.key = key;
    this.topic = topic === undefined ? undefined : topicPattern(topic);
    this.headers = headers === undefined ? undefined : new HeadersPattern(argumentsFromJson(headers));
  }

  matches(message: EnqueueView, codec: HeaderCodec): boolean {
    if (this.key !== undefined || this.topic !== undefined) {
      const key = keyOf(message, codec);
      if (this.key !== undefined && key !== this.key) return false;
      if (this.topic !== undefined && (key.length > keyBytesMax || !this.topic(key))) return false;
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
