/**
 * A node's storage: chunks in memory, journal on disk. The one door for the rest of the program.
 *
 *   const store = await Store.open({...});              identity read, nothing else
 *   const report = await store.recover(visitor);        what the journal holds
 *   store.journal.register(owner) ...                   then appends; compaction runs by itself
 *   await store.close();
 */
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Random } from '../base/random.js';
import { allRules, type Rules } from '../base/rules.js';
import type { Turn } from '../base/turn.js';
import { protocolVersions } from '../base/versions.js';
import { ChunkStore } from '../log/chunk-store.js';
import type { RecoveryReport, RecoveryVisitor } from '../log/journal.js';
import { Compactor } from './compactor.js';
import type { Disk } from './disk.js';
import { DiskBacking } from './disk-backing.js';
import { storeTag } from './frame.js';
import { StoreIdentity } from './identity.js';
import { DiskJournal } from './journal.js';
import { Recovery } from './recovery.js';
import { SegmentSet } from './segment-set.js';

export interface StoreOptions {
  disk: Disk;
  clock: Clock;
  turn: Turn;
  random: Random;
  logger: Logger;
  /** Bytes of message memory above which messages live on disk only. */
  memoryBytes?: number;
  /** Bytes of a journal segment. */
  segmentBytes?: number;
  /** Zeros that a small write brings along for the next ones to overwrite: faster syncs for some disk space. */
  zeroBytes?: number;
  /** Free bytes of the disk below which publishing pauses. */
  lowWaterBytes?: number;
  /** Default: all kept. */
  rules?: Rules;
  /** The newest protocol version that may be read; default: this program's. */
  formatMax?: number;
  /** No other broker has what is in it. */
  alone?: boolean;
}

const megabyte = 1024 * 1024;
export const defaultMemoryBytes: number = 256 * megabyte;
export const defaultSegmentBytes: number = 64 * megabyte;
export const defaultZeroBytes: number = megabyte;
export const defaultLowWaterBytes: number = 50 * megabyte;

export class Store {
  readonly identity: StoreIdentity;
  readonly chunks: ChunkStore;
  private readonly options: StoreOptions;
  private readonly segments: SegmentSet;
  private readonly backing: DiskBacking;
  private started: { journal: DiskJournal; compactor: Compactor } | undefined;

  private constructor(options: StoreOptions, identity: StoreIdentity) {
    this.options = options;
    this.identity = identity;
    this.chunks = new ChunkStore(options.turn, options.logger, options.memoryBytes ?? defaultMemoryBytes);
    this.segments = new SegmentSet(options.disk);
    this.backing = new DiskBacking(this.segments);
    this.chunks.attach(this.backing);
  }

  /** Reads the folder's identity, or makes one. Throws StoreRefusedError if the folder is not ours. */
  static async open(options: StoreOptions): Promise<Store> {
    const { disk, random, formatMax = protocolVersions.max } = options;
    return new Store(options, await StoreIdentity.open(disk, random, formatMax));
  }

  /** Hands everything the journal holds to `visitor`, and makes the journal ready for use. Once, before anything else. */
  async recover(visitor: RecoveryVisitor): Promise<RecoveryReport> {
    const { clock, turn, logger } = this.options;
    const { segmentBytes = defaultSegmentBytes, zeroBytes = defaultZeroBytes } = this.options;
    const { chunks, segments } = this;
    const { identity } = this;
    const tag = storeTag(identity.storeId);
    const { formatMax = protocolVersions.max } = this.options;
    const recovery = new Recovery(segments, chunks, tag, identity, formatMax, logger);
    const { report, start } = await recovery.run(visitor, segmentBytes);
    if (report.damaged.length > 0) await identity.setDamaged(true);
    if (this.options.alone === true) await this.keepEvidence(report.damaged.length > 0);
    const lowWaterBytes = this.options.lowWaterBytes ?? defaultLowWaterBytes;
    const begun = (segment: number): Promise<void> => identity.setSegment(segment);
    const journal = new DiskJournal(
      { clock, turn, logger, chunks, segments, tag, segmentBytes, zeroBytes, lowWaterBytes, begun },
      start,
    );
    this.backing.journal = journal;
    const { rules = allRules } = this.options;
    const garbageBytesMin = segmentBytes;
    const compactor = new Compactor({ clock, logger, rules, chunks, segments, journal, tag, garbageBytesMin });
    compactor.start();
    this.started = { journal, compactor };
    return report;
  }

  /**
   * What is damaged may be the declaration of a queue, without which its messages elsewhere are nobody's, and would be deleted. Where
   * nobody else has them, all segments of that time are put in quarantine instead, at later starts too.
   */
  private async keepEvidence(isDamaged: boolean): Promise<void> {
    const { identity, segments, options } = this;
    if (isDamaged) {
      await identity.setEvidence(Math.max(0, ...[...segments.all()].map(({ number }) => number)));
      options.logger.error(
        'no other broker can make the damage good: segments of now that are not needed any more are kept as quarantine-*, until somebody removes them',
        { segments: segments.size },
      );
    }
    for (const segment of segments.all()) segment.evidence = segment.number <= identity.evidence;
  }

  /**
   * All that damage may have taken from this store is there again: everything it holds has come from its groups' primaries since
   * it was opened, and is on disk. Gets rid of what is damaged, and then of the mark (rule 12).
   */
  mend(): void {
    const { identity, options } = this;
    if (!identity.damaged) return;
    this.compactor.mend(async () => {
      await identity.setDamaged(false);
      options.logger.info('the damage of the journal is made good: this node may be elected again after a restart');
    });
  }

  get journal(): DiskJournal {
    if (this.started === undefined) throw new Error('the journal is used before recovery');
    return this.started.journal;
  }

  get compactor(): Compactor {
    if (this.started === undefined) throw new Error('the journal is used before recovery');
    return this.started.compactor;
  }

  /** Bytes of the journal on disk. */
  get diskBytes(): number {
    return this.segments.bytes;
  }

  /** Writes what was appended, notes where it ends, and lets go of all files. */
  async close(): Promise<void> {
    await this.started?.compactor.stop();
    await this.started?.journal.close();
    await this.segments.close();
    await this.noteEnd();
  }

  private async noteEnd(): Promise<void> {
    const end = this.started?.journal.end;
    if (end === undefined) return;
    try {
      await this.identity.setEnd(end);
    } catch (error) {
      const { message } = error as Error;
      this.options.logger.warn('the next start will not know where the journal ended', { error: message });
    }
  }
}
