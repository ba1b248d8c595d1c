import { createHash } from 'node:crypto';
import type { Binding } from '../../model/broker.js';
import { argumentsKey } from '../../model/wiring/arguments.js';
import { badRequest } from './management-error.js';

/** Which binding of two ends and a routing key. */
export interface BindingPath extends Omit<Binding, 'vhost' | 'arguments'> {
  /** '' = the one without arguments. */
  readonly argumentsHash: string;
}

const form = /^src=([\w\-.~%]+);dst([eq])=([\w\-.~%]+);key=([\w\-.~%]*);args=([\w-]*)$/;

/** The last part of a binding's path: `src=E;dstq=Q;key=K;args=HASH`. Throws ManagementError 400. */
export function readBindingPath(part: string): BindingPath {
  const [, source, kind, destination, key, argumentsHash] = form.exec(part) ?? [];
  if (source === undefined) throw badRequest(`'${part}' is no binding, such as src=EXCHANGE;dstq=QUEUE;key=KEY;args=`);
  return {
    source: decoded(source),
    destination: decoded(destination!),
    destinationKind: kind === 'e' ? 'exchange' : 'queue',
    routingKey: decoded(key!),
    argumentsHash: argumentsHash!,
  };
}

export function bindingPath({ source, destination, destinationKind, routingKey, arguments: table }: Binding): string {
  const [from, to, key] = [source, destination, routingKey].map(quoted);
  return `/bindings/src=${from};dst${destinationKind === 'exchange' ? 'e' : 'q'}=${to};key=${key};args=${hashOf(table)}`;
}

/** Tells bindings apart that differ in their arguments only; clients take it as it is. */
export function hashOf(table: Binding['arguments']): string {
  const key = argumentsKey(table);
  return key === '' ? '' : createHash('sha256').update(key).digest('base64url').slice(0, 12);
}

/** Throws ManagementError 400. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`'${part}' is not percent-encoded as it must be`);
  }
}

function quoted(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
