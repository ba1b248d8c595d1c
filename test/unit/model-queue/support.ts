/** Stand-ins for what is around a group's state and service: chunks without a disk, a log without replicas, a client. */
import type { Clock, Timer } from '../../../src/base/clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import type { Rules } from '../../../src/base/rules.js';
import { Turn } from '../../../src/base/turn.js';
import { protocolVersions } from '../../../src/base/versions.js';
import { fullSlices } from '../../../src/base/slices.js';
import { Chunk, type Chunks, chunkBytes } from '../../../src/log/chunk.js';
import { epochStart, type Lsn } from '../../../src/log/lsn.js';
import { encodeDrop, encodeOpen } from '../../../src/log/open-record.js';
import { type EnqueueView, isDequeue, MessageParts, RecordKind, setLsn } from '../../../src/log/record.js';
import type {
  GroupAppender,
  GroupClientPort,
  GroupServicePort,
  HeldMessage,
  QueueUse,
} from '../../../src/model/group-port.js';
import { GroupService } from '../../../src/model/group-service/group-service.js';
import type { HandOver } from '../../../src/model/group-service/hand-over.js';
import { type HeaderCodec, opaqueHeaders } from '../../../src/model/dead-letter/death.js';
import type { QueueTraitsSource } from '../../../src/model/group-service/traits-of.js';
import { GroupState } from '../../../src/model/group-state.js';

/** Keeps count of references. `evict` takes a chunk's bytes away; `load` brings them back when `settleLoads` is called. */
export class TestChunks implements Chunks {
  readonly all: Map<number, Chunk> = new Map();
  residentBytes = 0;
  readonly budgetBytes: number = 2 ** 40;
  loads = 0;
  private nextId = 1;
  private readonly saved = new Map<number, Uint8Array>();
  /** Bytes of freed chunks, for the next ones: fresh ones would be most of what a benchmark measures. */
  private readonly spare: Uint8Array[] = [];
  private readonly waiters: [Chunk, (error?: Error) => void][] = [];

  open(group: number, bytes: number): Chunk {
    const chunk = new Chunk(this.nextId++, group, this.bytes(bytes));
    chunk.pins = 1;
    this.all.set(chunk.id, chunk);
    return chunk;
  }
  byId(id: number): Chunk {
    const chunk = this.all.get(id);
    if (chunk === undefined) throw new Error(`chunk ${id} was freed`);
    return chunk;
  }
  retain(chunk: Chunk, bytes: number): void {
    chunk.live++;
    chunk.liveBytes += bytes;
  }
  release(chunk: Chunk, bytes: number): void {
    chunk.live--;
    chunk.liveBytes -= bytes;
    if (chunk.live < 0 || chunk.liveBytes < 0) throw new Error('released more than retained');
    this.free(chunk);
  }
  pin(chunk: Chunk): void {
    chunk.pins++;
  }
  unpin(chunk: Chunk): void {
    if (--chunk.pins < 0) throw new Error('unpinned more than pinned');
    this.free(chunk);
  }
  load(chunk: Chunk, then: (error?: Error) => void): void {
    this.loads++;
    this.waiters.push([chunk, then]);
  }

  evict(chunk: Chunk): void {
    if (chunk.bytes === undefined) return;
    this.saved.set(chunk.id, chunk.bytes);
    chunk.bytes = undefined;
    chunk.view = undefined;
  }

  /** Answers the loads asked for so far; returns whether there were any. */
  settleLoads(error?: Error): boolean {
    const due = this.waiters.splice(0);
    for (const [chunk, then] of due) {
      const bytes = this.saved.get(chunk.id);
      if (error === undefined && bytes !== undefined) this.restore(chunk, bytes);
      then(error);
    }
    return due.length > 0;
  }

  /** References that are left, over all chunks. */
  get live(): number {
    let live = 0;
    for (const chunk of this.all.values()) live += chunk.live;
    return live;
  }

  private bytes(length: number): Uint8Array {
    return (length <= chunkBytes ? this.spare.pop() : undefined) ?? new Uint8Array(Math.max(length, chunkBytes));
  }

  private restore(chunk: Chunk, bytes: Uint8Array): void {
    chunk.bytes = bytes;
    chunk.view = new DataView(bytes.buffer);
  }

  private free(chunk: Chunk): void {
    if (chunk.live > 0 || chunk.pins > 0) return;
    this.all.delete(chunk.id);
    if (chunk.bytes?.length === chunkBytes && this.spare.length < 64) this.spare.push(chunk.bytes);
  }
}

/** A log of one replica: what is appended commits when `commit` is called. */
export class TestLog implements GroupAppender {
  chunk: Chunk;
  offset = 0;
  version: number = protocolVersions.max;
  replicated = true;
  lease = true;
  lsn: Lsn;
  /** Records appended since the beginning, of each kind; dequeues of both kinds count as `dequeue`. */
  readonly appendedOfKind: number[] = [0, 0, 0, 0, 0, 0, 0];
  private readonly group: number;
  private readonly chunks: TestChunks;
  private fill: { chunk: Chunk; from: number; to: number }[] = [];

  constructor(group: number, chunks: TestChunks, epoch: number) {
    this.group = group;
    this.chunks = chunks;
    this.lsn = epochStart(epoch);
    this.chunk = chunks.open(group, chunkBytes);
  }

  reserve(bytes: number): void {
    if (this.offset + bytes <= this.chunk.capacity) return;
    this.chunks.unpin(this.chunk);
    this.chunk = this.chunks.open(this.group, bytes);
    this.offset = 0;
  }

  append(length: number): Lsn {
    const { chunk, offset } = this;
    const lsn = ++this.lsn;
    setLsn(chunk.view!, offset, lsn);
    const kind = chunk.bytes![offset + 4]!;
    this.appendedOfKind[isDequeue(kind) ? RecordKind.dequeue : kind]!++;
    const last = this.fill[this.fill.length - 1];
    if (last?.chunk === chunk && last.to === offset) last.to = offset + length;
    else {
      this.fill.push({ chunk, from: offset, to: offset + length });
      this.chunks.pin(chunk);
    }
    this.offset += length;
    return lsn;
  }

  appendBytes(record: Uint8Array): Lsn {
    this.reserve(record.length);
    this.chunk.bytes!.set(record, this.offset);
    return this.append(record.length);
  }

  /** Records that were appended in one go. */
  readonly units: number[] = [];
  together(run: () => void): void {
    const before = this.lsn;
    run();
    this.units.push(this.lsn - before);
  }

  relaxing = true;
  mayRelax(): boolean {
    return this.relaxing;
  }
  mayAct(): boolean {
    return this.lease;
  }

  /** Applies everything appended. Returns whether there was anything. */
  commit(state: GroupState): boolean {
    const due = this.fill;
    if (due.length === 0) return false;
    this.fill = [];
    for (const { chunk, from, to } of due) {
      chunk.used = to;
      for (let at = from; at < to; at += chunk.view!.getUint32(at, true)) state.apply(chunk, at);
      this.chunks.unpin(chunk);
    }
    return true;
  }

  /** Forgets what was appended and not committed. */
  cut(): void {
    for (const { chunk } of this.fill) this.chunks.unpin(chunk);
    this.fill = [];
  }
}

export class TestClock implements Clock {
  time = 0;
  private timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }
  /** Somebody sets the wall clock. */
  wallOffset = 0;
  wall(): number {
    return this.time + this.wallOffset;
  }
  after(delayMs: number, run: () => void): Timer {
    const timer = { at: this.time + delayMs, run };
    this.timers.push(timer);
    return { cancel: () => void (this.timers = this.timers.filter((other) => other !== timer)) };
  }
  every(): Timer {
    throw new Error('not used');
  }

  advance(ms: number): void {
    this.time += ms;
    const due = this.timers.filter((timer) => timer.at <= this.time);
    this.timers = this.timers.filter((timer) => timer.at > this.time);
    for (const timer of due) timer.run();
  }
}

export interface Delivery {
  subscriber: number;
  incarnation: Lsn;
  position: Lsn;
  redelivered: boolean;
  /** The body's text. */
  body: string;
}

const decoder = new TextDecoder();

/** Writes down all it is told. */
export class TestClient implements GroupClientPort {
  congested = false;
  confirmedTo = 0;
  settledCount = 0;
  readonly refused: number[] = [];
  /** Of each delivery: how often it came back. */
  readonly returns: number[] = [];
  /** The same: its header. */
  readonly headers: number[][] = [];
  readonly deliveries: Delivery[] = [];
  readonly events: string[] = [];

  wiringReached(): void {}
  inSync = 0;
  confirmed(sequence: number, inSync: number): void {
    if (sequence < this.confirmedTo || (sequence === this.confirmedTo && inSync === this.inSync))
      throw new Error('confirms must grow, or the set change');
    this.confirmedTo = sequence;
    this.inSync = inSync;
  }
  rejected(sequence: number): void {
    this.refused.push(sequence);
  }
  readonly stopped: number[] = [];
  /** What it was told of queues whose publishers wait. */
  readonly flows: string[] = [];
  flow(incarnations: readonly number[], isStopped: boolean, isWhole: boolean): void {
    this.flows.push([isStopped ? 'stop' : 'go', ...incarnations, ...(isWhole ? ['whole'] : [])].join(' '));
  }
  settled(count: number): void {
    if (count <= this.settledCount) throw new Error('settled must grow');
    this.settledCount = count;
  }
  deliver(
    subscriber: number,
    incarnation: Lsn,
    position: Lsn,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    this.deliveries.push({ subscriber, incarnation, position, redelivered, body: bodyOf(message) });
    this.returns.push(returns);
    const { bytes, headerStart, headerLength } = message;
    this.headers.push([...bytes.subarray(headerStart, headerStart + headerLength)]);
  }
  subscribed(subscriber: number, refusal: string): void {
    this.events.push(`subscribed ${subscriber} ${refusal}`.trim());
  }
  readonly drainedSubscribers: number[] = [];
  drained(subscriber: number): void {
    this.drainedSubscribers.push(subscriber);
  }
  unsubscribed(subscriber: number): void {
    this.events.push(`unsubscribed ${subscriber}`);
  }
  cancelled(subscriber: number, reason: string): void {
    this.events.push(`cancelled ${subscriber} ${reason}`);
  }
  got(
    request: number,
    incarnation: Lsn,
    position: Lsn,
    redelivered: boolean,
    remaining: number,
    message: EnqueueView,
  ): void {
    this.deliveries.push({ subscriber: 0, incarnation, position, redelivered, body: bodyOf(message) });
    this.events.push(`got ${request} ${bodyOf(message)} remaining ${remaining}`);
  }
  gotNothing(request: number, refusal: string): void {
    this.events.push(`gotNothing ${request} ${refusal}`.trim());
  }
  counted(request: number, ready: number, unacknowledged: number, consumers: number): void {
    this.events.push(`counted ${request} ${ready} ${unacknowledged} ${consumers}`);
  }
  purged(request: number, count: number, refusal: string): void {
    this.events.push(`purged ${request} ${count} ${refusal}`.trim());
  }
  /** Texts of parts of large messages' bodies. */
  readonly bodyParts: string[] = [];
  bodyPart(reader: number, index: number, bytes: Uint8Array, start: number, end: number): void {
    this.bodyParts.push(`${reader}:${index} ${new TextDecoder().decode(bytes.subarray(start, end))}`);
  }
  terminusAnswered(): void {}
  bodyGone(reader: number): void {
    this.events.push(`bodyGone ${reader}`);
  }

  /** Takes what was delivered since the last call. */
  take(): Delivery[] {
    return this.deliveries.splice(0);
  }
  bodies(): string[] {
    return this.take().map((delivery) => delivery.body);
  }
}

function bodyOf(message: EnqueueView): string {
  return decoder.decode(message.bytes.subarray(message.bodyStart, message.bodyStart + message.bodyLength));
}

const encoder = new TextEncoder();

export function messageParts(body: string, priority = 0): MessageParts {
  const parts = new MessageParts();
  parts.priority = priority;
  parts.bodyBytes = encoder.encode(body);
  parts.bodyLength = parts.bodyBytes.length;
  return parts;
}

/** Headers are JSON. */
export const jsonHeaders: HeaderCodec = {
  ...opaqueHeaders,
  table: ({ bytes, headerStart, headerLength }) =>
    headerLength === 0 ? {} : JSON.parse(decoder.decode(bytes.subarray(headerStart, headerStart + headerLength))),
};

/** A message with such headers. */
export function partsWith(body: string, headers: Record<string, string | number>): MessageParts {
  const parts = messageParts(body);
  parts.setHeader(encoder.encode(JSON.stringify(headers)));
  return parts;
}

/** A primary of one group: state, log and service, with turns run by hand. */
export class TestPrimary {
  readonly chunks: TestChunks;
  readonly clock: TestClock = new TestClock();
  readonly state: GroupState;
  readonly log: TestLog;
  readonly service: GroupService;
  readonly unused: Lsn[] = [];
  /** What else the wiring hears of queues' consumers. */
  readonly uses: string[] = [];
  /** All of it as it was told. */
  readonly told: QueueUse[] = [];
  readonly broken: string[] = [];
  /** Commit at the end of each turn. */
  commits = true;
  private readonly scheduled: (() => void)[];

  /** @param options `previous`: the primary of an older epoch, closed, whose state this one takes over. */
  constructor(
    options: {
      previous?: TestPrimary;
      handedOver?: HandOver;
      epoch?: number;
      rules?: Rules;
      open?: boolean;
      traits?: QueueTraitsSource;
      headers?: HeaderCodec;
    } = {},
  ) {
    const { previous, epoch = 1 } = options;
    this.chunks = previous?.chunks ?? new TestChunks();
    this.scheduled = previous?.scheduled ?? [];
    this.state =
      previous?.state ??
      new GroupState(
        1,
        this.chunks,
        fullSlices((run) => this.scheduled.push(run)),
      );
    this.log = new TestLog(1, this.chunks, epoch);
    this.service = new GroupService({
      state: this.state,
      appender: this.log,
      epoch,
      turn: new Turn((run) => this.scheduled.push(run)),
      clock: this.clock,
      logger: silentLogger,
      ...(options.rules === undefined ? {} : { rules: options.rules }),
      ...(options.traits === undefined ? {} : { traits: options.traits }),
      ...(options.headers === undefined ? {} : { headers: options.headers }),
      tookOver: previous !== undefined,
      handedOver: options.handedOver,
      queueUse: (incarnation, use) => {
        this.told.push(use);
        if (use.kind === 'unused') this.unused.push(incarnation);
        else this.uses.push(`${use.kind} ${incarnation}`);
      },
      broken: (node, boot, reason) => this.broken.push(`${node}/${boot}: ${reason}`),
    });
    if (options.open !== false) this.service.open();
  }

  /** Opens a queue and has that committed. */
  openQueue(incarnation: Lsn, durable = false, priorities = 0): void {
    const version = this.state.wiringVersion + 1;
    const lsn = this.log.appendBytes(
      encodeOpen(incarnation, version, priorities === 0 ? { durable } : { durable, priorities }),
    );
    this.service.advanceWiring(version, lsn);
    this.run();
  }

  dropQueue(incarnation: Lsn): void {
    const version = this.state.wiringVersion + 1;
    const lsn = this.log.appendBytes(encodeDrop(incarnation, version));
    this.service.advanceWiring(version, lsn);
    this.run();
  }

  attach(client: GroupClientPort, node = 'a', boot = 1, held: HeldMessage[] = [], confirmed = 0): GroupServicePort {
    return this.service.attach(node, boot, client, held, confirmed);
  }

  /** Commits what was appended, and tells the service. */
  commit(): boolean {
    if (!this.log.commit(this.state)) return false;
    this.service.committed(this.state.applied);
    return true;
  }

  /** Runs turns until nothing is left to do. */
  run(): void {
    do {
      for (let run = this.scheduled.shift(); run !== undefined; run = this.scheduled.shift()) run();
    } while (this.commits && this.commit());
  }

  /** Runs what is scheduled now, and nothing that this schedules. Returns whether there was anything. */
  runOnce(): boolean {
    const due = this.scheduled.splice(0);
    for (const run of due) run();
    return due.length > 0;
  }
}
