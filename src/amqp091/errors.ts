/** What a failure of the broker is to a client (AMQP 0-9-1 §1.2 "reply codes"). */
import { Refusal, RefusedError } from '../base/errors.js';
import { ClassId, type MethodId, methodName, ProtocolError, ReplyCode } from './codec/index.js';

export { describeFault } from '../base/errors.js';

const codeOfRefusal: Readonly<Record<Refusal, ReplyCode>> = {
  [Refusal.accessRefused]: ReplyCode.accessRefused,
  [Refusal.notFound]: ReplyCode.notFound,
  [Refusal.resourceLocked]: ReplyCode.resourceLocked,
  [Refusal.preconditionFailed]: ReplyCode.preconditionFailed,
  [Refusal.resourceError]: ReplyCode.resourceError,
  [Refusal.notAllowed]: ReplyCode.notAllowed,
  [Refusal.notImplemented]: ReplyCode.notImplemented,
  [Refusal.internalError]: ReplyCode.internalError,
};

/**
 * The protocol error for anything that was thrown or rejected. What is neither ours nor a refusal is a fault of the
 * broker: 541, and the caller logs it.
 */
export function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof RefusedError) return new ProtocolError(codeOfRefusal[error.kind], error.message);
  return new ProtocolError(ReplyCode.internalError, 'the broker failed to do this; its log says why');
}

/** A method that has no business on channel 0 (§4.2.3): one of the connection, or of a channel that should have been named. */
export function notDueOnChannel0(id: MethodId): ProtocolError {
  const code = id >>> 16 === ClassId.connection ? ReplyCode.commandInvalid : ReplyCode.channelError;
  return new ProtocolError(code, `${methodName(id)} is not due on channel 0`, id);
}

/** True for a fault of the broker: not the client's doing. */
export function isFault(error: unknown): boolean {
  return !(error instanceof ProtocolError || error instanceof RefusedError);
}
