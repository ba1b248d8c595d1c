/**
 * Headers exchange (AMQP 0-9-1 §3.1.3.4, with RabbitMQ's extensions): a binding's arguments are compared with the message's
 * headers. `x-match`: `all` (default) or `any` of them must match; other arguments that begin with `x-` are passed over,
 * except under `all-with-x` and `any-with-x`; those that say whether the binding is replicated always. An argument without a
 * value (void) matches a header of any value.
 */
import type { Arguments, ArgumentValue } from '../broker.js';
import { replicateArguments } from '../policy/definition.js';
import { argumentsEqual } from '../wiring/arguments.js';
import type { BindingObject } from '../wiring/objects.js';
import type { Matcher, Reached } from './matcher.js';
import type { Target } from './target.js';

export const xMatchValues: readonly string[] = ['all', 'any', 'all-with-x', 'any-with-x'];

/** A binding's arguments, made ready for comparing. */
export class HeadersPattern {
  private readonly any: boolean;
  private readonly names: string[] = [];
  private readonly values: ArgumentValue[] = [];

  constructor(table: Arguments) {
    const mode = table['x-match'];
    this.any = mode === 'any' || mode === 'any-with-x';
    const withX = mode === 'all-with-x' || mode === 'any-with-x';
    for (const [name, value] of Object.entries(table)) {
      if (name === 'x-match' || (name.startsWith('x-') && !withX) || replicateArguments.includes(name)) continue;
      this.names.push(name);
      this.values.push(value);
    }
  }

  /** Headers that it asks for. */
  get size(): number {
    return this.names.length;
  }

  matches(headers: Arguments): boolean {
    for (let i = 0; i < this.names.length; i++) {
      if (this.matchesOne(headers, this.names[i]!, this.values[i]!) === this.any) return this.any;
    }
    return !this.any;
  }

  private matchesOne(headers: Arguments, name: string, value: ArgumentValue): boolean {
    if (!Object.hasOwn(headers, name)) return false;
    return value === null || argumentsEqual(value, headers[name]);
  }
}

export class HeadersMatcher implements Matcher {
  private readonly bindings = new Map<BindingObject, { pattern: HeadersPattern; target: Target }>();

  add(binding: BindingObject, target: Target): void {
    this.bindings.set(binding, { pattern: new HeadersPattern(binding.arguments), target });
  }

  remove(binding: BindingObject): void {
    this.bindings.delete(binding);
  }

  match(_routingKey: string, reached: Reached): void {
    if (this.bindings.size === 0) return;
    const headers = reached.headers();
    for (const { pattern, target } of this.bindings.values()) if (pattern.matches(headers)) reached.reach(target);
  }
}
