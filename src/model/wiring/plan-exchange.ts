import { Refusal, RefusedError } from '../../base/errors.js';
import type { Arguments } from '../broker.js';
import { alternateExchange } from '../exchange/target.js';
import { Replicate } from '../policy/definition.js';
import { argument, argumentsEqual, describeArgument } from './arguments.js';
import { nameKey } from './footprint.js';
import { type ExchangeObject, ExchangeType } from './objects.js';
import type { DeclareExchange, DeleteExchange } from './operations.js';
import {
  checkEquivalent,
  checkNameLength,
  checkNotReserved,
  type DeclarationContext,
  describeExchange,
  inequivalent,
  notFound,
  type Planner,
} from './planner.js';
import { checkReplicateArgument, goingWith, isReplicated } from './replicate-argument.js';
import { checkTypeArguments, checkTypeSpoken } from './type-arguments.js';

export function planDeclareExchange(planner: Planner, declaration: DeclareExchange): void {
  const { vhost, name } = declaration;
  const what = describeExchange(vhost, name);
  planner.checkVhost(vhost);
  checkNotDefaultExchange(name);
  const current = planner.exchange(vhost, name);
  if (declaration.passive) {
    if (current === undefined) throw notFound(what);
    planner.position = current.position;
    return;
  }
  const type = checkType(declaration.type);
  checkReplicateArgument(declaration.arguments, what);
  if (current !== undefined) {
    checkSameExchange(planner.context, current, declaration);
    planner.position = current.position;
    return;
  }
  checkNewExchange(planner.context, declaration);
  const goesWith = goingWith(planner, declaration.arguments, declaration.connection, what);
  planner.footprint.writes(nameKey.exchange(vhost, name));
  planner.create({
    kind: 'exchange',
    position: 0,
    vhost,
    name,
    type,
    durable: declaration.durable,
    autoDelete: declaration.autoDelete,
    internal: declaration.internal,
    arguments: declaration.arguments,
    ...goesWith,
  });
}

/**
 * What can be said of a new exchange before it is known what there is.
 * @throws RefusedError access-refused, precondition-failed, not-implemented
 */
export function checkNewExchange(
  context: DeclarationContext,
  declaration: Omit<DeclareExchange, 'op' | 'passive' | 'connection'>,
): void {
  const { vhost, name } = declaration;
  const what = describeExchange(vhost, name);
  checkNotDefaultExchange(name);
  const type = checkType(declaration.type);
  checkReplicateArgument(declaration.arguments, what);
  checkNotReserved('exchange', name);
  checkNameLength('exchange name', name);
  checkAlternate(declaration);
  checkTypeSpoken(context, type, what);
  checkTypeArguments(type, declaration.arguments, what);
}

export function planDeleteExchange(planner: Planner, deletion: DeleteExchange): void {
  const { vhost, name } = deletion;
  planner.checkVhost(vhost);
  checkNotDefaultExchange(name);
  if (name.startsWith('amq.')) {
    throw new RefusedError(
      Refusal.accessRefused,
      `deletion of system ${describeExchange(vhost, name)} not allowed: every vhost has it`,
    );
  }
  planner.footprint.writes(nameKey.exchange(vhost, name));
  const target = planner.tables.exchangeTarget(vhost, name);
  const exchange = target?.exchange;
  if (target === undefined || exchange === undefined) return;
  if (deletion.position !== 0 && deletion.position !== exchange.position) return;
  if (deletion.ifUnused && target.outboundCount > 0) {
    throw new RefusedError(Refusal.preconditionFailed, `${describeExchange(vhost, name)} in use`);
  }
  planner.position = exchange.position;
  planner.removal.exchange(exchange);
}

/** @throws RefusedError access-refused */
export function checkNotDefaultExchange(name: string): void {
  if (name === '') throw new RefusedError(Refusal.accessRefused, 'operation not permitted on the default exchange');
}

function checkType(type: string): ExchangeType {
  if (Object.hasOwn(ExchangeType, type)) return type as ExchangeType;
  throw new RefusedError(
    Refusal.preconditionFailed,
    `unknown exchange type '${type}'; known are ${Object.keys(ExchangeType).join(', ')}`,
  );
}

function checkAlternate(declaration: Pick<DeclareExchange, 'vhost' | 'name' | 'arguments'>): void {
  const value = argument(declaration.arguments, alternateExchange);
  if (value === undefined || typeof value === 'string') return;
  throw new RefusedError(
    Refusal.preconditionFailed,
    `invalid arg '${alternateExchange}' for ${describeExchange(declaration.vhost, declaration.name)}: ` +
      `${describeArgument(value)} was received, a string is expected`,
  );
}

/** @throws RefusedError precondition-failed if the declaration is of another exchange than the one that is there. */
export function checkSameExchange(
  context: DeclarationContext,
  current: ExchangeObject,
  declaration: Omit<DeclareExchange, 'op' | 'passive' | 'connection'>,
): void {
  const what = describeExchange(current.vhost, current.name);
  checkEquivalent('type', what, declaration.type, current.type);
  checkEquivalent('durable', what, declaration.durable, current.durable);
  checkEquivalent('auto_delete', what, declaration.autoDelete, current.autoDelete);
  checkEquivalent('internal', what, declaration.internal, current.internal);
  const level = (table: Arguments): string => (isReplicated(table) ? Replicate.all : Replicate.none);
  if (!context.isAlone) checkEquivalent('x-replicate', what, level(declaration.arguments), level(current.arguments));
  const received = argument(declaration.arguments, alternateExchange);
  const now = argument(current.arguments, alternateExchange);
  if (!argumentsEqual(received, now)) {
    throw inequivalent(alternateExchange, what, describeArgument(received), describeArgument(now));
  }
}
