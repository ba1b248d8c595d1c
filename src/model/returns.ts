import type { Annotated } from '../log/annotated-record.js';
import type { Lsn } from '../log/lsn.js';

/** So many are remembered, of a group: those that came back longest ago are forgotten first. */
export const returnsMax = 16_384;

/** Bytes of what clients have noted of a message, and of all messages of a group: those that came back longest ago lose it first. */
export const annotationBytesMax: number = 16_384;
const allAnnotationBytesMax = 512 * 1024;

/** One message: its queue's incarnation, its position, how often it came back; what clients have noted, in base64. */
export type ReturnList = [incarnation: Lsn, position: Lsn, count: number, revision?: number, annotations?: string][];

/** One message that came back. */
interface Return {
  readonly incarnation: Lsn;
  readonly position: Lsn;
  readonly count: number;
  readonly annotated: Annotated | undefined;
}

/** How often messages that are in queues came back from clients, where that is counted, and what clients have noted of them. */
export class Returns {
  private readonly byQueue = new Map<Lsn, Map<Lsn, Return>>();
  /** Of all queues, as they came back. */
  private readonly all = new Set<Return>();
  /** Messages of which something was noted, and its bytes. */
  annotated = 0;
  private annotationBytes = 0;

  get size(): number {
    return this.all.size;
  }

  of(incarnation: Lsn, position: Lsn): number {
    return this.byQueue.get(incarnation)?.get(position)?.count ?? 0;
  }

  annotatedOf(incarnation: Lsn, position: Lsn): Annotated | undefined {
    return this.annotated === 0 ? undefined : this.byQueue.get(incarnation)?.get(position)?.annotated;
  }

  /** It came back so often at least, and that was noted, unless something newer is known. */
  note(incarnation: Lsn, position: Lsn, count: number, annotated?: Annotated): void {
    let queue = this.byQueue.get(incarnation);
    if (queue === undefined) {
      queue = new Map();
      this.byQueue.set(incarnation, queue);
    }
    const before = queue.get(position);
    if (before !== undefined) {
      const isNewer = annotated !== undefined && annotated.revision > (before.annotated?.revision ?? 0);
      if (before.count >= count && !isNewer) return;
      this.drop(before);
    }
    const noted = newer(before?.annotated, annotated);
    const last: Return = { incarnation, position, count: Math.max(count, before?.count ?? 0), annotated: noted };
    queue.set(position, last);
    this.all.add(last);
    if (noted !== undefined) this.annotated++;
    this.annotationBytes += noted?.annotations.length ?? 0;
    if (this.size > returnsMax) this.forgetFirst();
    while (this.annotationBytes > allAnnotationBytesMax && this.size > 1) this.forgetFirst();
  }

  forget(incarnation: Lsn, position: Lsn): void {
    const queue = this.byQueue.get(incarnation);
    const known = queue?.get(position);
    if (queue === undefined || known === undefined) return;
    this.drop(known);
    queue.delete(position);
    if (queue.size === 0) this.byQueue.delete(incarnation);
  }

  forgetQueue(incarnation: Lsn): void {
    for (const one of this.byQueue.get(incarnation)?.values() ?? []) this.drop(one);
    this.byQueue.delete(incarnation);
  }

  /** Those that came back longest ago first. */
  list(): ReturnList {
    return Array.from(this.all, ({ incarnation, position, count, annotated }) =>
      annotated === undefined
        ? [incarnation, position, count]
        : [incarnation, position, count, annotated.revision, Buffer.from(annotated.annotations).toString('base64')],
    );
  }

  /** Takes over what another replica or a checkpoint knows. */
  merge(list: ReturnList): void {
    for (const [incarnation, position, count, revision = 0, text] of list)
      this.note(
        incarnation,
        position,
        count,
        text === undefined ? undefined : { revision, annotations: fromText(text) },
      );
  }

  /** Knows what `list` says and nothing else. */
  replace(list: ReturnList): void {
    this.byQueue.clear();
    this.all.clear();
    this.annotated = 0;
    this.annotationBytes = 0;
    this.merge(list);
  }

  private drop(one: Return): void {
    this.all.delete(one);
    if (one.annotated === undefined) return;
    this.annotated--;
    this.annotationBytes -= one.annotated.annotations.length;
  }

  private forgetFirst(): void {
    for (const { incarnation, position } of this.all) return this.forget(incarnation, position);
  }
}

function newer(one: Annotated | undefined, other: Annotated | undefined): Annotated | undefined {
  return (other?.revision ?? 0) > (one?.revision ?? 0) ? other : one;
}

function fromText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
