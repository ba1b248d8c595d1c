/** The segments of a journal, with reading handles for those in use: many may exist, few are open. */
import type { Lsn } from '../log/lsn.js';
import type { Disk, DiskFile } from './disk.js';
import { LsnSpans } from './lsn-spans.js';
import { quarantineName } from './quarantine.js';
import type { Segment } from './segment.js';
import { isOutOfFiles } from './shortage.js';

const handlesMax = 64;

export class SegmentSet {
  readonly disk: Disk;
  private readonly byNumber = new Map<number, Segment>();
  /** Segments with a reading handle, least recently used first. */
  private readonly open = new Set<Segment>();

  constructor(disk: Disk) {
    this.disk = disk;
  }

  add(segment: Segment): void {
    this.byNumber.set(segment.number, segment);
  }

  get(number: number): Segment | undefined {
    return this.byNumber.get(number);
  }

  get size(): number {
    return this.byNumber.size;
  }

  /** In order of addition, which is that of numbers. */
  all(): IterableIterator<Segment> {
    return this.byNumber.values();
  }

  get bytes(): number {
    let bytes = 0;
    for (const segment of this.byNumber.values()) bytes += segment.size;
    return bytes;
  }

  /** Is there another segment in which something may lie that a record of this one cancels? */
  isNeeded(segment: Segment): boolean {
    for (const other of this.byNumber.values()) if (other !== segment && segment.cancelsIn(other)) return true;
    return false;
  }

  /** May a record of the group with an lsn in [from, to] lie in any segment? */
  holds(group: number, from: Lsn, to: Lsn): boolean {
    for (const segment of this.byNumber.values())
      if (segment.groups.get(group)?.holds.touches(from, to) === true) return true;
    return false;
  }

  /** What lies in the segments of the group counts no more. */
  forget(group: number): void {
    for (const segment of this.byNumber.values()) segment.groups.delete(group);
  }

  /** What of the group lies in segments other than `except`. */
  presenceElsewhere(group: number, except: Segment): { holds: LsnSpans; opens: Set<Lsn> } {
    const elsewhere = { holds: new LsnSpans(Number.POSITIVE_INFINITY), opens: new Set<Lsn>() };
    for (const segment of this.byNumber.values()) {
      const presence = segment.groups.get(group);
      if (segment === except || presence === undefined) continue;
      elsewhere.holds.addAll(presence.holds);
      for (const incarnation of presence.opens) elsewhere.opens.add(incarnation);
    }
    return elsewhere;
  }

  /** A handle for reading; each use ends with `release`. */
  async acquire(segment: Segment): Promise<DiskFile> {
    segment.users++;
    try {
      if (segment.file === undefined) {
        const file = await this.openFile(segment);
        // Another reader may have been faster.
        if (segment.file === undefined) segment.file = file;
        else await file.close();
      }
    } catch (error) {
      segment.users--;
      throw error;
    }
    this.open.delete(segment);
    this.open.add(segment);
    await this.closeUnused(handlesMax);
    return segment.file;
  }

  release(segment: Segment): void {
    segment.users--;
  }

  /** Deletes the segment's file, or puts it in quarantine, durably. Nobody may be reading it. May be repeated after an error. */
  async unlink(segment: Segment): Promise<void> {
    const file = segment.file;
    segment.file = undefined;
    this.open.delete(segment);
    if (file !== undefined) await file.close();
    if (!segment.unlinked) await this.putAway(segment);
    segment.unlinked = true;
    await this.disk.syncFolder();
    this.byNumber.delete(segment.number);
  }

  private async putAway({ name, evidence }: Segment): Promise<void> {
    const kept = quarantineName(name);
    if (evidence && !(await this.disk.list()).includes(kept)) await this.disk.rename(name, kept);
    else await this.disk.unlink(name);
  }

  async close(): Promise<void> {
    await this.closeUnused(0);
  }

  /** Closes reading handles that are not in use, the oldest first, until `keep` are left. Returns how many it closed. */
  async closeUnused(keep: number): Promise<number> {
    let closed = 0;
    for (const segment of this.open) {
      if (this.open.size <= keep) break;
      if (segment.users > 0 || segment.file === undefined) continue;
      const file = segment.file;
      segment.file = undefined;
      this.open.delete(segment);
      await file.close();
      closed++;
    }
    return closed;
  }

  /** Without a free file descriptor, one of those handles is given up for it. */
  private async openFile(segment: Segment): Promise<DiskFile> {
    try {
      return await this.disk.open(segment.name, { create: false });
    } catch (error) {
      if (!isOutOfFiles(error) || (await this.closeUnused(0)) === 0) throw error;
      return this.disk.open(segment.name, { create: false });
    }
  }
}
