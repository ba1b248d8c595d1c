/**
 * The header by which a publisher has a message delayed by an exchange of type `x-delayed-message`, as RabbitMQ's plugin reads it:
 * milliseconds, as an integer, or a number or text that stands for one. What is none, or out of range, delays nothing. When the message
 * has been delayed the header is negative: it is delayed once.
 */
import { type Arguments, Decimal } from '../broker.js';
import { argument } from '../wiring/arguments.js';

export const delayHeader = 'x-delay';
/** Longer ones are none: 32 bits of milliseconds, as in the plugin; nearly 50 days. */
export const delayMax = 0xffff_ffff;

/** What the header says, in milliseconds; undefined if it says nothing that makes sense. */
export function delayIn(headers: Arguments): number | undefined {
  const value = argument(headers, delayHeader);
  let delay = Number.NaN;
  if (typeof value === 'number' || typeof value === 'bigint') delay = Math.trunc(Number(value));
  else if (value instanceof Decimal) delay = Math.trunc(value.value / 10 ** value.scale);
  else if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) delay = Number(value);
  return Number.isFinite(delay) ? delay : undefined;
}

/** For how long the message is to be delayed, in milliseconds; 0 = not at all. */
export function delayOf(headers: Arguments): number {
  const delay = delayIn(headers) ?? 0;
  return delay > 0 && delay <= delayMax ? delay : 0;
}
