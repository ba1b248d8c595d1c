/** What requests of operators have in common. */
import { Refusal, RefusedError } from '../base/errors.js';
import { HttpError } from './resource.js';

/** The group that a path names; -1, which none has, if that is no number. */
export function groupOf(parameters: Record<string, string>): number {
  const text = parameters['group']!;
  return /^\d+$/.test(text) ? Number(text) : -1;
}

/** What stands against it is a conflict, a coordinator that does not answer passes. */
export function operatorsError(error: unknown): unknown {
  if (!(error instanceof RefusedError)) return error;
  if (error.kind === Refusal.notAllowed) return new HttpError(409, 'refused', error.message);
  return error.kind === Refusal.internalError ? new HttpError(503, 'unavailable', error.message) : error;
}
