/**
 * One process at a time per data folder, without native code, whatever way the last one ended.
 *
 * A process holds the folder by listening on a Unix socket in it. The kernel ends that with the process, after the last of its
 * threads and thus of its writes; a frozen process still listens. Each comer listens on a socket of its own name first, and
 * only then looks at all others: of two comers at least one sees the other, so two can never both stay. (Both may see each
 * other and leave; they try again after different times.) Sockets that refuse a connection are of dead processes, and are removed.
 * Then it makes sure that its own was not removed by somebody who looked at it before it listened: that one listened earlier
 * and is gone by now, or was seen.
 */
import { randomInt } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

const prefix = 'lock-';
const namePattern = /^lock-\d+-[0-9a-f]+$/;
/** Longest path of a Unix socket that every system takes. */
const socketPathMax = 100;
const attempts = 6;

/** The folder is in use by another process. */
export class FolderLockedError extends Error {
  override readonly name = 'FolderLockedError';
}

export class FolderLock {
  private readonly server: Server;
  private readonly path: string;
  private readonly folderFd: number;

  private constructor(server: Server, path: string, folderFd: number) {
    this.server = server;
    this.path = path;
    this.folderFd = folderFd;
  }

  /** Takes the folder. Throws FolderLockedError while another process (or this one) has it. */
  static async acquire(folder: string): Promise<FolderLock> {
    for (let attempt = 1; ; attempt++) {
      const lock = await FolderLock.listen(folder);
      const other = await lock.findLiving(folder);
      if (other === undefined && (await lock.isInPlace(folder))) return lock;
      await lock.release();
      if (attempt === attempts)
        throw new FolderLockedError(`the data folder ${folder} is in use by another process${describe(other)}`);
      await new Promise((resolve) => setTimeout(resolve, randomInt(5, 20 * attempt)));
    }
  }

  async release(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
    if (this.folderFd >= 0) closeSync(this.folderFd);
  }

  private get name(): string {
    return this.path.slice(this.path.lastIndexOf('/') + 1);
  }

  private static async listen(folder: string): Promise<FolderLock> {
    const name = `${prefix}${process.pid}-${randomInt(2 ** 32).toString(16)}`;
    const { base, fd } = socketBase(folder, name);
    const path = join(base, name);
    const server = createServer((socket) => socket.destroy());
    server.unref();
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, resolve);
      });
    } catch (error) {
      if (fd >= 0) closeSync(fd);
      throw new Error(`the data folder ${folder} cannot be locked: ${(error as Error).message}`);
    }
    return new FolderLock(server, path, fd);
  }

  /** The name of a lock of a living process other than ours. Removes those of dead ones. */
  private async findLiving(folder: string): Promise<string | undefined> {
    for (const name of await readdir(folder)) {
      if (!namePattern.test(name) || name === this.name) continue;
      if (await isAlive(join(this.path, '..', name))) return name;
      await unlink(join(folder, name)).catch(() => undefined);
    }
    return undefined;
  }

  private async isInPlace(folder: string): Promise<boolean> {
    return stat(join(folder, this.name)).then(
      () => true,
      () => false,
    );
  }
}

function describe(name: string | undefined): string {
  return name === undefined ? '' : ` (pid ${name.slice(prefix.length).split('-')[0]})`;
}

/** Where the sockets are addressed: the folder, or a short name for it, since a socket's path must be short. */
function socketBase(folder: string, name: string): { base: string; fd: number } {
  if (join(folder, name).length <= socketPathMax) return { base: folder, fd: -1 };
  if (process.platform !== 'linux')
    throw new Error(`the path of the data folder ${folder} is too long: a socket in it could not be named`);
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { base: `/proc/self/fd/${fd}`, fd };
}

/** Does somebody listen there? Only a clear refusal means no. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}
