/**
 * A confirmed message is not lost: it is given to a client that takes it, or it is still there.
 *
 * Judged at the end, when all queues have been drained: every confirmed message must have been taken by some client (acked,
 * rejected, or delivered without need of an ack). A message that was delivered once and not acked does not count as taken, so a
 * broker that forgets what its consumers hold is found, too.
 *
 * A queue from which somebody takes without acknowledgement is not judged; what queues give up by themselves is in `given-up.ts`. Excuses are given by the clients that purge and delete, and for messages that are not durable, by the director when the last
 * intact in-sync replica went down. Durable messages have no excuse: they must survive the crash of all nodes at once, with
 * everything that was not synced lost or torn.
 */
import type { Copy } from '../history.js';
import { Checker } from './checker.js';
import { isGivenUp } from './given-up.js';

export class ConfirmedNotLost extends Checker {
  readonly name = 'confirmed-not-lost';

  override atEnd(): void {
    for (const message of this.world.history.messages) {
      if (message.confirmedAt < 0) continue;
      for (const copy of message.copies) {
        if (copy.takenAt >= 0 || copy.excuse !== '' || copy.queue.atMostOnce) continue;
        if (isGivenUp(copy)) continue;
        if (copy.queue.dies && message.copies.some((other) => isAccountedFor(other))) continue;
        const kind = copy.durable ? 'durable' : 'transient';
        const deliveries = copy.deliveries.map((delivery) => `\n    ${delivery}`).join('');
        const sends = message.sends.map((send) => `${send.node} ${send.at.toFixed(2)}`).join(', ');
        this.fail(
          `${copy} (${kind}), sent ${sends}, confirmed ${message.confirmedAt.toFixed(2)}, is gone; delivered: ${deliveries || 'never'}`,
        );
        return;
      }
    }
  }
}

/** Where the dead go: it was taken there, or could be lost there. */
function isAccountedFor({ queue, takenAt, durable }: Copy): boolean {
  return queue.isGrave && (takenAt >= 0 || (!durable && queue.transientLost));
}
