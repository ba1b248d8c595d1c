import type { AccessObject } from '../access/objects.js';
import type { ExchangeTarget } from '../exchange/target.js';
import { type Footprint, nameKey } from './footprint.js';
import {
  type BindingObject,
  bindingKey,
  type ExchangeObject,
  type GlobalParameterObject,
  type MoveObject,
  type PolicyObject,
  type QueueObject,
  type UseObject,
  type VhostObject,
  type WiringObject,
} from './objects.js';
import type { WiringTables } from './tables.js';

/** What nothing else hangs on. */
type PlainObject = PolicyObject | GlobalParameterObject | VhostObject | AccessObject;

/**
 * Everything that goes when something goes: a queue or exchange with its bindings, an auto-delete exchange with the
 * last binding that left it, and so on along the chain.
 */
export class Removal {
  private readonly tables: WiringTables;
  private readonly footprint: Footprint;
  private readonly bindings = new Set<BindingObject>();
  private readonly exchanges = new Set<ExchangeObject>();
  private readonly queues = new Set<QueueObject>();
  private readonly uses = new Set<UseObject>();
  private readonly others = new Set<PlainObject>();
  private readonly moves = new Set<MoveObject>();
  /** Exchanges whose bindings are still to be followed. */
  private readonly due: ExchangeTarget[] = [];
  /** Bindings removed, by the exchange that they leave. */
  private readonly removedFrom = new Map<ExchangeTarget, number>();

  constructor(tables: WiringTables, footprint: Footprint) {
    this.tables = tables;
    this.footprint = footprint;
  }

  queue(queue: QueueObject): void {
    this.footprint.writes(nameKey.queue(queue.vhost, queue.name));
    this.queueAlone(queue);
    const move = this.tables.moves.of(queue);
    if (move !== undefined) {
      this.queueAlone(move.source);
      this.queueAlone(move.target);
    }
    for (const binding of this.tables.queueTarget(queue.vhost, queue.name)?.inbound() ?? []) this.drop(binding);
    this.follow();
  }

  /** The queue with what is said of it, and not what leads to its name. */
  queueAlone(queue: QueueObject): void {
    this.queues.add(queue);
    const use = this.tables.useOf(queue.position);
    if (use !== undefined) this.uses.add(use);
    for (const stage of this.tables.moves.stagesOf(queue.position)) this.moves.add(stage);
  }

  /** How far a queue's move was. */
  stage(move: MoveObject): void {
    this.moves.add(move);
  }

  exchange(exchange: ExchangeObject): void {
    this.take(exchange);
    this.follow();
  }

  binding(binding: BindingObject): void {
    this.footprint.writes(nameKey.binding(binding.vhost, binding.source, bindingKey(binding)));
    this.drop(binding);
    this.follow();
  }

  /** What nothing else hangs on: it goes alone. */
  other(object: PlainObject): void {
    this.footprint.writes(keyOfOther(object));
    this.others.add(object);
  }

  /** Whatever it is, with what goes with it. */
  any(object: WiringObject): void {
    if (object.kind === 'queue') this.queue(object);
    else if (object.kind === 'exchange') this.exchange(object);
    else if (object.kind === 'binding') this.binding(object);
    else if (object.kind === 'use') this.uses.add(object);
    else if (object.kind === 'move') this.stage(object);
    else this.other(object);
  }

  /** Objects so far. */
  get size(): number {
    return (
      this.bindings.size + this.exchanges.size + this.uses.size + this.moves.size + this.queues.size + this.others.size
    );
  }

  /** All of it; bindings before what they connect, so that no part of the list leaves one without its ends. */
  objects(): WiringObject[] {
    return [...this.bindings, ...this.exchanges, ...this.uses, ...this.moves, ...this.queues, ...this.others];
  }

  private take(exchange: ExchangeObject): void {
    this.footprint.writes(nameKey.exchange(exchange.vhost, exchange.name));
    if (this.exchanges.has(exchange)) return;
    this.exchanges.add(exchange);
    const target = this.tables.exchangeTarget(exchange.vhost, exchange.name);
    if (target !== undefined) this.due.push(target);
  }

  private follow(): void {
    for (let target = this.due.pop(); target !== undefined; target = this.due.pop()) {
      for (const binding of target.outbound()) this.bindings.add(binding);
      for (const binding of target.inbound()) this.drop(binding);
    }
  }

  private drop(binding: BindingObject): void {
    if (this.bindings.has(binding)) return;
    this.bindings.add(binding);
    this.footprint.reads(nameKey.exchange(binding.vhost, binding.source));
    const source = this.tables.exchangeTarget(binding.vhost, binding.source);
    if (source?.exchange?.autoDelete !== true) return;
    this.footprint.writes(nameKey.exchange(binding.vhost, binding.source));
    const removed = (this.removedFrom.get(source) ?? 0) + 1;
    this.removedFrom.set(source, removed);
    if (removed === source.outboundCount) this.take(source.exchange);
  }
}

function keyOfOther(object: PlainObject): string {
  switch (object.kind) {
    case 'policy':
    case 'operatorPolicy':
      return nameKey.policy(object.kind, object.vhost, object.name);
    case 'globalParameter':
      return nameKey.globalParameter(object.name);
    case 'vhost':
      return nameKey.vhost(object.name);
    case 'user':
      return nameKey.user(object.name);
    case 'permission':
      return nameKey.grant(object.user, object.vhost);
    case 'topicPermission':
      return nameKey.grant(object.user, object.vhost, object.exchange);
    case 'limits':
      return nameKey.limits(object.of, object.name);
    case 'founded':
      return nameKey.founded;
  }
}
