/**
 * The bodies of large messages on the primary (log/large.ts): takes their parts into the log, and a message only with all of its parts; and
 * dequeues the parts that nobody needs any more. That is so when
 *
 * - no message refers to the body any more, and no node reads it;
 * - its upload has ended without a message: it was given up, the message was refused, or its queues are gone;
 * - its upload is of a node that is dead, or was taken for dead: if it is alive after all, its message is refused;
 * - its node, which says so when it attaches, is done with the upload: the message is gone, of which this replica may not know.
 */
import { Ring } from '../../base/ring.js';
import type { Logger } from '../../base/logger.js';
import type { Rules } from '../../base/rules.js';
import { type BodyId, type Manifest, manifestAt, partHeaderAt, partHeaderBytes } from '../../log/large.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeOpen } from '../../log/open-record.js';
import type { MessageParts } from '../../log/record.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import { keyOf, type LargeBody } from '../large/large-bodies.js';
import { partsIncarnation } from '../queue/outbox.js';
import { appendDequeues } from './settlement-batch.js';

/** A node that was given a message reads its body, or says by then that it does: with another primary, or over another link. */
export const graceMs = 5000;
/** Bodies looked at in one step of a walk. */
const walkStep = 64;
/** Parts that are dequeued in one turn: then the body at hand is the last one. */
const partsSlice = 4096;

export interface LargeLogPorts {
  readonly state: GroupState;
  readonly appender: GroupAppender;
  readonly rules: Rules;
  readonly logger: Logger;
  /** The last lsn of a publish. */
  published(): Lsn;
  /** Has `append` called at the end of this turn. */
  touch(): void;
  /** Runs it later, if the service is there by then. */
  after(delayMs: number, run: () => void): void;
  /** Goes through many things, in slices. */
  walk(steps: Iterator<number, void>): void;
}

/** Parts of an upload that are in the log, committed or not. */
interface Upload extends BodyId {
  count: number;
  bytes: number;
  isOver: boolean;
  /** It is over since its node was taken for dead: no message follows, even if the node is alive after all. */
  isGone: boolean;
}

export class LargeLog {
  /** The last lsn given to something here. */
  last: Lsn = 0;
  private readonly ports: LargeLogPorts;
  private isOpened = false;
  /** Those that go on. */
  private readonly uploads = new Map<string, Upload>();
  /** Uploads that are over when `lsn` is committed: if no message refers to them then, their parts go. */
  private ended: { readonly id: BodyId; readonly lsn: Lsn }[] = [];
  /** Uploads that are over when the publish of that number is committed. */
  private numbered: { readonly boot: number; readonly upload: number; readonly sequence: number }[] = [];
  /** The same, in this turn. */
  private ending: BodyId[] = [];
  /** By body: how many entries it has in those. There may be a message in the log that is not committed. */
  private readonly unsettled = new Map<string, number>();
  private readonly due = new Ring<LargeBody>();
  /** What is due, and was too much for one turn, goes on later. */
  private goesOn = false;
  /** Who reads has said so: before that no body goes. */
  private hasBegun = false;
  /** All bodies are looked at when `lsn` is committed. */
  private judgements: { readonly isOver: (body: LargeBody) => boolean; readonly lsn: Lsn }[] = [];
  /** The dequeues of their parts are in the log. */
  private readonly leaving = new WeakSet<LargeBody>();
  /** By body: nodes that read it, or are about to. */
  private readonly readers = new Map<string, number>();

  constructor(ports: LargeLogPorts) {
    this.ports = ports;
    ports.state.large.watcher = { orphaned: (body) => this.look(body) };
  }

  /**
   * Deliveries may begin: all live nodes have attached. When those that read bodies have said so, too, what the last primary owed is done, and
   * uploads of boots that are not attached are over.
   */
  begin(isAttached: (boot: number) => boolean): void {
    this.hasBegun = this.ports.state.large.size === 0;
    if (this.hasBegun) return;
    this.ports.after(graceMs, () => {
      this.hasBegun = true;
      // Asked when the bodies are looked at: a node may have attached by then, and its parts be committed.
      this.judge((body) => !body.isClosed && !isAttached(body.boot));
    });
  }

  /** The node is gone in that boot, and so are its uploads. */
  gone(boot: number): void {
    for (const upload of this.uploads.values()) {
      if (upload.boot !== boot || upload.isOver) continue;
      upload.isGone = true;
      this.end(upload);
    }
    this.numbered = this.numbered.filter((one) => one.boot !== boot);
    if (this.ports.state.large.size > 0) this.judge((body) => !body.isClosed && body.boot === boot);
  }

  /**
   * The node is attached in that boot: of its uploads up to `last` those in `open` are not over, or only with the publish of that number. The log
   * may have that already, or be given no more of it than its number.
   */
  said(boot: number, last: number, open: ReadonlyMap<number, number>): void {
    if (last === 0) return;
    this.judge((body) => !body.isClosed && body.boot === boot && body.upload <= last && !open.has(body.upload));
    for (const [upload, sequence] of open)
      if (sequence < Number.POSITIVE_INFINITY) this.numbered.push({ boot, upload, sequence });
  }

  /** Later: what is in the log by now may have parts of a body, and the message. */
  private judge(isOver: (body: LargeBody) => boolean): void {
    this.judgements.push({ isOver, lsn: this.ports.published() });
    this.ports.touch();
  }

  close(): void {
    this.ports.state.large.watcher = undefined;
  }

  // ---- for publishes ----

  /** The part that `parts` are is the next one of its upload, and goes into the log now. False: it gives the upload up, or is of no use. */
  takesPart({ headerBytes, headerStart, headerLength, bodyLength }: MessageParts, boot: number): boolean {
    if (headerLength !== partHeaderBytes) return false;
    const view = new DataView(headerBytes.buffer, headerBytes.byteOffset);
    const { upload: number, index, isEnd } = partHeaderAt(view, headerStart);
    const id = { boot, upload: number };
    const upload = this.upload(id, index);
    if (isEnd) this.end(id);
    if (isEnd || upload === undefined || upload.isOver) return false;
    upload.count++;
    upload.bytes += bodyLength;
    this.open();
    return true;
  }

  /** A large message is about to be taken into the log. False: it has not all of its parts there. */
  takes({ bodyBytes, bodyStart }: MessageParts): boolean {
    const manifest = manifestIn(bodyBytes, bodyStart);
    const isWhole = this.isWhole(manifest);
    this.end(manifest);
    return isWhole;
  }

  private isWhole(manifest: Manifest): boolean {
    if (!this.ports.rules.largeWhole || this.has(manifest)) return true;
    this.ports.logger.warn('a large message is refused: its node was taken for dead while it came', { ...manifest });
    return false;
  }

  private has(manifest: Manifest): boolean {
    const upload = this.uploads.get(keyOf(manifest));
    if (upload?.isGone === true) return false;
    if (upload !== undefined && upload.count > 0)
      return upload.count === manifest.count && upload.bytes === manifest.size;
    const body = this.ports.state.large.find(manifest);
    return body !== undefined && body.fits(manifest) && !this.leaving.has(body);
  }

  // ---- for deliveries ----

  /** Whether it can be delivered: not so if parts of it were lost by damage. */
  isReadable(manifest: Manifest): boolean {
    return this.ports.state.large.find(manifest)?.fits(manifest) === true;
  }

  /** A node reads the body, or is about to, so that it stays; `unhold` must follow. */
  hold(key: string): void {
    this.readers.set(key, (this.readers.get(key) ?? 0) + 1);
  }

  unhold(id: BodyId): void {
    const key = keyOf(id);
    const left = (this.readers.get(key) ?? 1) - 1;
    if (left > 0) {
      this.readers.set(key, left);
      return;
    }
    this.readers.delete(key);
    const body = this.ports.state.large.find(id);
    if (body?.isOrphan === true) this.look(body);
  }

  // ---- the turn's end ----

  append(committed: Lsn): void {
    if (this.ending.length > 0) {
      const lsn = this.ports.published();
      for (const id of this.ending) this.ended.push({ id, lsn });
      this.ending = [];
    }
    if (this.numbered.length > 0 && this.hasBegun) this.endNumbered();
    if (this.ended.length > 0) this.endCommitted(committed);
    while (this.hasBegun && this.judgements.length > 0 && this.judgements[0]!.lsn <= committed)
      this.ports.walk(this.lookAtAll(this.judgements.shift()!.isOver));
    if (this.due.length === 0 || !this.hasBegun || !this.ports.rules.partsGo) return;
    this.dequeueSlice();
  }

  private dequeueSlice(): void {
    if (this.goesOn) return;
    for (let left = this.ports.state.slices.size(partsSlice); left > 0 && this.due.length > 0; )
      left -= this.dequeue(this.due.shift()!);
    if (this.due.length === 0) return;
    this.goesOn = true;
    this.ports.after(0, () => {
      this.goesOn = false;
      this.ports.touch();
    });
  }

  private endNumbered(): void {
    const { publishers } = this.ports.state;
    this.numbered = this.numbered.filter((one) => {
      if (publishers.of(one.boot).sequence < one.sequence) return true;
      this.note(one);
      this.ended.push({ id: one, lsn: 0 });
      return false;
    });
  }

  private endCommitted(committed: Lsn): void {
    const { state } = this.ports;
    const later: typeof this.ended = [];
    for (const one of this.ended) {
      const body = state.large.find(one.id);
      if (one.lsn > committed) {
        later.push(one);
        continue;
      }
      const key = keyOf(one.id);
      this.uploads.delete(key);
      const left = this.unsettled.get(key)! - 1;
      if (left > 0) this.unsettled.set(key, left);
      else this.unsettled.delete(key);
      // Also one whose message has come and gone meanwhile.
      if (left === 0 && body?.messages === 0) this.due.push(body);
    }
    this.ended = later;
  }

  /** The body may be needed yet by what is on its way into the log, or in it. It is looked at again when that is committed. */
  private mayComeYet(key: string): boolean {
    return this.uploads.has(key) || this.unsettled.has(key);
  }

  /** Returns about how much work that was. */
  private dequeue(body: LargeBody): number {
    const { state, appender } = this.ports;
    const key = keyOf(body);
    if (body.count === 0 || this.leaving.has(body) || body.messages > 0 || this.readers.has(key)) return 1;
    if (this.mayComeYet(key)) return 1;
    this.leaving.add(body);
    const positions = body.positions();
    if (!body.durable && !appender.replicated) {
      state.remove(partsIncarnation, positions);
      return positions.length;
    }
    appender.together(() => {
      this.last = appendDequeues(appender, partsIncarnation, positions, body.durable);
    });
    return positions.length;
  }

  // ---- inside ----

  private look(body: LargeBody): void {
    this.due.push(body);
    this.ports.touch();
  }

  private *lookAtAll(isOver: (body: LargeBody) => boolean): Generator<number, void> {
    let steps = 0;
    for (const body of this.ports.state.large.all()) {
      if (body.isOrphan || isOver(body)) this.look(body);
      if (++steps % walkStep === 0) yield walkStep;
    }
  }

  /** Undefined: the part `index` is not its next one. */
  private upload(id: BodyId, index: number): Upload | undefined {
    const key = keyOf(id);
    let upload = this.uploads.get(key);
    if (upload === undefined) {
      // It began under another primary.
      const body = this.ports.state.large.find(id);
      if (body?.isClosed === true || (body !== undefined && this.leaving.has(body))) return undefined;
      const { count = 0, bytes = 0 } = body ?? {};
      upload = { boot: id.boot, upload: id.upload, count, bytes, isOver: false, isGone: false };
      if (upload.count === index) this.uploads.set(key, upload);
    }
    return upload.count === index || !this.ports.rules.largeWhole ? upload : undefined;
  }

  private end(id: BodyId): void {
    const upload = this.uploads.get(keyOf(id));
    if (upload !== undefined) upload.isOver = true;
    this.note(id);
    this.ending.push(id);
    this.ports.touch();
  }

  private note(id: BodyId): void {
    const key = keyOf(id);
    this.unsettled.set(key, (this.unsettled.get(key) ?? 0) + 1);
  }

  /** The parts' queue is one like any other, but that the wiring does not know it. */
  private open(): void {
    const { state, appender } = this.ports;
    if (this.isOpened || state.queue(partsIncarnation) !== undefined) return;
    this.isOpened = true;
    const record = encodeOpen(partsIncarnation, 0, { durable: true });
    appender.reserve(record.length);
    appender.chunk.bytes!.set(record, appender.offset);
    this.last = appender.append(record.length);
  }
}

function manifestIn(bytes: Uint8Array, start: number): Manifest {
  return manifestAt(new DataView(bytes.buffer, bytes.byteOffset), start);
}
