/** What becomes of deliveries of which their client tells its state (§3.4). */
import type { Modification } from '../model/broker.js';
import { annotationBytesMax } from '../model/returns.js';
import { Outcome } from '../model/unacked.js';
import { ByteWriter } from '../wire/byte-writer.js';
import { Condition, Descriptor, type DeliveryState, type Modified, StateKind } from './codec/index.js';
import { writeMap } from './codec/value-writer.js';
import { SessionError } from './errors.js';

/** Undefined: nothing is settled by it. */
export function outcomeOf(kind: StateKind, state: DeliveryState | undefined, settled: boolean): Outcome | undefined {
  if (kind === StateKind.accepted) return Outcome.ack;
  if (kind === StateKind.released) return Outcome.putBack;
  // Settled without a word: the default outcome, which is released here (§2.6.12, §3.5.3).
  if (state === undefined || state.descriptor === Descriptor.received) return settled ? Outcome.putBack : undefined;
  if (state.descriptor === Descriptor.rejected) return Outcome.reject;
  if (state.descriptor === Descriptor.modified) return modified(state);
  return state.descriptor === Descriptor.accepted ? Outcome.ack : Outcome.putBack;
}

/** Whoever wants it no more is not given it again: as in RabbitMQ it is refused for all. What did not fail does not count. */
function modified({ deliveryFailed, undeliverableHere }: Modified): Outcome {
  if (undeliverableHere) return Outcome.reject;
  return deliveryFailed ? Outcome.requeue : Outcome.putBack;
}

/** It goes back, and the client has noted something of it. */
export function isAnnotated(state: DeliveryState | undefined): state is Modified {
  if (state?.descriptor !== Descriptor.modified || state.undeliverableHere) return false;
  return (state.messageAnnotations?.entries.length ?? 0) > 0;
}

/** Throws SessionError. */
export function modificationOf({ deliveryFailed, messageAnnotations }: Modified): Modification {
  const writer = new ByteWriter();
  writeMap(writer, messageAnnotations!);
  if (writer.length <= annotationBytesMax) return { isCounted: deliveryFailed, annotations: writer.take() };
  const text = `annotations of ${writer.length} bytes in modified, there may be ${annotationBytesMax}`;
  throw new SessionError(Condition.resourceLimitExceeded, text);
}
