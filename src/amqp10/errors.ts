/** What a failure is to a client, and which level it ends (§2.8.15 to §2.8.18). */
import { Refusal, RefusedError } from '../base/errors.js';
import { AmqpError, Condition } from './codec/index.js';

export { describeFault } from '../base/errors.js';

/** Ends the session it happened in. */
export class SessionError extends AmqpError {}

/** Ends the link it happened on. */
export class LinkError extends AmqpError {}

const conditionOfRefusal: Readonly<Record<Refusal, Condition>> = {
  [Refusal.accessRefused]: Condition.unauthorizedAccess,
  [Refusal.notFound]: Condition.notFound,
  [Refusal.resourceLocked]: Condition.resourceLocked,
  [Refusal.preconditionFailed]: Condition.preconditionFailed,
  [Refusal.resourceError]: Condition.resourceLimitExceeded,
  [Refusal.notAllowed]: Condition.notAllowed,
  [Refusal.notImplemented]: Condition.notImplemented,
  [Refusal.internalError]: Condition.internalError,
};

/**
 * The error for anything that was thrown or rejected. What is neither ours nor a refusal is a fault of the broker: internal-error, and the
 * caller logs it.
 */
export function toAmqpError(error: unknown): AmqpError {
  if (error instanceof AmqpError) return error;
  if (error instanceof RefusedError) return new AmqpError(conditionOfRefusal[error.kind], error.message);
  return new AmqpError(Condition.internalError, 'the broker failed to do this; its log says why');
}

/** True for a fault of the broker: not the client's doing. */
export function isFault(error: unknown): boolean {
  return !(error instanceof AmqpError || error instanceof RefusedError);
}
