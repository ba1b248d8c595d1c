/**
 * A segment: one file of the journal, and what must be known of it to decide when it can go.
 *
 * Two things keep a segment: chunks that need its bytes (live messages, or a tail that is not committed), and records in it
 * that cancel records which are still on disk elsewhere (rule 19). The second is known by lsns: `holds` are those of the
 * records in it, `cancels` the positions that its dequeues name.
 */
import type { Chunk } from '../log/chunk.js';
import type { Lsn } from '../log/lsn.js';
import type { DiskFile } from './disk.js';
import { LsnSpans } from './lsn-spans.js';

const namePattern = /^journal-(\d{10})\.seg$/;

export function segmentName(number: number): string {
  return `journal-${String(number).padStart(10, '0')}.seg`;
}

/** The number in a segment's file name, 0 if it is none. */
export function segmentNumber(name: string): number {
  const match = namePattern.exec(name);
  return match === null ? 0 : Number(match[1]);
}

/** Durable records of one group in one segment. */
export class GroupPresence {
  readonly holds: LsnSpans = new LsnSpans();
  readonly cancels: LsnSpans = new LsnSpans();
  /** Incarnations of queues whose `open` / `drop` record lies here. */
  readonly opens: Set<Lsn> = new Set();
  readonly drops: Set<Lsn> = new Set();
  /** Bytes of its dequeue and drop records. */
  cancelBytes = 0;
}

export class Segment {
  readonly number: number;
  readonly name: string;
  /** Bytes of whole frames. */
  size: number;
  /** Chunks that have pieces in it. */
  readonly chunks: Set<Chunk> = new Set();
  readonly groups: Map<number, GroupPresence> = new Map();
  /** Nothing will be appended to it. */
  sealed = false;
  /** All that was needed of its cancelling records was written again elsewhere, durably. */
  carried = false;
  /** Recovery found damage in it. */
  damaged = false;
  /** Of a store with damage that nobody makes good: its file is not deleted, but put in quarantine. */
  evidence = false;
  /** Its file was removed; that is not synced yet. */
  unlinked = false;
  /** Clock time before which compaction does not try again; infinite: its bytes cannot be read. */
  copyNotBefore = 0;
  /** Reading handle, kept by SegmentSet. */
  file: DiskFile | undefined = undefined;
  users = 0;

  constructor(number: number, size: number) {
    this.number = number;
    this.name = segmentName(number);
    this.size = size;
  }

  presence(group: number): GroupPresence {
    let presence = this.groups.get(group);
    if (presence === undefined) {
      presence = new GroupPresence();
      this.groups.set(group, presence);
    }
    return presence;
  }

  /** Bytes of dequeue and drop records. */
  get cancelBytes(): number {
    let bytes = 0;
    for (const presence of this.groups.values()) bytes += presence.cancelBytes;
    return bytes;
  }

  /** Does a record here cancel one that may lie in `other`? */
  cancelsIn(other: Segment): boolean {
    for (const [group, mine] of this.groups) {
      const theirs = other.groups.get(group);
      if (theirs === undefined) continue;
      if (mine.cancels.overlaps(theirs.holds)) return true;
      for (const incarnation of mine.drops) if (theirs.opens.has(incarnation)) return true;
    }
    return false;
  }
}
