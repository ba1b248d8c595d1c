import type { Rules } from '../../base/rules.js';
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView } from '../../log/record.js';
import { EntryState } from '../queue/piece.js';
import type { MessageKeys } from './message-keys.js';
import type { ServedQueue } from './served-queue.js';

/** Positions asked for at a time, when a primary begins. */
const walkSlice = 256;

/**
 * A queue that keeps the last message of each key (`x-last-value-key`): a new one takes the place of the one before, unless a client
 * holds that. The primary knows the keys of what came since it began, and looks up those of what was there, by and by.
 */
export class LastValues {
  private readonly queue: ServedQueue;
  private readonly keys: MessageKeys;
  private readonly rules: Rules;
  private readonly newest = new Map<string, Lsn>();
  private readonly keyOf = new Map<Lsn, string>();

  constructor(queue: ServedQueue, keys: MessageKeys, rules: Rules) {
    this.queue = queue;
    this.keys = keys;
    this.rules = rules;
    if (rules.valuesFound) keys.walk(this.lookUp());
  }

  /** A message is in the queue now. */
  added(position: Lsn, chunk: Chunk, offset: number): void {
    const key = this.keys.of(new EnqueueView().set(chunk.bytes!, chunk.view!, offset));
    if (key !== undefined) this.note(position, key);
  }

  /** A message has left the queue, or is about to. */
  forget(position: Lsn): void {
    const key = this.keyOf.get(position);
    if (key === undefined) return;
    this.keyOf.delete(position);
    if (this.newest.get(key) === position) this.newest.delete(key);
  }

  /** A newer one is there: a message that a client gives back goes. */
  isReplaced(position: Lsn): boolean {
    const key = this.keyOf.get(position);
    return key !== undefined && this.newest.get(key) !== position;
  }

  private note(position: Lsn, key: string): void {
    const before = this.newest.get(key);
    this.keyOf.set(position, key);
    if (before === position) return;
    if (before !== undefined && before > position) return this.replace(position);
    this.newest.set(key, position);
    if (before !== undefined) this.replace(before);
  }

  private replace(position: Lsn): void {
    const entry = this.queue.state.index.find(position);
    if (entry?.state === EntryState.ready && this.rules.newestStays) this.queue.dequeue(entry);
  }

  private *lookUp(): Generator<number, void> {
    const { queue, keys } = this;
    for (let above: Lsn = -1; !queue.gone; ) {
      const positions = queue.state.index.positionsAscending(above, walkSlice);
      if (positions.length === 0) return;
      for (const position of positions) {
        if (!this.keyOf.has(position)) keys.read(queue, position, (key) => this.note(position, key));
        yield 1;
      }
      above = positions.at(-1)!;
    }
  }
}
