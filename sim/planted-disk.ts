/** Two of the planted faults need no switch in the store: a disk that lies to it does the same. */
import type { Rules } from '../src/base/rules.js';
import type { Disk, DiskFile } from '../src/store/disk.js';

const journalFile = /\.seg$/;

/** For the journal's files: `syncDisk` off: "on disk" is reported after the write alone. `noAckAfterError` off: errors are passed over. */
export function plantedDisk(disk: Disk, rules: Rules): Disk {
  if (rules.syncDisk && rules.noAckAfterError) return disk;
  const passOver = async (work: Promise<void>): Promise<void> => {
    if (rules.noAckAfterError) return work;
    await work.catch((error: { code?: string }) => {
      if (error.code !== 'EIO') throw error;
    });
  };
  const planted = (file: DiskFile): DiskFile => ({
    write: (buffers, position) => passOver(file.write(buffers, position)),
    read: (into, position) => file.read(into, position),
    sync: () => (rules.syncDisk ? passOver(file.sync()) : Promise.resolve()),
    truncate: (length) => passOver(file.truncate(length)),
    size: () => file.size(),
    close: () => file.close(),
  });
  return {
    list: () => disk.list(),
    open: async (name, options) => {
      const file = await disk.open(name, options);
      return journalFile.test(name) ? planted(file) : file;
    },
    rename: (from, to) => disk.rename(from, to),
    unlink: (name) => disk.unlink(name),
    syncFolder: () => disk.syncFolder(),
    freeBytes: () => disk.freeBytes(),
  };
}
