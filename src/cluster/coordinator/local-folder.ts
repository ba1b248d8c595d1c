/**
 * The folder behind the `local` engine, and the only file of the coordinator that knows node:fs.
 *
 *   origin               who it is, and the first generation; made once, never changed
 *   secret               what the brokers prove to each other that they belong together; likewise, for its owner's eyes only
 *   map/<generation>/N   the whole map as of version N, an immutable file; the highest N counts
 *   temp/                files being written, and generations being removed
 *
 * A version is made by writing a file, syncing it, and linking it under the next number. link(2) fails if that name exists:
 * of several writers one wins, and the others read again. No lock is held at any time, so a process that is killed or frozen
 * anywhere stands in nobody's way, and no map file can be seen before all of it is on disk.
 *
 * A name in a generation is never removed, only whole generations are, by renaming them away. Each map names the generation
 * that its successor belongs to; every so often that is a new one with a name that never was. So whoever wakes up after any
 * time and links its version finds the name taken, or the generation gone: a link that succeeds is the truth.
 */
import { constants, type FSWatcher, watch } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Random } from '../../base/random.js';
import { CoordinatorUnavailableError, type Entry, OutcomeUnknownError } from './coordinator.js';

/** Versions in a generation. The present one and the one before are kept, for those who read. */
export const generationVersionsDefault = 128;
/** Largest map; more means a leak, not a cluster. */
export const mapBytesMax: number = 8 * 1024 * 1024;
/** What lies in `temp` for so long belongs to a process that died, or that will write it again. */
const tempAgeMsMax = 60_000;

/** The map as of one version. Immutable. */
export interface Snapshot {
  readonly version: number;
  /** The generation it lies in; '' for the map before any swap. */
  readonly place: string;
  /** The generation of the next version; its name begins with the version that founded it. */
  readonly generation: string;
  readonly entries: ReadonlyMap<string, Entry>;
}

interface Origin {
  identity: string;
  generation: string;
}

export class LocalFolder {
  private readonly path: string;
  private readonly mapPath: string;
  private readonly tempPath: string;
  private readonly random: Random;
  private readonly generationVersions: number;
  private cleaning: Promise<void> = Promise.resolve();

  private constructor(path: string, random: Random, generationVersions: number) {
    this.path = path;
    this.mapPath = join(path, 'map');
    this.tempPath = join(path, 'temp');
    this.random = random;
    this.generationVersions = generationVersions;
  }

  /** Makes the folder if it is not there. Rejects with CoordinatorUnavailableError if it cannot be used. */
  static async open(
    path: string,
    random: Random,
    generationVersions: number = generationVersionsDefault,
  ): Promise<LocalFolder> {
    const folder = new LocalFolder(path, random, generationVersions);
    try {
      await mkdir(folder.mapPath, { recursive: true });
      await mkdir(folder.tempPath, { recursive: true });
      await syncFolder(dirname(path));
      while ((await folder.readOrigin()) === undefined) {
        const origin: Origin = { identity: random.hex(32), generation: await folder.found(0) };
        await folder.create(join(path, 'origin'), JSON.stringify(origin));
      }
      await syncFolder(path);
    } catch (error) {
      throw unavailable(error);
    }
    return folder;
  }

  /** Rejects with CoordinatorUnavailableError. */
  async identity(): Promise<string> {
    return (await this.needOrigin()).identity;
  }

  /** See `localSecret`. */
  async secret(): Promise<string> {
    const path = join(this.path, 'secret');
    try {
      for (;;) {
        const text = await readFile(path, 'utf8').catch(ignoreMissing);
        if (text !== undefined) return text.trim();
        await this.create(path, `${this.random.hex(64)}\n`, 0o600);
        await syncFolder(this.path);
      }
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** The map before any swap, to read on from. */
  async first(): Promise<Snapshot> {
    return { version: 0, place: '', generation: (await this.needOrigin()).generation, entries: new Map() };
  }

  /**
   * The newest map; `known` itself if there is no newer one. Whoever made it may have died before it was durable: nobody may
   * act on it before `sync`. Rejects with CoordinatorUnavailableError.
   */
  async readNewest(known: Snapshot): Promise<Snapshot> {
    try {
      let newest = known;
      for (;;) {
        // Every version has its place: what follows `newest`, if anything, begins in its generation.
        const versions = (await this.versions(newest.generation)) ?? (await this.newestVersions(newest));
        const version = versions.list.at(-1) ?? 0;
        if (version <= newest.version) {
          if (version < newest.version && !isFounder(newest)) throw wentBack(newest.version, version);
          return newest;
        }
        const text = await readFile(join(this.mapPath, versions.generation, String(version)), 'utf8').catch(
          ignoreMissing,
        );
        if (text === undefined) continue; // its generation was removed since: newer ones are there
        newest = decode(text, version, versions.generation, this.mapPath);
      }
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Makes a map that was read durable. Rejects with CoordinatorUnavailableError. */
  async sync({ place }: Snapshot): Promise<void> {
    // Its generation is gone only if newer ones were made durable since.
    if (place !== '') await syncFolder(join(this.mapPath, place)).catch(ignoreMissing).catch(rethrowUnavailable);
  }

  /**
   * Makes `entries` the map that follows `base`; 'taken' if another map does, and nothing was changed. Rejects with a RangeError if it is too
   * large, with CoordinatorUnavailableError if nothing was changed, with OutcomeUnknownError if that cannot be told. When it
   * resolves to the new map, that is durable, and so is `base`.
   */
  async publish(base: Snapshot, entries: ReadonlyMap<string, Entry>): Promise<Snapshot | 'taken'> {
    const version = base.version + 1;
    const founds = version % this.generationVersions === 0;
    const generation = founds ? await this.found(version).catch(rethrowUnavailable) : base.generation;
    const next: Snapshot = { version, place: base.generation, generation, entries };
    const text = encode(next);
    if (text.length > mapBytesMax) {
      throw new RangeError(`the cluster map would have ${text.length} bytes, allowed are ${mapBytesMax}`);
    }
    if (isFounder(base)) await this.sync(base); // else it lies in the same folder
    const place = join(this.mapPath, base.generation);
    if (!(await this.create(join(place, String(version)), text))) return 'taken';
    try {
      await syncFolder(place);
    } catch (error) {
      throw new OutcomeUnknownError(`map version ${version}: ${messageOf(error)}`);
    }
    return next;
  }

  /** Removes generations that nobody reads any more as of `newest`, and what dead processes left behind. */
  async tidy(newest: Snapshot, wallMs: number): Promise<void> {
    const kept = founderOf(newest.generation) - this.generationVersions;
    for (const generation of await readdir(this.mapPath)) {
      if (!(founderOf(generation) < kept)) continue;
      await rename(join(this.mapPath, generation), join(this.tempPath, generation)).catch(ignoreMissing);
      await rm(join(this.tempPath, generation), { recursive: true, force: true });
    }
    for (const name of await readdir(this.tempPath)) {
      const path = join(this.tempPath, name);
      const info = await stat(path).catch(ignoreMissing);
      if (info && wallMs - info.mtimeMs > tempAgeMsMax) await rm(path, { recursive: true, force: true });
    }
  }

  /** Calls `changed` when there may be a version newer than `snapshot`. Throws where the system offers no such thing. */
  watch(snapshot: Snapshot, changed: () => void, failed: (error: Error) => void): FSWatcher {
    return watch(join(this.mapPath, snapshot.generation), { persistent: false }, changed).on('error', failed);
  }

  /** Nothing is done in the folder any more when this resolves. */
  async close(): Promise<void> {
    await this.cleaning;
  }

  private async readOrigin(): Promise<Origin | undefined> {
    const text = await readFile(join(this.path, 'origin'), 'utf8').catch(ignoreMissing);
    return text === undefined ? undefined : parse<Origin>(text, join(this.path, 'origin'));
  }

  private async needOrigin(): Promise<Origin> {
    const origin = await this.readOrigin().catch(rethrowUnavailable);
    if (!origin)
      throw new CoordinatorUnavailableError(`${this.path} is no coordinator folder any more: no file "origin"`);
    return origin;
  }

  /** A new, durable, empty generation for the versions after `version`. It is an orphan unless a map comes to name it. */
  private async found(version: number): Promise<string> {
    const generation = `${version}-${this.random.hex(16)}`;
    await mkdir(join(this.mapPath, generation));
    await syncFolder(this.mapPath);
    return generation;
  }

  /** A durable file under a name that must not exist; false if it does, or its folder was removed. */
  private async create(path: string, text: string, mode = 0o666): Promise<boolean> {
    const temp = join(this.tempPath, this.random.hex(16));
    await this.cleaning;
    try {
      await writeSynced(temp, text, mode);
      await link(temp, path);
      return true;
    } catch (error) {
      // ENOENT: the generation is gone, or the file was taken for a leftover while this process stood still.
      if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false;
      if (codeOf(error) === 'EIO') throw new OutcomeUnknownError(messageOf(error));
      throw unavailable(error);
    } finally {
      // Nobody waits for it; what is left, tidy finds.
      this.cleaning = unlink(temp).catch(() => {});
    }
  }

  /** The versions in a generation, ascending; undefined if it is gone. */
  private async versions(generation: string): Promise<{ generation: string; list: number[] } | undefined> {
    const names = await readdir(join(this.mapPath, generation)).catch(ignoreMissing);
    const list = names?.filter((name) => /^\d+$/.test(name)).map(Number);
    return list && { generation, list: list.sort((a, b) => a - b) };
  }

  /** The generation with the highest version, for who fell behind so far that the one it knows is gone. */
  private async newestVersions(known: Snapshot): Promise<{ generation: string; list: number[] }> {
    let newest = { generation: '', list: [] as number[] };
    for (const generation of await readdir(this.mapPath)) {
      const versions = await this.versions(generation);
      if (versions && (versions.list.at(-1) ?? 0) > (newest.list.at(-1) ?? 0)) newest = versions;
    }
    const version = newest.list.at(-1) ?? 0;
    if (version <= known.version) throw wentBack(known.version, version);
    return newest;
  }
}

/**
 * The secret that all brokers of this folder have in common, and nobody who may not read it: made once, by whoever comes first. Makes
 * the folder if it is not there. Rejects with CoordinatorUnavailableError.
 */
export async function localSecret(path: string, random: Random): Promise<string> {
  const folder = await LocalFolder.open(path, random);
  try {
    return await folder.secret();
  } finally {
    await folder.close();
  }
}

/** The version that founded a generation. */
function founderOf(generation: string): number {
  return Number.parseInt(generation, 10);
}

/** Its successors belong to a generation that it does not belong to itself. */
function isFounder({ version, generation }: Snapshot): boolean {
  return founderOf(generation) === version;
}

function wentBack(known: number, found: number): Error {
  return new CoordinatorUnavailableError(
    `the cluster map went back from version ${known} to ${found}: its folder was restored or replaced; restart the brokers`,
  );
}

async function writeSynced(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function encode({ version, generation, entries }: Snapshot): string {
  return JSON.stringify({ version, generation, entries: [...entries.values()] });
}

function decode(text: string, version: number, place: string, mapPath: string): Snapshot {
  const path = join(mapPath, place, String(version));
  const map = parse<{ version: number; generation: string; entries: Entry[] }>(text, path);
  if (map.version !== version) throw new Error(`map file ${version} says it is version ${map.version}`);
  return {
    version,
    place,
    generation: map.generation,
    entries: new Map(map.entries.map((entry) => [entry.key, entry])),
  };
}

/** What is there was whole when it got its name: it can only have been damaged since. */
function parse<T>(text: string, path: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new CoordinatorUnavailableError(`${path} is damaged: put back what was there, with all brokers stopped`);
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function unavailable(error: unknown): CoordinatorUnavailableError {
  return error instanceof CoordinatorUnavailableError ? error : new CoordinatorUnavailableError(messageOf(error));
}

function rethrowUnavailable(error: unknown): never {
  throw unavailable(error);
}
