/**
 * `x-consistent-hash`: each message goes to one of the targets, the same one for the same routing key (or header, or property). A
 * binding's key is a number, its target's weight: twice the weight, twice the keys.
 *
 * Which one it is, is drawn for each target by itself (rendezvous hashing): of all of them the one with the lowest draw, divided by its
 * weight, has the key. So a target that comes takes its share from all others and nothing else moves, and of one that goes only its own
 * keys move. It depends on nothing but the bindings, so all nodes say the same; and it takes no memory but the bindings', whatever
 * the weights. The price is a step for each target; routes by routing key are kept (RouteCache).
 *
 * Of several bindings to one target the oldest one counts, as in RabbitMQ.
 */
import { type ArgumentValue, type MessageProperty, messageProperties } from '../broker.js';
import { argument, argumentToJson } from '../wiring/arguments.js';
import type { BindingObject, ExchangeObject } from '../wiring/objects.js';
import { hashText, mixHashes } from './hash.js';
import type { Matcher, Reached } from './matcher.js';
import type { Target } from './target.js';

export const hashHeader = 'hash-header';
export const hashProperty = 'hash-property';

const hashes = 2 ** 32;

interface Share {
  readonly target: Target;
  readonly hash: number;
  /** The oldest first. */
  readonly bindings: BindingObject[];
  weight: number;
}

/** @returns the weight that a binding key stands for; NaN if it is no integer. */
export function weightOf(routingKey: string): number {
  return /^[+-]?\d+$/.test(routingKey) ? Number(routingKey) : Number.NaN;
}

export class ConsistentHashMatcher implements Matcher {
  readonly picksOne = true;
  private readonly header: string | undefined;
  private readonly property: MessageProperty | undefined;
  private readonly shares: Share[] = [];
  private readonly byTarget = new Map<Target, Share>();

  constructor(exchange: Pick<ExchangeObject, 'arguments'>) {
    const header = argument(exchange.arguments, hashHeader);
    const property = argument(exchange.arguments, hashProperty);
    this.header = typeof header === 'string' ? header : undefined;
    this.property = messageProperties.find((name) => name === property);
  }

  add(binding: BindingObject, target: Target): void {
    let share = this.byTarget.get(target);
    if (share === undefined) {
      share = { target, hash: hashText(`${target.kind} ${target.name}`), bindings: [], weight: 0 };
      this.byTarget.set(target, share);
      this.shares.push(share);
    }
    share.bindings.push(binding);
    share.bindings.sort((a, b) => a.position - b.position);
    share.weight = weightOf(share.bindings[0]!.routingKey);
  }

  remove(binding: BindingObject, target: Target): void {
    const share = this.byTarget.get(target);
    const at = share?.bindings.indexOf(binding) ?? -1;
    if (share === undefined || at < 0) return;
    share.bindings.splice(at, 1);
    if (share.bindings.length > 0) {
      share.weight = weightOf(share.bindings[0]!.routingKey);
      return;
    }
    this.byTarget.delete(target);
    this.shares.splice(this.shares.indexOf(share), 1);
  }

  match(routingKey: string, reached: Reached): void {
    const { shares } = this;
    if (shares.length === 0) return;
    const key = hashText(this.textOf(routingKey, reached));
    let best: Share | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < shares.length; i++) {
      const share = shares[i]!;
      // Exponentially distributed, with the weight for its rate.
      const draw = -Math.log((mixHashes(key, share.hash) + 0.5) / hashes) / share.weight;
      if (draw > least || (draw === least && !isBefore(share.target, best!.target))) continue;
      least = draw;
      best = share;
    }
    if (best !== undefined) reached.reach(best.target);
  }

  private textOf(routingKey: string, reached: Reached): string {
    if (this.property !== undefined) return reached.property(this.property);
    if (this.header === undefined) return routingKey;
    const value = argument(reached.headers(), this.header);
    return value === undefined ? '' : textOfValue(value);
  }
}

function textOfValue(value: ArgumentValue): string {
  return typeof value === 'string' ? value : JSON.stringify(argumentToJson(value));
}

/** For two that draw the same. */
function isBefore(a: Target, b: Target): boolean {
  return a.kind === b.kind ? a.name < b.name : a.kind < b.kind;
}
