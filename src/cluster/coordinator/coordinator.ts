/**
 * The coordinator port: agreement on small, rarely changing records. An engine is an existing system behind it.
 * Message data never goes through it. Rules 3, 11, 18 of docs/replication.md.
 */
export interface Entry {
  key: string;
  value: string;
  /** Grows with every change of this key; 0 = the key does not exist. */
  version: number;
}

export interface Change {
  key: string;
  /** The version the caller read; 0 = the key must not exist. */
  expect: number;
  /** New value; null deletes. */
  value: string | null;
}

export interface SwapResult {
  /** True: all changes were made, durably. False: none was; some version was not as expected. */
  ok: boolean;
  /** The entries named by the changes as they are now (after the swap, or those that stood against it). */
  entries: Entry[];
}

/** The coordinator cannot be reached; nothing was changed. */
export class CoordinatorUnavailableError extends Error {
  override readonly name = 'CoordinatorUnavailableError';
}

/** The answer to a swap was lost: it may or may not have happened. Read again before anything else. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
}

export interface Coordinator {
  /** Never changes, except when the coordinator was restored or replaced (rule 18). */
  identity(): Promise<string>;
  /** All entries whose keys begin with `prefix`, as of one moment. Linearizable: sees every swap completed before. */
  read(prefix: string): Promise<Entry[]>;
  /** Compare-and-set of one or more entries, all or nothing. Rejects with a RangeError if the engine takes no swap so large. */
  swap(changes: readonly Change[]): Promise<SwapResult>;
  /**
   * Reports each changed entry (deleted: version 0, value ''), in order, at least the newest state of each key;
   * intermediate states may be left out. Reports nothing from before the call, save what this broker had not seen yet.
   */
  watch(prefix: string, changed: (entries: Entry[]) => void): { close(): void };
  close(): Promise<void>;
}
