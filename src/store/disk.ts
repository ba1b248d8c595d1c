/** The disk as the store sees it. Production: node:fs; simulator: memory with torn, lost and failing writes. */
export interface Disk {
  /** Names in the folder, unordered. */
  list(): Promise<string[]>;
  open(name: string, options: { create: boolean }): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(name: string): Promise<void>;
  /** Makes creations, renames and unlinks of the folder durable. */
  syncFolder(): Promise<void>;
  /** Free bytes for us on the file system. */
  freeBytes(): Promise<number>;
}

export interface DiskFile {
  /** Writes all the buffers at `position`, completely. Rejects with `code` 'ENOSPC' when the disk is full. */
  write(buffers: readonly Uint8Array[], position: number): Promise<void>;
  /** Reads up to `into.length` bytes at `position`; returns the number read, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** fdatasync. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}
