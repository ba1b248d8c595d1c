import type { Policies } from '../policy/policies.js';
import { argument } from '../wiring/arguments.js';
import { type BindingObject, bindingKey, type ExchangeObject, type QueueObject } from '../wiring/objects.js';
import { createMatcher } from './create.js';
import type { Matcher } from './matcher.js';
import { Newest } from './newest.js';

/** Where bindings lead. A target stands for a name in a vhost and outlives what has the name, as long as bindings use it. */
export type Target = QueueTarget | ExchangeTarget;

abstract class NamedTarget {
  readonly name: string;
  /** Number of the last route that came by: each target is visited once. */
  stamp = 0;
  /** Bindings that lead here; most targets have few or none. */
  private bindingsHere: Set<BindingObject> | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }

  addInbound(binding: BindingObject): void {
    this.bindingsHere ??= new Set();
    this.bindingsHere.add(binding);
  }

  removeInbound(binding: BindingObject): void {
    this.bindingsHere?.delete(binding);
    if (this.bindingsHere?.size === 0) this.bindingsHere = undefined;
  }

  /** All bindings that lead here. */
  inbound(): Iterable<BindingObject> {
    return this.bindingsHere ?? [];
  }

  get inboundCount(): number {
    return this.bindingsHere?.size ?? 0;
  }
}

/** What an exchange's argument and the key of its policy are called. */
export const alternateExchange = 'alternate-exchange';

export class QueueTarget extends NamedTarget {
  readonly kind = 'queue';
  /** The queue that has the name now. */
  queue: QueueObject | undefined = undefined;
  private readonly newest = new Newest<QueueObject>();

  add(queue: QueueObject): void {
    this.newest.add(queue);
    this.queue = this.newest.current;
  }

  remove(queue: QueueObject): void {
    this.newest.remove(queue);
    this.queue = this.newest.current;
  }

  /** Nothing has or uses the name. */
  get unused(): boolean {
    return this.queue === undefined && this.inboundCount === 0;
  }
}

export class ExchangeTarget extends NamedTarget {
  readonly kind = 'exchange';
  /** The exchange that has the name now. */
  exchange: ExchangeObject | undefined = undefined;
  /** Defined while the exchange is. */
  matcher: Matcher | undefined = undefined;
  /** The name of its alternate exchange, as of that version of the policies. */
  private alternate: string | undefined = undefined;
  private alternateVersion = -1;
  private readonly newest = new Newest<ExchangeObject>();
  /** The bindings that leave it, by `bindingKey`. */
  private readonly byKey = new Map<string, Newest<BindingObject>>();
  private readonly targets = new Map<BindingObject, Target>();

  /** An exchange that exists without a declaration. */
  static predeclared(exchange: ExchangeObject, matcher: Matcher): ExchangeTarget {
    const target = new ExchangeTarget(exchange.name);
    target.newest.add(exchange);
    target.exchange = exchange;
    target.matcher = matcher;
    return target;
  }

  add(exchange: ExchangeObject): void {
    this.newest.add(exchange);
    this.renew();
  }

  remove(exchange: ExchangeObject): void {
    this.newest.remove(exchange);
    this.renew();
  }

  private renew(): void {
    const exchange = this.newest.current;
    if (exchange === this.exchange) return;
    this.exchange = exchange;
    this.alternateVersion = -1;
    this.matcher = exchange === undefined ? undefined : createMatcher(exchange);
    if (this.matcher !== undefined) for (const [binding, target] of this.targets) this.matcher.add(binding, target);
  }

  /** Where messages go that lead nowhere from here: as its argument says, else its policy; undefined: nowhere. */
  alternateBy(policies: Policies): string | undefined {
    if (this.alternateVersion === policies.version) return this.alternate;
    const { exchange } = this;
    const own = exchange === undefined ? undefined : argument(exchange.arguments, alternateExchange);
    const policy = exchange === undefined ? undefined : policies.ofExchange(exchange.vhost, exchange.name);
    const name = own ?? policy?.definition[alternateExchange];
    this.alternate = typeof name === 'string' ? name : undefined;
    this.alternateVersion = policies.version;
    return this.alternate;
  }

  /** A binding from here to `target` has appeared. */
  bind(binding: BindingObject, target: Target): void {
    const key = bindingKey(binding);
    let newest = this.byKey.get(key);
    if (newest === undefined) {
      newest = new Newest<BindingObject>();
      this.byKey.set(key, newest);
    }
    newest.add(binding);
    this.targets.set(binding, target);
    this.matcher?.add(binding, target);
  }

  /** The binding is gone. Returns where it led. */
  unbind(binding: BindingObject): Target | undefined {
    const target = this.targets.get(binding);
    if (target === undefined) return undefined;
    const key = bindingKey(binding);
    const newest = this.byKey.get(key);
    newest?.remove(binding);
    if (newest?.current === undefined) this.byKey.delete(key);
    this.targets.delete(binding);
    this.matcher?.remove(binding, target);
    return target;
  }

  /** The live binding with this `bindingKey`. */
  binding(key: string): BindingObject | undefined {
    return this.byKey.get(key)?.current;
  }

  /** All bindings that leave it. */
  outbound(): Iterable<BindingObject> {
    return this.targets.keys();
  }

  get outboundCount(): number {
    return this.targets.size;
  }

  get unused(): boolean {
    return this.exchange === undefined && this.inboundCount === 0 && this.targets.size === 0;
  }
}
