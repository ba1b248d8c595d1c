/** What the types of exchanges want of their declarations and bindings; texts as RabbitMQ and its plugins have them. */
import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { type Arguments, type MessageProperty, messageProperties } from '../broker.js';
import { hashHeader, hashProperty, weightOf } from '../exchange/consistent-hash.js';
import { delayedTypeArgument, routingType } from '../exchange/create.js';
import { xMatchValues } from '../exchange/headers.js';
import { argument, describeArgument } from './arguments.js';
import { type BindingObject, type ExchangeObject, ExchangeType } from './objects.js';
import type { DeclarationContext } from './planner.js';

function refused(text: string): RefusedError {
  return new RefusedError(Refusal.preconditionFailed, text);
}

const firstTypes: readonly string[] = ['direct', 'fanout', 'topic', 'headers'];

/** @throws RefusedError not-implemented while not all nodes know the type. */
export function checkTypeSpoken({ version }: DeclarationContext, type: ExchangeType, what: string): void {
  if (firstTypes.includes(type) || version() >= Feature.exchangeTypes) return;
  throw new RefusedError(
    Refusal.notImplemented,
    `${what} cannot be of type '${type}' while the cluster speaks protocol version ${version()}: it takes ${Feature.exchangeTypes}, which is spoken when all nodes do`,
  );
}

/** @throws RefusedError precondition-failed */
export function checkTypeArguments(type: ExchangeType, table: Arguments, what: string): void {
  if (type === 'x-delayed-message') return checkDelayedType(table, what);
  if (type === 'x-consistent-hash') checkHashArguments(table, what);
}

function checkDelayedType(table: Arguments, what: string): void {
  const inner = argument(table, delayedTypeArgument);
  const isType = typeof inner === 'string' && Object.hasOwn(ExchangeType, inner) && inner !== 'x-delayed-message';
  if (isType) return checkTypeArguments(inner as ExchangeType, table, what);
  throw refused(
    `Invalid argument, '${delayedTypeArgument}' must be an existing exchange type: ${describeArgument(inner)} was received for ${what}`,
  );
}

function checkHashArguments(table: Arguments, what: string): void {
  const header = argument(table, hashHeader);
  const property = argument(table, hashProperty);
  for (const [name, value] of Object.entries({ [hashHeader]: header, [hashProperty]: property }))
    if (value !== undefined && typeof value !== 'string')
      throw refused(`invalid arg '${name}' for ${what}: ${describeArgument(value)} was received, a string is expected`);
  if (header !== undefined && property !== undefined)
    throw refused(`${hashHeader} and ${hashProperty} are mutually exclusive`);
  if (property !== undefined && !messageProperties.includes(property as MessageProperty))
    throw refused(`Unsupported property: ${String(property)}; ${messageProperties.join(', ')} can be hashed`);
}

/** @throws RefusedError precondition-failed if an exchange of this type has no such bindings. */
export function checkBindingOf(source: ExchangeObject, binding: Pick<BindingObject, 'routingKey' | 'arguments'>): void {
  const type = routingType(source);
  if (type === 'headers') checkXMatch(binding.arguments);
  else if (type === 'x-consistent-hash') checkWeight(binding.routingKey);
}

function checkWeight(routingKey: string): void {
  const weight = weightOf(routingKey);
  if (Number.isNaN(weight)) throw refused(`The binding key must be an integer: '${routingKey}'`);
  if (weight < 1) throw refused('The binding key must be greater than 0');
}

function checkXMatch(table: Arguments): void {
  const value = argument(table, 'x-match');
  if (value === undefined || (typeof value === 'string' && xMatchValues.includes(value))) return;
  throw refused(
    `invalid x-match: ${describeArgument(value)} was received, one of ${xMatchValues.join(', ')} is expected`,
  );
}
