/**
 * The primary's side of a set difference (rules 8, 9): names its queues, and answers slices of a joiner's positions with what to
 * drop and the messages it lacks. It keeps no state but the slice at hand: a joiner asks for the next one where the last answer
 * ended, so a crash of either side just starts the difference again.
 *
 * A message is sent only if it is in the queue at the moment of sending, on the same FIFO as the live batches: no dequeue
 * can overtake it. Clients come first: slices go at the node's pace, and none while much is waiting to be sent to the joiner.
 */
import { SlicedWalk } from '../../base/slices.js';
import type { Chunk } from '../../log/chunk.js';
import { encodeCopyBatch } from '../../log/group-log.js';
import type { Lsn } from '../../log/lsn.js';
import { FrameType } from '../link/frame-types.js';
import type { Follower } from './follower.js';
import { type QueuesMessage, sendJson, sendPoint, sendSlice, type Slice } from './frames.js';
import type { GroupReplica } from './group-replica.js';

/** A chunk that could not be read is tried again after this time. */
const readRetryMs = 1000;
/** With more bytes on the way to the joiner, live batches would have to wait for backfill: tried again after a while. */
const pendingBytesMax = 1024 * 1024;
const pendingRetryMs = 5;
/** Who was away briefly is sent so many times as much in a frame: each one takes a round trip. */
const briefSlices = 4;
/** Queues named in one frame, and turn. */
const queuesPerFrame = 1000;

export class BackfillSender {
  private readonly replica: GroupReplica;
  private readonly epoch: number;

  constructor(replica: GroupReplica, epoch: number) {
    this.replica = replica;
    this.epoch = epoch;
  }

  /**
   * Names all queues to the joiner, in slices, and then lets batches go to it. Queues that are opened meanwhile are among them, or
   * come with a batch.
   */
  begin(follower: Follower): void {
    new SlicedWalk(this.listQueues(follower), queuesPerFrame, this.replica.state.slices, () => {
      if (!this.isCurrent(follower)) return;
      follower.isStreaming = true;
      this.replica.primary!.wake();
    });
  }

  private *listQueues(follower: Follower): Generator<number, void> {
    let part = this.queuesMessage(follower);
    let most = this.replica.state.slices.size(queuesPerFrame);
    for (const { incarnation, options, index } of this.replica.state.allQueues()) {
      if (!this.isCurrent(follower)) return;
      if (part.queues.length === most) {
        this.sendQueues(follower, part);
        part = this.queuesMessage(follower);
        most = this.replica.state.slices.size(queuesPerFrame);
      }
      part.queues.push([incarnation, options]);
      part.messages += index.size;
      yield 1;
    }
    this.sendQueues(follower, { ...part, last: true });
  }

  private queuesMessage(follower: Follower): QueuesMessage {
    return { epoch: this.epoch, session: follower.session, queues: [], messages: 0, last: false };
  }

  private sendQueues(follower: Follower, part: QueuesMessage): void {
    if (this.isCurrent(follower)) sendJson(follower.link, FrameType.queues, this.replica.group, part);
  }

  /** Answers one slice, or the part of it that is in memory, when its turn has come; loads its beginning first where it must. */
  request(follower: Follower, slice: Slice): void {
    this.replica.context.pace.whenDue(() => this.serve(follower, slice), follower.wasBrieflyAway);
  }

  /** It may have begun anew, with another session, or we may lead no longer. */
  private isCurrent(follower: Follower): boolean {
    return this.replica.primary?.followers.get(follower.replica.node) === follower && !follower.link.closed;
  }

  /** Returns the number of bytes sent. */
  private serve(follower: Follower, slice: Slice): number {
    if (!this.isCurrent(follower)) return 0;
    const { state, context } = this.replica;
    if (follower.link.pendingBytes > pendingBytesMax) {
      context.clock.after(pendingRetryMs, () => this.request(follower, slice));
      return 0;
    }
    const max = context.limits.backfillPositions;
    const found = state.positionsDescending(slice.incarnation, slice.high + 1, max);
    // Where our own slice was cut short, so is the comparison.
    const low = found.length < max ? slice.low : Math.max(slice.low, found[found.length - 1]!);
    const ours = found.filter((position) => position >= low);
    const missing = difference(ours, slice.positions);
    const first = this.firstChunk(slice.incarnation, missing);
    if (first === undefined || first.bytes !== undefined) return this.answer(follower, slice, ours, missing, low);
    this.load(first, follower, slice);
    return 0;
  }

  private load(chunk: Chunk, follower: Follower, slice: Slice): void {
    const { context, logger } = this.replica;
    context.chunks.load(chunk, (error) => {
      if (error === undefined) {
        // Later its bytes may be gone again.
        context.pace.now(() => this.serve(follower, slice), follower.wasBrieflyAway);
        return;
      }
      logger.error('a message cannot be read for a joiner', { error: String(error) });
      context.clock.after(readRetryMs, () => this.request(follower, slice));
    });
  }

  private answer(follower: Follower, slice: Slice, ours: Lsn[], missing: Lsn[], lowest: Lsn): number {
    const { context, group, log, state } = this.replica;
    const records: Uint8Array[] = [];
    const bytesMax = context.limits.backfillBytes * (follower.wasBrieflyAway ? briefSlices : 1);
    let bytes = 0;
    let low = lowest;
    for (const position of missing) {
      const entry = state.queue(slice.incarnation)?.index.find(position);
      if (entry === undefined) continue;
      // Waiting for all of a slice could evict with each chunk the one before.
      const chunk = state.chunk(entry.chunk);
      const full = bytes + entry.length > bytesMax || chunk.bytes === undefined;
      if (bytes > 0 && full) {
        low = position + 1;
        break;
      }
      const record = state.copyRecord(chunk, entry.offset);
      if (record === undefined) continue;
      records.push(record);
      bytes += record.length;
    }
    const have = new Set(ours);
    const drops = slice.positions.filter((position) => position >= low && !have.has(position));
    const compared = low === lowest ? ours.length : ours.findLastIndex((position) => position >= low) + 1;
    const copies = records.length === 0 ? undefined : encodeCopyBatch(group, records, log.committed);
    const { incarnation, high } = slice;
    const answer: Slice = { incarnation, high, low, positions: drops, compared };
    const send = (): void =>
      sendSlice(follower.link, FrameType.backfill, group, this.epoch, follower.session, answer, copies);
    if (context.rules.backfillPresent) send();
    else context.clock.after(20, send); // Planted fault: dequeues overtake their messages.
    return bytes + drops.length * 8;
  }

  /** The chunk of the first message to be sent. */
  private firstChunk(incarnation: Lsn, missing: readonly Lsn[]): Chunk | undefined {
    const { state } = this.replica;
    const index = state.queue(incarnation)?.index;
    for (const position of missing) {
      const entry = index?.find(position);
      if (entry !== undefined) return state.chunk(entry.chunk);
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
function difference(all: readonly Lsn[], without: readonly Lsn[]): Lsn[] {
  const result: Lsn[] = [];
  let j = 0;
  for (const position of all) {
    while (j < without.length && without[j]! > position) j++;
    if (j === without.length || without[j] !== position) result.push(position);
  }
  return result;
}
