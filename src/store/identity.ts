/**
 * What a data folder is: whose, of which format, and how often it was started: one small JSON object (IdentityFile).
 * The store id is drawn once, and is the replica's identity in the cluster (rule 1).
 */
import type { Random } from '../base/random.js';
import type { Disk } from './disk.js';
import { IdentityFile, identityName } from './identity-file.js';
import type { Place } from './place.js';
import { StoreRefusedError, tooNew } from './refusal.js';
import { segmentNumber } from './segment.js';

const product = 'understudy';
/** The format that a folder begins with, which every program reads. */
const firstFormat = 1;

/** What a store remembers of its cluster's coordinator, to see if that was put back to an older state (rule 18). */
export interface CoordinatorMark {
  /** Of the coordinator that it last believed; '' = none yet. */
  identity: string;
  /** The highest version of an entry that it saw there, some seconds ago. */
  version: number;
  /** How often the coordinator had been put back, and that was settled. */
  restorations: number;
}

interface Content {
  product: string;
  /** The newest protocol version of what the journal may hold: who reads less does not open it. */
  format: number;
  store: string;
  cluster: string;
  shared: boolean;
  boots: number;
  damaged: boolean;
  /** Number of the journal's last segment; 0: none was begun, or an older version wrote this. */
  segment: number;
  /** Segments up to that number were there when damage was found of which nobody has a copy; 0: none. */
  evidence: number;
  /** Where the journal ended at the last clean stop: what is before that was on disk then. [0, 0]: there was none. */
  end: Place;
  coordinator: CoordinatorMark;
}

const noCoordinator: CoordinatorMark = { identity: '', version: 0, restorations: 0 };

/** Boots and segments are counted, one by one: more is no count. */
const countMax = 2 ** 32;

export class StoreIdentity {
  private readonly file: IdentityFile;
  private content: Content;
  /** The last change that was asked for: they are made one after the other. */
  private saving: Promise<void> = Promise.resolve();

  private constructor(file: IdentityFile, content: Content) {
    this.file = file;
    this.content = content;
  }

  /**
   * Reads the folder's identity, or makes a fresh folder ours. Throws StoreRefusedError.
   * @param formatMax the newest protocol version that may be read
   */
  static async open(disk: Disk, random: Random, formatMax: number): Promise<StoreIdentity> {
    const names = await disk.list();
    const file = await IdentityFile.open(disk, names);
    if (file.text !== undefined) return new StoreIdentity(file, parse(file.text, formatMax));
    const journal = names.find((name) => segmentNumber(name) > 0);
    if (journal !== undefined)
      throw new StoreRefusedError(
        `the data folder has a journal (${journal}) but no ${identityName}: put that file back, or use another folder`,
      );
    const content: Content = {
      product,
      format: firstFormat,
      store: random.hex(32),
      cluster: '',
      shared: false,
      boots: 0,
      damaged: false,
      segment: 0,
      evidence: 0,
      end: [0, 0],
      coordinator: noCoordinator,
    };
    const identity = new StoreIdentity(file, content);
    await identity.save({});
    return identity;
  }

  /** 32 hexadecimal characters. */
  get storeId(): string {
    return this.content.store;
  }
  /** The cluster that this store belongs to; '' = none yet. */
  get cluster(): string {
    return this.content.cluster;
  }
  /** The newest protocol version of what the journal may hold. */
  get format(): number {
    return this.content.format;
  }
  /** Starts counted by `nextBoot`; in a cluster, the number of the last boot. */
  get boots(): number {
    return this.content.boots;
  }
  /** Recovery found damage once, and nobody made it good yet: what was acknowledged may be missing (rule 12). */
  get damaged(): boolean {
    return this.content.damaged;
  }

  /** Counts a start; the number is on disk before it is returned. For a broker without a cluster to draw boots from. */
  async nextBoot(): Promise<number> {
    await this.save({ boots: this.content.boots + 1 });
    return this.content.boots;
  }

  /** What follows may need that version to be read. On disk when this resolves; it never goes down. */
  async raiseFormat(format: number): Promise<void> {
    if (format > this.content.format) await this.save({ format });
  }

  /** Boots that this store has had: the next one is greater. */
  async setBoots(boots: number): Promise<void> {
    if (boots > this.content.boots) await this.save({ boots });
  }

  get coordinator(): CoordinatorMark {
    return this.content.coordinator;
  }

  async setCoordinator(coordinator: CoordinatorMark): Promise<void> {
    if (!sameMark(coordinator, this.content.coordinator)) await this.save({ coordinator });
  }

  /** @param shared the cluster's map is a coordinator's, and other nodes may hold its queues as well. */
  async setCluster(cluster: string, shared: boolean): Promise<void> {
    if (cluster !== this.content.cluster || shared !== this.content.shared) await this.save({ cluster, shared });
  }

  /**
   * A broker that is alone leads everything that its store holds. With a store that other nodes know as one of theirs, what it
   * confirmed would get the numbers of what they confirm meanwhile. Throws StoreRefusedError.
   */
  checkAlone(): void {
    if (this.content.shared)
      throw new StoreRefusedError(
        `the data folder is that of a node of cluster ${this.content.cluster}: ` +
          "start it with the cluster's coordinator, or with an empty data folder",
      );
  }

  /** `false` when a set difference has put back what was missing, or the operator accepts the loss. */
  async setDamaged(damaged: boolean): Promise<void> {
    if (damaged !== this.content.damaged) await this.save({ damaged });
  }

  /** The journal's segment with the highest number: without it the journal has lost its end. 0: not known. */
  get segment(): number {
    return this.content.segment;
  }

  /** A segment was begun, and its beginning is on disk. To be awaited before anything in it is acknowledged. */
  async setSegment(segment: number): Promise<void> {
    await this.save({ segment });
  }

  /** Segments up to this number are not deleted, but put in quarantine. */
  get evidence(): number {
    return this.content.evidence;
  }

  async setEvidence(evidence: number): Promise<void> {
    if (evidence > this.content.evidence) await this.save({ evidence });
  }

  /**
   * Where the journal ended at the last clean stop, as far as it is known; later frames lie behind it. It stays true when the
   * journal goes on: only the segment may be removed.
   */
  get end(): Place {
    return this.content.end;
  }

  async setEnd(end: Place): Promise<void> {
    const [segment, offset] = this.content.end;
    if (end[0] !== segment || end[1] !== offset) await this.save({ end });
  }

  private save(change: Partial<Content>): Promise<void> {
    const saved = this.saving.then(() => this.write({ ...this.content, ...change }));
    this.saving = saved.catch(() => {});
    return saved;
  }

  private async write(content: Content): Promise<void> {
    await this.file.write(content);
    this.content = content;
  }
}

function parse(text: string, formatMax: number): Content {
  let content: Partial<Content>;
  try {
    content = JSON.parse(text) as Partial<Content>;
  } catch {
    throw new StoreRefusedError(`${identityName} in the data folder cannot be read: it is not JSON`);
  }
  if (content?.product !== product || !isCount(content.format))
    throw new StoreRefusedError(`the data folder belongs to another program: its ${identityName} is not ours`);
  if (content.format > formatMax) throw tooNew('the data folder', content.format, formatMax);
  if (typeof content.store !== 'string' || !/^[0-9a-f]{32}$/.test(content.store))
    throw new StoreRefusedError(`${identityName} in the data folder has no store id`);
  const { format, store, cluster = '', shared = false, boots = 0, damaged = false } = content;
  const { segment = 0, evidence = 0, end = [0, 0], coordinator = noCoordinator } = content;
  const flags = typeof shared === 'boolean' && typeof damaged === 'boolean';
  const areCounts = isCount(boots) && isCount(segment) && isCount(evidence);
  if (typeof cluster !== 'string' || !flags || !areCounts || !isPlace(end) || !isMark(coordinator))
    throw new StoreRefusedError(`${identityName} in the data folder makes no sense: put back one that does`);
  return { product, format, store, cluster, shared, boots, damaged, segment, evidence, end, coordinator };
}

function isMark(mark: Partial<CoordinatorMark> | null): mark is CoordinatorMark {
  if (typeof mark !== 'object' || mark === null) return false;
  return typeof mark.identity === 'string' && Number.isSafeInteger(mark.version) && isCount(mark.restorations);
}

function isPlace(place: unknown): place is Place {
  return Array.isArray(place) && place.length === 2 && place.every(isCount);
}

function sameMark(a: CoordinatorMark, b: CoordinatorMark): boolean {
  return a.identity === b.identity && a.version === b.version && a.restorations === b.restorations;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < countMax;
}
