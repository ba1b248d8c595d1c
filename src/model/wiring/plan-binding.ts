import { Refusal, RefusedError } from '../../base/errors.js';
import { nameKey } from './footprint.js';
import { bindingKey, type ExchangeObject, isDurable, type QueueObject } from './objects.js';
import type { ChangeBinding } from './operations.js';
import { checkNotDefaultExchange } from './plan-exchange.js';
import { failoverExchange } from './vhost-names.js';
import { checkMayUse, checkNameLength, describeExchange, describeQueue, notFound, type Planner } from './planner.js';
import { checkReplicateArgument, goingWith } from './replicate-argument.js';
import { checkBindingOf } from './type-arguments.js';

export function planBind(planner: Planner, change: ChangeBinding): void {
  checkNotFailover(change);
  const { source, destination } = checkEnds(planner, change);
  if (source === undefined) throw notFound(describeExchange(change.vhost, change.source));
  if (destination === undefined) {
    const describe = change.destinationKind === 'queue' ? describeQueue : describeExchange;
    throw notFound(describe(change.vhost, change.destination));
  }
  checkNewBinding(source, change);
  const what = `a binding of ${describeExchange(change.vhost, change.source)}`;
  const key = bindingKey(change);
  planner.footprint.writes(nameKey.binding(change.vhost, change.source, key));
  const current = planner.staying(planner.tables.exchangeTarget(change.vhost, change.source)?.binding(key));
  if (current !== undefined) {
    planner.position = current.position;
    return;
  }
  const goesWith = goingWith(planner, change.arguments, change.connection, what);
  planner.create({
    kind: 'binding',
    position: 0,
    vhost: change.vhost,
    source: change.source,
    destinationKind: change.destinationKind,
    destination: change.destination,
    routingKey: change.routingKey,
    arguments: change.arguments,
    durable: goesWith.goesWith === undefined && isDurable(source) && isDurable(destination),
    ...goesWith,
  });
}

/** What can be said of a new binding whose ends are there. @throws RefusedError access-refused, precondition-failed */
export function checkNewBinding(source: ExchangeObject, binding: Omit<ChangeBinding, 'op' | 'connection'>): void {
  checkNotDefaultExchange(binding.source);
  if (binding.destinationKind === 'exchange') checkNotDefaultExchange(binding.destination);
  checkNotFailover(binding);
  checkNameLength('routing key', binding.routingKey);
  checkBindingOf(source, binding);
  checkReplicateArgument(binding.arguments, `a binding of ${describeExchange(binding.vhost, binding.source)}`);
}

function checkNotFailover({
  vhost,
  destination,
  destinationKind,
}: Pick<ChangeBinding, 'vhost' | 'destination' | 'destinationKind'>): void {
  if (destinationKind !== 'exchange' || destination !== failoverExchange) return;
  throw new RefusedError(
    Refusal.accessRefused,
    `cannot bind to ${describeExchange(vhost, destination)}: only the broker publishes there`,
  );
}

/** What is not bound is not an error, whichever of its parts is missing: unbinding may be repeated. */
export function planUnbind(planner: Planner, change: ChangeBinding): void {
  checkEnds(planner, change);
  const key = bindingKey(change);
  planner.footprint.writes(nameKey.binding(change.vhost, change.source, key));
  const current = planner.tables.exchangeTarget(change.vhost, change.source)?.binding(key);
  if (current === undefined) return;
  planner.position = current.position;
  planner.removal.binding(current);
}

interface Ends {
  source: ExchangeObject | undefined;
  destination: ExchangeObject | QueueObject | undefined;
}

function checkEnds(planner: Planner, change: ChangeBinding): Ends {
  planner.checkVhost(change.vhost);
  checkNotDefaultExchange(change.source);
  const source = planner.exchange(change.vhost, change.source);
  if (change.destinationKind === 'exchange') {
    checkNotDefaultExchange(change.destination);
    return { source, destination: planner.exchange(change.vhost, change.destination) };
  }
  const destination = planner.queue(change.vhost, change.destination);
  if (destination !== undefined) checkMayUse(destination, change.connection);
  return { source, destination };
}
