/**
 * Sends nodes the parts of large messages' bodies, as they ask for them: one part of each in turn, a bounded number of bytes a turn, as far
 * as the way to the node takes them. What is not in memory is read back first.
 */
import type { Logger } from '../../base/logger.js';
import { Ring } from '../../base/ring.js';
import type { BodyId } from '../../log/large.js';
import { bodyAt } from '../../log/record.js';
import type { GroupState } from '../group-state.js';
import { partsIncarnation } from '../queue/outbox.js';
import { type Attachment, AttachmentState } from './attachment.js';

/** Bytes of parts sent in one turn. */
const turnBytes = 512 * 1024;
/** What could not be read back is tried again after this time. */
const readRetryMs = 1000;

/** So many parts of a body that a node has asked for. */
interface BodyRead {
  readonly attachment: Attachment;
  readonly reader: number;
  readonly id: BodyId;
  next: number;
  end: number;
}

export interface BodyReadsPorts {
  readonly state: GroupState;
  readonly logger: Logger;
  /** Has `run` called at the end of this turn. */
  touch(): void;
  after(delayMs: number, run: () => void): void;
}

export class BodyReads {
  private readonly ports: BodyReadsPorts;
  private readonly reads = new Ring<BodyRead>();
  /** What goes on of each attachment, by reader: a reader's parts go out in order. */
  private readonly byReader = new WeakMap<Attachment, Map<number, BodyRead>>();
  /** Their nodes take no more now. */
  private parked: BodyRead[] = [];

  constructor(ports: BodyReadsPorts) {
    this.ports = ports;
  }

  ask(attachment: Attachment, reader: number, id: BodyId, from: number, count: number): void {
    const reads = this.readsOf(attachment);
    const known = reads.get(reader);
    if (known !== undefined && known.end === from) {
      known.end += count;
      return;
    }
    const read = { attachment, reader, id, next: from, end: from + count };
    reads.set(reader, read);
    this.reads.push(read);
    this.ports.touch();
  }

  private readsOf(attachment: Attachment): Map<number, BodyRead> {
    let reads = this.byReader.get(attachment);
    if (reads === undefined) {
      reads = new Map();
      this.byReader.set(attachment, reads);
    }
    return reads;
  }

  /** Nodes that had no room may have it again. */
  drained(): void {
    if (this.parked.length === 0) return;
    for (const read of this.parked) this.reads.push(read);
    this.parked = [];
    this.ports.touch();
  }

  /** The turn ends. */
  run(): void {
    const { state, touch } = this.ports;
    for (let bytes = 0; this.reads.length > 0; ) {
      if (bytes >= turnBytes) {
        state.slices.later(touch);
        return;
      }
      bytes += this.one(this.reads.shift()!);
    }
  }

  close(): void {
    this.reads.clear();
    this.parked = [];
  }

  /** Sends one part, if it may, and puts off the rest. Returns its bytes. */
  private one(read: BodyRead): number {
    const { state } = this.ports;
    const { attachment, id, next } = read;
    if (attachment.state !== AttachmentState.attached || this.readsOf(attachment).get(read.reader) !== read) return 0;
    if (attachment.client.congested) {
      this.parked.push(read);
      return 0;
    }
    const position = state.large.find(id)?.parts[next] ?? 0;
    const entry = position === 0 ? undefined : state.queue(partsIncarnation)?.index.find(position);
    if (entry === undefined) {
      this.readsOf(attachment).delete(read.reader);
      attachment.client.bodyGone(read.reader);
      return 0;
    }
    const chunk = state.chunk(entry.chunk);
    if (chunk.bytes === undefined) {
      state.chunks.load(chunk, (error) => this.loaded(read, error));
      return 0;
    }
    const view = chunk.view!;
    const start = bodyAt(view, entry.offset);
    const end = start + view.getUint32(entry.offset + 20, true);
    if (++read.next < read.end) this.reads.push(read);
    else this.readsOf(attachment).delete(read.reader);
    attachment.client.bodyPart(read.reader, next, chunk.bytes, start, end);
    return end - start;
  }

  /** The chunk is in memory during this call. */
  private loaded(read: BodyRead, error: Error | undefined): void {
    const { logger, after, touch } = this.ports;
    if (error === undefined) {
      this.one(read);
      touch();
      return;
    }
    logger.error('a part of a large message cannot be read back', { upload: read.id.upload, reason: error.message });
    after(readRetryMs, () => {
      this.reads.push(read);
      touch();
    });
  }
}
