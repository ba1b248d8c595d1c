/** The content of one frame: gathered in one turn, written as a whole or not at all. */
import type { JournalOwner } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';
import type { Lane, Range } from './lane.js';
import { noteBatches } from './presence.js';
import type { Segment } from './segment.js';

export class FramePlan {
  /** To be acknowledged: somebody waits for the sync. */
  sync = false;
  /** It begins a segment. */
  head = false;
  /** It only tells what is synced; it may be without content. */
  mark = false;
  bytes = 0;
  /** Bytes that count as pending in the journal. */
  pendingBytes = 0;
  /** What is written, in order: the ranges' bytes, then metas. */
  readonly parts: Uint8Array[] = [];
  private readonly ranges: Range[] = [];
  private readonly spills: Range[] = [];
  private readonly owners: JournalOwner[] = [];
  private readonly tokens: Lsn[] = [];
  private readonly dones: (() => void)[] = [];
  /** Groups that have left since. */
  private readonly left = new Set<number>();

  get empty(): boolean {
    return this.parts.length === 0 && this.dones.length === 0 && !this.mark;
  }

  /** Takes all that waits in the lane. */
  take(lane: Lane): void {
    for (const range of lane.ranges) {
      this.add(range, this.ranges);
      this.pendingBytes += range.byteLength;
      if (range.done !== undefined) this.dones.push(range.done);
    }
    if (lane.ranges.length > 0) lane.ranges = [];
    if (lane.token >= 0 && lane.owner !== undefined) {
      this.owners.push(lane.owner);
      this.tokens.push(lane.token);
    }
    lane.token = -1;
    this.sync = true;
  }

  /** Takes the lane's meta, and who waits for it. */
  takeMeta(lane: Lane): void {
    const meta = lane.encodeMeta();
    if (meta !== undefined) this.addPart(meta);
    for (const done of lane.metaDone) this.dones.push(done);
    lane.metaDone = [];
    lane.metaWanted = false;
    this.sync = true;
  }

  /** A range that nobody waits to see synced. */
  takeSpill(range: Range): void {
    this.add(range, this.spills);
  }

  addPart(part: Uint8Array): void {
    this.parts.push(part);
    this.bytes += part.length;
  }

  addDone(done: () => void): void {
    this.dones.push(done);
    this.sync = true;
  }

  private add(range: Range, to: Range[]): void {
    // The ranges' parts come first, in the order of `ranges` and then `spills`.
    to.push(range);
    this.addPart(range.chunk.bytes!.subarray(range.start, range.end));
  }

  /** Before the write: from now on the segment may hold these records. */
  note(segment: Segment): void {
    for (const { chunk, start, end } of this.ranges)
      if (!this.left.has(chunk.group)) noteBatches(segment, chunk.bytes!, chunk.view!, start, end);
  }

  /** Are records of the group in it? */
  holds(group: number): boolean {
    return !this.left.has(group) && this.ranges.some((range) => range.chunk.group === group);
  }

  /** Records of the group in it count no more. */
  forget(group: number): void {
    this.left.add(group);
  }

  /** After the write: the chunks know where their bytes lie. `offset` is that of the first part. */
  placed(segment: Segment, offset: number): void {
    let at = offset;
    for (const list of [this.ranges, this.spills]) {
      for (const range of list) {
        const chunk = range.chunk;
        chunk.pieces.add(range.start, range.byteLength, segment.number, at);
        chunk.writtenBytes += range.byteLength;
        segment.chunks.add(chunk);
        at += range.byteLength;
      }
    }
    for (const range of this.spills) range.done?.();
  }

  /** After the sync. `unpin` lets go of each range's chunk. */
  complete(unpin: (range: Range) => void): void {
    for (let i = 0; i < this.owners.length; i++) this.owners[i]!.durable(this.tokens[i]!);
    for (const range of this.ranges) unpin(range);
    for (const done of this.dones) done();
  }
}
