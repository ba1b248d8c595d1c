import { Refusal, RefusedError } from '../../base/errors.js';
import { describeQueue, notFound } from '../../model/wiring/planner.js';

const kinds: ReadonlySet<string> = new Set(Object.values(Refusal));

/** The error for a refusal as a group's service words it, '<kind>: text', with the queue's name, which services do not know. */
export function queueRefused(refusal: string, vhost: string, queue: string): RefusedError {
  const colon = refusal.indexOf(': ');
  const kind = refusal.slice(0, colon);
  if (kind === Refusal.notFound) return notFound(describeQueue(vhost, queue));
  const text = `${describeQueue(vhost, queue)} ${refusal.slice(colon + 2)}`;
  return new RefusedError(kinds.has(kind) ? (kind as Refusal) : Refusal.internalError, text);
}
