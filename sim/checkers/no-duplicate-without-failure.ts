/**
 * While nothing fails, a message comes again only if its client gave it back: by requeueing it, or by ending the consumer,
 * channel or connection that held it. And nothing else is flagged, but what was on its way to a consumer that ended, and what
 * a primary of its group had whose place was taken: it may have handed it out. One that gave its group away has said what it did.
 *
 * Holds before the first fault of a run, and after the last one when all has converged; a message that was touched in between
 * is not judged.
 */
import { epochOf } from '../../src/log/lsn.js';
import type { Delivery } from '../history.js';
import { Checker } from './checker.js';

export class NoDuplicateWithoutFailure extends Checker {
  readonly name = 'no-duplicate-without-failure';

  override delivered(delivery: Delivery): void {
    const { history } = this.world;
    const { copy, redelivered } = delivery.facts;
    if (!history.quiet || copy.message.sends.length > 1) return;
    if ((copy.message.sends[0]?.at ?? 0) < history.quietSince) return;
    let givenBack = false;
    for (const other of copy.deliveries) {
      if (other === delivery) continue;
      if (other.state === 'requeued' || other.state === 'dropped') givenBack = true;
      else this.fail(`${delivery}, though nothing failed and ${other}`);
    }
    // Its primary hears of a consumer's end later.
    const heardAt = copy.queue.consumerEndedAt + 2 * this.world.network.slowestMs;
    const onItsWay = copy.queue.consumerEndedAt >= 0 && heardAt >= copy.message.sends[0]!.at;
    const { group, epoch } = delivery.facts;
    const older = this.world.takeovers.isBetween(group, epochOf(delivery.position), epoch);
    if (redelivered && !givenBack && !onItsWay && !older) this.fail(`flagged for nothing: ${delivery}`);
  }
}
