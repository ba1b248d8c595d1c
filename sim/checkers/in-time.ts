/**
 * A message whose time is over is not handed out, and none is given up before.
 *
 * Its time begins when the primary takes it, at the latest when it is confirmed. What the primary has handed out in time may come a
 * little later: that it does not come long after is judged while nothing fails. What died of its age in the queue `mortal` comes to
 * the other queue when its time is over, not before.
 */
import type { Copy, Delivery } from '../history.js';
import { Checker } from './checker.js';

/** The wall's clock counts whole milliseconds. */
const stepMs = 1;
/** What the nodes need, with the largest messages before it. */
const workMsMax = 25;

export class InTime extends Checker {
  readonly name = 'in-time';

  override delivered(delivery: Delivery): void {
    const { copy, at } = delivery.facts;
    if (copy.queue.isGrave) this.notTooEarly(delivery);
    const lifeMs = timeOf(copy);
    const { message } = copy;
    if (lifeMs === Number.POSITIVE_INFINITY || message.sends.length !== 1 || !this.world.history.quiet) return;
    const { confirmedAt } = message;
    const lateMs = 2 * this.world.network.slowestMs + workMsMax;
    if (confirmedAt >= 0 && confirmedAt >= this.world.history.quietSince && at > confirmedAt + lifeMs + lateMs)
      this.fail(`confirmed at ${confirmedAt.toFixed(2)}, for ${lifeMs} ms: ${delivery}`);
  }

  private notTooEarly(delivery: Delivery): void {
    const { copy, at } = delivery.facts;
    const dead = copy.message.copies.find(({ queue }) => queue.dies);
    const ttlMs = dead?.queue.kind.ttlMs;
    if (dead === undefined || ttlMs === undefined) return;
    const isRejected = dead.deliveries.some(({ state }) => state === 'rejected');
    const sentAt = copy.message.sends[0]!.at;
    if (!isRejected && at < sentAt + ttlMs - stepMs)
      this.fail(`${delivery}, sent ${sentAt.toFixed(2)}, died before ${ttlMs} ms were over`);
  }
}

function timeOf({ queue, message }: Copy): number {
  const own = message.labels.lifeMs > 0 ? message.labels.lifeMs : Number.POSITIVE_INFINITY;
  return queue.dies || queue.isGrave ? Number.POSITIVE_INFINITY : Math.min(own, queue.kind.ttlMs ?? own);
}
