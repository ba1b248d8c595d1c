import type { Chunk } from './chunk.js';
import type { Lsn } from './lsn.js';

/** What a node must remember of a group besides its records. Stored as JSON; fields are only ever added. */
export interface GroupMeta {
  /** The coordinator record as last acted on (rule 2, 18), as JSON text; '' if none. */
  record: string;
  /** Highest epoch this node acted in (rule 2). */
  epoch: number;
  /** Set while a set difference is under way (rule 9). */
  joining: boolean;
  /**
   * Ranges [from, to] of lsns that were cut from the log and are void unless they come again (rule 19): records of log batches in them are
   * ignored by recovery and never carried forward by compaction. Copy batches are not touched: a copy is of something committed.
   */
  voids: [Lsn, Lsn][];
  /** Last committed sequence per publisher boot (rules 14, 19). */
  publishers: [boot: number, sequence: number][];
  /** Which messages of other groups' outboxes are here (rules 16, 19). Not there: none. From protocol version 3 on. */
  origins?: [group: number, done: Lsn, positions: Lsn[]][];
  /** How often messages came back. Not there: no message did. From protocol version 3 on. */
  returns?: [incarnation: Lsn, position: Lsn, count: number, revision?: number, annotations?: string][];
  /** Wiring version applied to this group (rule 15). */
  wiringVersion: number;
  /** Everything up to here was applied when this was written; at least the base of a finished join. */
  applied: Lsn;
}

/** What the journal tells a group about its batches, and asks it when it compacts. One per group. */
export interface JournalOwner {
  readonly group: number;
  /** Everything of this group appended up to and including the batch with token `lsn` is on disk. Called in order. */
  durable(lsn: Lsn): void;
  /** The meta data as of now, for a checkpoint; committed facts only. */
  meta(): GroupMeta;
  /** False: nothing of the group is to be copied now. Without it: always. */
  mayCopy?(): boolean;
  /**
   * The record at `offset` of `chunk` (an enqueue or an open) as it is to be written again, of the same length; undefined if
   * nobody needs it. An enqueue names only those queues that still have it: a copy outweighs older dequeues (RecoveryVisitor).
   */
  copyRecord(chunk: Chunk, offset: number): Uint8Array | undefined;
  /**
   * The record was copied and the copy is on disk: refer to the copy from now on (retain it there, then release it here).
   * Both chunks' bytes are resident. False if the record was consumed meanwhile; then the copy is dead, and the journal
   * keeps the tombstone for as long as any copy is on disk.
   */
  moved(from: Chunk, fromOffset: number, to: Chunk, toOffset: number): boolean;
  /**
   * The group's open chunk keeps an old segment from being removed: let go of it (unpin) if it is `chunk`, and begin the next
   * batch in a new one.
   */
  closeChunk(chunk: Chunk): void;
}

/** The disk side of all groups of a node. One write + fdatasync is in flight while the next gathers. */
export interface Journal {
  /** Joins the owner; before any append for its group. */
  register(owner: JournalOwner): void;
  /**
   * The group leaves this node: nothing is appended for it any more, and what the journal has of it counts no more, after a
   * restart either. Should the group come back, it begins with nothing.
   */
  unregister(owner: JournalOwner): void;
  /**
   * Queues the sealed batch in bytes [start, end) of `chunk`, at the end of this turn, and pins the chunk until it is
   * on disk. `owner.durable(token)` follows; for the batches in between as well, since it is cumulative.
   */
  append(owner: JournalOwner, chunk: Chunk, start: number, end: number, token: Lsn): void;
  /** Writes `owner.meta()`; `done` runs when it, and all appended before, is on disk. */
  saveMeta(owner: JournalOwner, done: () => void): void;
  /** Bytes appended and not on disk yet; publishers are paused above a bound. */
  readonly pendingBytes: number;
  /**
   * 'ok'; 'full': no space, or no file can be opened, writes are being retried, publishers must pause; 'failed': an error after
   * which nothing may be acknowledged before recovery (rule 7). `onState` reports changes.
   */
  readonly state: JournalState;
  /** The state's reason in words; '' for 'ok'. */
  readonly reason: string;
  /**
   * May a record of the group with an lsn in [from, to] still be on disk, or come back after a crash? While it may, a void
   * range must stay in the group's meta (rule 19).
   */
  mayHold(group: number, from: Lsn, to: Lsn): boolean;
  onState(listener: (state: JournalState, reason: string) => void): void;
  close(): Promise<void>;
}

export type JournalState = 'ok' | 'full' | 'failed';

/**
 * Receives what a journal held at start. The order of records means nothing. Each enqueue has an `asOf`: its own lsn in a log
 * batch; in a copy batch the `first` of the batch header, the commit point at which the message was still there. A dequeue with
 * lsn d removes a message unless a copy of it has asOf > d: such a copy says that the dequeue was never committed. (A joiner's
 * dequeue of what its primary lacks has the commit point as its lsn, and so may have a copy that compaction made before it.)
 * (A dequeue always comes after its message's lsn.)
 */
export interface RecoveryVisitor {
  /** Called for every group found, before any of its records. The last meta written. */
  meta(group: number, meta: GroupMeta): void;
  /** A valid durable record at `offset` of `chunk` (bytes resident during the call). Log records in void ranges are left out. */
  record(group: number, chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void;
  /** After the last record of all groups. */
  done(): void;
}

export interface RecoveryReport {
  segments: number;
  batches: number;
  bytes: number;
  /** Bytes dropped at the torn end: never acknowledged, if a crash has torn it. */
  tornBytes: number;
  /** Damage in the middle: what was acknowledged may be missing. Such a journal makes its node not electable (rule 12). */
  damaged: { segment: string; offset: number; bytes: number; quarantinedAs: string }[];
}
