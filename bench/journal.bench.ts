/**
 * The journal alone, on a real disk: 1 KiB persistent messages with 1000 outstanding, reopening, draining.
 *
 *   node build/bench/journal.bench.js [folder] [messages]
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { silentLogger } from '../src/base/logger.js';
import { Turn } from '../src/base/turn.js';
import { BatchKind, batchHeaderBytes, setBatchChecksum, writeBatchHeader } from '../src/log/batch.js';
import { type Chunk, chunkBytes } from '../src/log/chunk.js';
import type { GroupMeta, JournalOwner, RecoveryVisitor } from '../src/log/journal.js';
import type { Lsn } from '../src/log/lsn.js';
import { encodeDequeue, encodeEnqueue, enqueueLength, MessageParts, RecordKind, setLsn } from '../src/log/record.js';
import { NodeDisk } from '../src/store/node-disk.js';
import { Store } from '../src/store/store.js';

const folder = process.argv[2] ?? '/tmp/understudy-journal-bench';
const messages = Number(process.argv[3] ?? 1_000_000);
const outstandingMax = 1000;
const bodyBytes = 1024;

const clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  every: (ms: number, run: () => void) => {
    const timer = setInterval(run, ms);
    return { cancel: () => clearInterval(timer) };
  },
};
const random = {
  float: () => Math.random(),
  int: (below: number) => Math.floor(Math.random() * below),
  hex: (length: number) => randomBytes(length).toString('hex').slice(0, length),
};

/** One queue whose messages are consumed in order: the index is two arrays. */
class BenchGroup implements JournalOwner, RecoveryVisitor {
  readonly group = 1;
  readonly chunkIds = new Uint32Array(messages + 2);
  readonly offsets = new Uint32Array(messages + 2);
  recordBytes = 0;
  durableTo: Lsn = 0;
  batches = 0;
  acked: () => void = () => undefined;
  private readonly store: () => Store;
  private chunk: Chunk | undefined;
  private next: Lsn = 1;

  constructor(store: () => Store) {
    this.store = store;
  }

  durable(lsn: Lsn): void {
    this.durableTo = lsn;
    this.acked();
  }
  meta(): GroupMeta {
    return {
      record: '',
      epoch: 1,
      joining: false,
      voids: [],
      publishers: [],
      wiringVersion: 0,
      applied: this.durableTo,
    };
  }
  copyRecord(chunk: Chunk, offset: number): Uint8Array | undefined {
    if (!this.isLive(chunk, offset)) return undefined;
    return chunk.bytes!.slice(offset, offset + chunk.view!.getUint32(offset, true));
  }
  private isLive(chunk: Chunk, offset: number): boolean {
    const lsn = chunk.view!.getFloat64(offset + 8, true);
    return this.chunkIds[lsn] === chunk.id + 1 && this.offsets[lsn] === offset;
  }
  moved(from: Chunk, fromOffset: number, to: Chunk, toOffset: number): boolean {
    if (!this.isLive(from, fromOffset)) return false;
    this.place(to, toOffset, from.view!.getFloat64(fromOffset + 8, true));
    this.store().chunks.release(from, this.recordBytes);
    return true;
  }
  closeChunk(chunk: Chunk): void {
    if (this.chunk !== chunk) return;
    this.chunk = undefined;
    this.store().chunks.unpin(chunk);
  }

  /** One batch of up to `count` enqueues, as many as a chunk takes. Returns how many. */
  enqueue(parts: MessageParts, count: number): number {
    const length = enqueueLength(parts, 1);
    this.recordBytes = length;
    const { chunk, start } = this.begin(length + batchHeaderBytes);
    let at = start + batchHeaderBytes;
    const first = this.next;
    let done = 0;
    for (; done < count && at + length <= chunk.capacity; done++, at += length) {
      encodeEnqueue(chunk.bytes!, chunk.view!, at, parts, [1], true, 1, this.next);
      setLsn(chunk.view!, at, this.next);
      this.place(chunk, at, this.next++);
    }
    this.seal(chunk, start, at, first, done);
    return done;
  }

  /** One batch with a dequeue of the `count` positions from `from` on. */
  dequeue(from: Lsn, count: number): void {
    const positions = Array.from({ length: count }, (_, i) => from + i);
    const { chunk, start } = this.begin(64 + count * 8 + batchHeaderBytes);
    const at = start + batchHeaderBytes;
    const length = encodeDequeue(chunk.bytes!, chunk.view!, at, 1, positions, count, true);
    setLsn(chunk.view!, at, this.next);
    this.seal(chunk, start, at + length, this.next++, 1);
  }

  forget(position: Lsn): void {
    const chunk = this.store().chunks.byId(this.chunkIds[position]! - 1);
    this.chunkIds[position] = 0;
    this.store().chunks.release(chunk, this.recordBytes);
  }

  record(_group: number, chunk: Chunk, offset: number, lsn: Lsn): void {
    if (chunk.bytes![offset + 4] !== RecordKind.enqueue) return;
    this.recordBytes = chunk.view!.getUint32(offset, true);
    this.place(chunk, offset, lsn);
    this.durableTo = Math.max(this.durableTo, lsn);
    this.next = this.durableTo + 1;
  }
  done(): void {}

  private place(chunk: Chunk, offset: number, lsn: Lsn): void {
    this.chunkIds[lsn] = chunk.id + 1;
    this.offsets[lsn] = offset;
    this.store().chunks.retain(chunk, this.recordBytes);
  }

  private begin(bytes: number): { chunk: Chunk; start: number } {
    if (this.chunk !== undefined && this.chunk.used + bytes > this.chunk.capacity) this.closeChunk(this.chunk);
    this.chunk ??= this.store().chunks.open(1, chunkBytes);
    return { chunk: this.chunk, start: this.chunk.used };
  }

  private seal(chunk: Chunk, start: number, end: number, first: Lsn, count: number): void {
    writeBatchHeader(chunk.view!, start, end - start, 1, BatchKind.log, true, count, first - 1, first);
    setBatchChecksum(chunk.bytes!, chunk.view!, start, end);
    chunk.used = end;
    this.batches++;
    this.store().journal.append(this, chunk, start, end, first + count - 1);
  }
}

async function openStore(
  visitor: (store: Store) => BenchGroup,
): Promise<{ disk: NodeDisk; store: Store; group: BenchGroup }> {
  const disk = await NodeDisk.open(folder);
  const turn = new Turn((run) => setImmediate(run));
  const store = await Store.open({ disk, clock, turn, random, logger: silentLogger });
  const group = visitor(store);
  await store.recover({ meta: () => undefined, record: group.record.bind(group), done: () => undefined });
  store.journal.register(group);
  return { disk, store, group };
}

/** Processor time of this process per message since `before`, all threads. */
function cpuPerMessage(before: NodeJS.CpuUsage): string {
  const used = process.cpuUsage(before);
  return `${((used.user + used.system) / messages).toFixed(2)} µs`;
}

function say(what: string, value: string): void {
  console.log(`${what.padEnd(44)} ${value}`);
}

/** Keeps `outstandingMax` messages under way until `count` are acknowledged. */
function publish(group: BenchGroup, count: number): Promise<void> {
  const parts = new MessageParts();
  parts.bodyBytes = randomBytes(bodyBytes);
  parts.bodyLength = bodyBytes;
  const end = group.durableTo + count;
  let sent = group.durableTo;
  return new Promise((resolve) => {
    group.acked = () => {
      if (group.durableTo >= end) return resolve();
      let room = Math.min(outstandingMax - (sent - group.durableTo), end - sent);
      while (room > 0) {
        const taken = group.enqueue(parts, room);
        sent += taken;
        room -= taken;
      }
    };
    group.acked();
  });
}

/** Dequeues everything, 100 at a time, with so many under way. */
function drain(group: BenchGroup): Promise<void> {
  let next = 1;
  let done = 1;
  const pending: number[] = [];
  return new Promise((resolve) => {
    group.acked = () => {
      while (pending.length > 0 && group.durableTo >= pending[0]!) {
        pending.shift();
        for (let i = 0; i < 100 && done <= messages; i++) group.forget(done++);
      }
      if (done > messages) return resolve();
      while (pending.length < 10 && next <= messages) {
        const count = Math.min(100, messages + 1 - next);
        group.dequeue(next, count);
        pending.push(messages + Math.ceil(next / 100));
        next += count;
      }
    };
    group.acked();
  });
}

await rm(folder, { recursive: true, force: true });
let opened = await openStore((store) => new BenchGroup(() => store));
let cpu = process.cpuUsage();
let began = performance.now();
let lag = 0;
let last = performance.now();
const lagTimer = setInterval(() => {
  const now = performance.now();
  lag = Math.max(lag, now - last - 5);
  last = now;
}, 5);
await publish(opened.group, messages);
let seconds = (performance.now() - began) / 1000;
say(
  'publish, 1 KiB, 1000 outstanding',
  `${Math.round(messages / seconds / 1000)} k/s, ${Math.round((messages * bodyBytes) / seconds / 1e6)} MB/s`,
);
say('  processor time per message', cpuPerMessage(cpu));
say('  batches', `${Math.round(opened.group.batches / seconds)} /s`);
say('  longest stall of the loop', `${lag.toFixed(1)} ms`);
say('  resident memory', `${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
await opened.store.close();
await opened.disk.close();
lag = 0;
cpu = process.cpuUsage();
began = performance.now();
last = began;
opened = await openStore((store) => new BenchGroup(() => store));
seconds = (performance.now() - began) / 1000;
say(`reopen, ${messages} live`, `${seconds.toFixed(2)} s`);
say('  processor time per message', cpuPerMessage(cpu));
say('  longest stall of the loop', `${lag.toFixed(1)} ms`);
say('  disk', `${Math.round(opened.store.diskBytes / 1e6)} MB`);
began = performance.now();
await drain(opened.group);
seconds = (performance.now() - began) / 1000;
say('drain, dequeues of 100', `${Math.round(messages / seconds / 1000)} k/s`);
const drained = performance.now();
while (opened.store.diskBytes > 150e6 && performance.now() - drained < 30_000)
  await new Promise((resolve) => setTimeout(resolve, 50));
say(
  '  disk afterwards',
  `${Math.round(opened.store.diskBytes / 1e6)} MB after ${Math.round(performance.now() - drained)} ms`,
);
clearInterval(lagTimer);
await opened.store.close();
await opened.disk.close();
await rm(folder, { recursive: true, force: true });
