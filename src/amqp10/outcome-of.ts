import { Outcome } from '../model/unacked.js';
import { Descriptor, type DispositionView, type Modified, StateKind, stateAt } from './codec/index.js';

/** Undefined: nothing is settled by it. */
export function outcomeOf({ state, settled, bytes, stateAt: at, stateEnd }: DispositionView): Outcome | undefined {
  if (state === StateKind.accepted) return Outcome.ack;
  if (state === StateKind.released) return Outcome.requeue;
  // Settled without a word: the default outcome, which is released here (§2.6.12, §3.5.3).
  if (state === StateKind.none) return settled ? Outcome.requeue : undefined;
  const outcome = stateAt(bytes, at, stateEnd);
  if (outcome === undefined || outcome.descriptor === Descriptor.received) return settled ? Outcome.requeue : undefined;
  if (outcome.descriptor === Descriptor.rejected) return Outcome.reject;
  if (outcome.descriptor === Descriptor.modified) return modified(outcome);
  return outcome.descriptor === Descriptor.accepted ? Outcome.ack : Outcome.requeue;
}

/** Whoever wants it no more is not given it again: as in RabbitMQ it is refused for all. */
function modified({ undeliverableHere }: Modified): Outcome {
  return undeliverableHere ? Outcome.reject : Outcome.requeue;
}
