/**
 * A message that is to wait for its time waits for it: by the clocks of the brokers, which here all have the same wall time. How late
 * it may come nobody says; that it comes at all, and once, others judge.
 */
import type { Delivery } from '../history.js';
import { Checker } from './checker.js';

/** Wall time comes in whole milliseconds. */
const stepMs = 1;

export class NotTooEarly extends Checker {
  readonly name = 'not-too-early';

  override delivered(delivery: Delivery): void {
    const { message } = delivery.copy;
    if (message.delayMs === 0) return;
    const [first] = message.sends;
    const due = first!.at + message.delayMs;
    if (delivery.facts.at < due - stepMs)
      this.fail(`${delivery}, but it was to wait ${message.delayMs} ms, until ${due.toFixed(2)}`);
  }
}
