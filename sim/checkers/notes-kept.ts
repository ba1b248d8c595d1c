/**
 * What a client has noted of a message that it gave back comes with the message's next delivery.
 *
 * A note that was on its way when its node died is lost with it, and the one before holds. So with failures a message has one of its notes,
 * or none; without, the last.
 */
import type { Delivery } from '../history.js';
import { Checker } from './checker.js';

export class NotesKept extends Checker {
  readonly name = 'notes-kept';
  /** By message, in the order in which they were made. */
  private readonly notes = new Map<string, number[]>();

  override settled(delivery: Delivery): void {
    if (delivery.note === 0) return;
    const key = keyOf(delivery);
    const known = this.notes.get(key);
    if (known === undefined) this.notes.set(key, [delivery.note]);
    else known.push(delivery.note);
  }

  override delivered(delivery: Delivery): void {
    if (delivery.copy.queue.kind.isNoted !== true) return;
    const { note } = delivery.facts;
    const known = this.notes.get(keyOf(delivery)) ?? [];
    const last = known.at(-1) ?? 0;
    if (this.world.history.quiet && note !== last) this.fail(`has the note ${note}, the last was ${last}: ${delivery}`);
    if (note !== 0 && !known.includes(note)) this.fail(`has the note ${note}, which nobody made: ${delivery}`);
  }
}

/** A message, for ever. */
function keyOf({ facts: { incarnation, position } }: Delivery): string {
  return `${incarnation} ${position}`;
}
