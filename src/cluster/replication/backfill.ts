/**
 * The primary's side of a set difference (rules 8, 9): answers slices of a joiner's positions with what to drop and the
 * messages it lacks. It keeps no state but the slice at hand: a joiner asks for the next one where the last answer ended, so a
 * crash of either side just starts the difference again.
 *
 * A message is sent only if it is in the queue at the moment of sending, on the same FIFO as the live batches: no dequeue
 * can overtake it.
 */
import { encodeCopyBatch } from '../../log/group-log.js';
import type { Chunk } from '../../log/chunk.js';
import { FrameType } from '../link/frame-types.js';
import type { Follower } from './follower.js';
import { sendPoint, sendSlice, type Slice } from './frames.js';
import type { GroupReplica } from './group-replica.js';

export class BackfillSender {
  private readonly replica: GroupReplica;
  private readonly epoch: number;

  constructor(replica: GroupReplica, epoch: number) {
    this.replica = replica;
    this.epoch = epoch;
  }

  /** Answers one slice; loads evicted messages first where it must. */
  request(follower: Follower, slice: Slice): void {
    const { state, context } = this.replica;
    const limits = context.limits;
    const ours = state.positionsDescending(slice.incarnation, slice.high, slice.low, limits.backfillPositions);
    // Where our own slice was cut short, so is the comparison.
    const low = ours.length < limits.backfillPositions ? slice.low : Math.max(slice.low, ours[ours.length - 1]!);
    const missing = difference(ours, slice.positions);
    const evicted = this.firstEvicted(slice.incarnation, missing);
    if (evicted !== undefined) {
      context.chunks.load(evicted, (error) => {
        if (error !== undefined) this.replica.logger.error('a message cannot be read for a joiner', { error: String(error) });
        else if (follower.link.pendingBytes >= 0) this.request(follower, slice);
      });
      return;
    }
    this.answer(follower, slice, ours, missing, low);
  }

  private answer(follower: Follower, slice: Slice, ours: number[], missing: number[], lowest: number): void {
    const { state, context, group, log } = this.replica;
    const records: Uint8Array[] = [];
    let bytes = 0;
    let low = lowest;
    for (const position of missing) {
      const record = state.copyRecord(slice.incarnation, position, context.rules.backfillPresent);
      if (record === undefined) continue;
      if (bytes > 0 && bytes + record.length > context.limits.backfillBytes) {
        low = position + 1;
        break;
      }
      records.push(record);
      bytes += record.length;
    }
    const have = new Set(ours);
    const drops = slice.positions.filter((position) => position >= low && !have.has(position));
    const copies = records.length === 0 ? undefined : encodeCopyBatch(group, records, log.committed);
    const answer: Slice = { incarnation: slice.incarnation, high: slice.high, low, positions: drops };
    sendSlice(follower.link, FrameType.backfill, group, this.epoch, follower.session, answer, copies);
  }

  /** The first chunk that is not in memory among those of the next frame's messages. */
  private firstEvicted(incarnation: number, missing: readonly number[]): Chunk | undefined {
    let bytes = 0;
    for (const position of missing) {
      const place = this.replica.state.place(incarnation, position);
      if (place === undefined) continue;
      if (place.chunk.bytes === undefined) return place.chunk;
      bytes += place.length;
      if (bytes > this.replica.context.limits.backfillBytes) return undefined;
    }
    return undefined;
  }

  /** The joiner has asked for everything: tells it the log's end, which it must have committed before it counts (rule 9). */
  end(follower: Follower): void {
    const { group, log } = this.replica;
    sendPoint(follower.link, FrameType.joinEnd, group, this.epoch, follower.session, log.end);
  }
}

/** Members of the descending list `all` that are not in the descending list `without`. */
function difference(all: readonly number[], without: readonly number[]): number[] {
  const result: number[] = [];
  let j = 0;
  for (const position of all) {
    while (j < without.length && without[j]! > position) j++;
    if (j === without.length || without[j] !== position) result.push(position);
  }
  return result;
}
