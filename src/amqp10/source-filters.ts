/**
 * The filters of a source (§3.5.8), of the kinds that Qpid has registered ("apache.org:..."). A kind that is not known, or comes twice, is
 * left out of the answer: it is not applied.
 */
import { toArgument } from '../conversion/values.js';
import type { Arguments } from '../model/broker.js';
import { type FilterDefinition, keyBytesMax } from '../model/selection/message-filter.js';
import { Selector } from '../model/selection/selector.js';
import { SelectorError } from '../model/selection/selector-error.js';
import { argumentsToJson } from '../model/wiring/arguments.js';
import { Condition, Described, MapValue, Scalar, textOf, type Value } from './codec/index.js';
import { LinkError } from './errors.js';

const kinds = {
  0x468c_0000_0000: 'direct',
  0x468c_0000_0001: 'topic',
  0x468c_0000_0002: 'headers',
  0x468c_0000_0004: 'selector',
  'apache.org:legacy-amqp-direct-binding:string': 'direct',
  'apache.org:legacy-amqp-topic-binding:string': 'topic',
  'apache.org:legacy-amqp-headers-binding:map': 'headers',
  'apache.org:selector-filter:string': 'selector',
} as const;
type Kind = (typeof kinds)[keyof typeof kinds];

export class SourceFilters {
  selector: string | undefined = undefined;
  /** Keys of bindings, and arguments of one. */
  direct: string | undefined = undefined;
  topic: string | undefined = undefined;
  headers: Arguments | undefined = undefined;
  private readonly taken: [Value, Value][] = [];

  /** Throws LinkError invalid-field if one that is known makes no sense. */
  constructor(filters: MapValue | undefined) {
    for (const [name, value] of filters?.entries ?? []) {
      if (!(value instanceof Described)) continue;
      const kind = kindOf(value.descriptor);
      if (kind === undefined || this[kind] !== undefined) continue;
      this.take(kind, value.value);
      this.taken.push([name, value]);
    }
  }

  /** Those that are applied, for the answer. */
  get applied(): MapValue | undefined {
    return this.taken.length === 0 ? undefined : new MapValue(this.taken);
  }

  /** What of a queue's messages is wanted; undefined: all. */
  get definition(): FilterDefinition | undefined {
    const { selector, direct, topic, headers } = this;
    if (this.taken.length === 0) return undefined;
    return {
      ...(selector === undefined ? {} : { selector }),
      ...(direct === undefined ? {} : { key: direct }),
      ...(topic === undefined ? {} : { topic }),
      ...(headers === undefined ? {} : { headers: argumentsToJson(headers) }),
    };
  }

  private take(kind: Kind, value: Value): void {
    if (kind === 'headers') {
      if (!(value instanceof MapValue)) throw invalid('a headers binding that is no map');
      this.headers = toArgument(value) as Arguments;
      return;
    }
    const text = textOf(value);
    if (text === undefined) throw invalid(`a ${kind} filter that is no text`);
    if (kind === 'selector') check(text);
    if (kind === 'topic' && Buffer.byteLength(text) > keyBytesMax)
      throw invalid(`a topic filter of more than ${keyBytesMax} bytes: no routing key is that long`);
    this[kind] = text;
  }
}

function kindOf(descriptor: Value): Kind | undefined {
  const code =
    descriptor instanceof Scalar && typeof descriptor.value === 'bigint' ? Number(descriptor.value) : undefined;
  const key = code ?? textOf(descriptor);
  return key !== undefined && Object.hasOwn(kinds, key) ? kinds[key as keyof typeof kinds] : undefined;
}

function check(selector: string): void {
  try {
    new Selector(selector);
  } catch (error) {
    throw error instanceof SelectorError ? invalid(error.message) : error;
  }
}

function invalid(text: string): LinkError {
  return new LinkError(Condition.invalidField, text);
}
