/**
 * A message that waits for its time, as it lies in a group's delayed queue. Its meta is
 *
 *   f64 when   then as it goes into the outbox when its time has come: an envelope, exchange, routing key
 *
 * `when` is wall milliseconds, by the clock of the primary that took it. Publishers say how long it is to wait; so whose clock they
 * have does not matter, and what is sent again after a failure still says it.
 */
import { type EnqueueView, type MessageParts, metaAt } from '../../log/record.js';
import { delayedEnvelope } from '../dead-letter/envelope.js';
import { delayMax } from './delay-header.js';

const whenBytes = 8;

/** Has `delayed` be the message `parts`, as it is to wait for `delayMs`, and to go on from `exchange` then. */
export function setDelayed(
  delayed: MessageParts,
  parts: MessageParts,
  delayMs: number,
  vhost: string,
  exchange: string,
): void {
  const head = delayedEnvelope(vhost, exchange);
  const meta = new Uint8Array(whenBytes + head.length + parts.metaLength);
  new DataView(meta.buffer).setFloat64(0, delayMs, true);
  meta.set(head, whenBytes);
  const own = parts.metaBytes.subarray(parts.metaStart, parts.metaStart + parts.metaLength);
  meta.set(own, whenBytes + head.length);
  delayed.setTo(parts);
  delayed.setMeta(meta);
  // The time that it has in a queue begins when it comes there.
  delayed.expiresAt = 0;
}

/**
 * The enqueue record of one queue at `offset` is new in the log, and not sealed yet: from now on it says when. It may say so already:
 * the log of a deposed primary has given it back.
 */
export function setDue(view: DataView, offset: number, now: number): void {
  const at = metaAt(view, offset);
  const delay = view.getFloat64(at, true);
  if (delay <= delayMax) view.setFloat64(at, now + delay, true);
}

/** When the message of the enqueue record at `offset` is due. */
export function dueAt(view: DataView, offset: number): number {
  return view.getFloat64(metaAt(view, offset), true);
}

/** Has `parts`, which are those of the record, be the message as it goes on. */
export function setGoingOn(parts: MessageParts, record: EnqueueView): void {
  parts.metaStart = record.metaStart + whenBytes;
  parts.metaLength = record.metaLength - whenBytes;
}
