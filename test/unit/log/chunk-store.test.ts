import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { Turn } from '../../../src/base/turn.js';
import { type Chunk, chunkBytes } from '../../../src/log/chunk.js';
import { type ChunkBacking, ChunkStore } from '../../../src/log/chunk-store.js';

/** A disk that keeps a copy of what is spilled or journaled, and answers when told. */
class Backing implements ChunkBacking {
  readonly content = new Map<Chunk, Uint8Array>();
  readonly freedIds: number[] = [];
  readonly waiting: (() => void)[] = [];
  reads = 0;
  spills = 0;
  takes = true;
  damaged = false;

  /** As the journal would have it. */
  journal(chunk: Chunk): void {
    this.content.set(chunk, chunk.bytes!.slice(0, chunk.used));
    chunk.writtenBytes = chunk.used;
  }

  spill(chunk: Chunk, done: () => void): boolean {
    if (!this.takes) return false;
    this.spills++;
    this.waiting.push(() => {
      this.journal(chunk);
      done();
    });
    return true;
  }

  read(chunk: Chunk, into: Uint8Array): Promise<void> {
    this.reads++;
    return new Promise((resolve, reject) => {
      this.waiting.push(() => {
        if (this.damaged) return reject(new Error('damaged'));
        into.set(this.content.get(chunk)!);
        resolve();
      });
    });
  }

  freed(chunk: Chunk): void {
    this.freedIds.push(chunk.id);
  }

  async answerAll(): Promise<void> {
    while (this.waiting.length > 0) {
      this.waiting.shift()!();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

function storeOf(budgetChunks: number): { store: ChunkStore; backing: Backing } {
  const store = new ChunkStore(new Turn((run) => setImmediate(run)), silentLogger, budgetChunks * chunkBytes);
  const backing = new Backing();
  store.attach(backing);
  return { store, backing };
}

/** A full chunk with one live entry of its number; journaled if there is a backing. */
function fill(store: ChunkStore, backing: Backing | undefined, group = 1): Chunk {
  const chunk = store.open(group, 1000);
  chunk.bytes!.fill(chunk.id & 0xff);
  chunk.used = chunkBytes;
  store.retain(chunk, 1000);
  backing?.journal(chunk);
  store.unpin(chunk);
  return chunk;
}

describe('chunk store', () => {
  it('uses ids and buffers again when a chunk is free', () => {
    const { store, backing } = storeOf(10);
    const first = fill(store, backing);
    const bytes = first.bytes;
    store.retain(first, 10);
    store.release(first, 1000);
    assert.equal(store.byId(first.id), first);
    store.release(first, 10);
    assert.deepEqual(backing.freedIds, [first.id]);
    assert.throws(() => store.byId(first.id), RangeError);
    assert.equal(store.residentBytes, 0);
    const second = store.open(1, 10);
    assert.equal(second.id, first.id);
    assert.equal(second.bytes, bytes);
    assert.notEqual(second, first);
  });

  it('gives a record that is larger than a chunk one of its own', () => {
    const { store } = storeOf(10);
    const chunk = store.open(1, 3 * chunkBytes + 5);
    assert.ok(chunk.capacity >= 3 * chunkBytes + 5);
    store.unpin(chunk);
    assert.equal(store.residentBytes, 0);
    assert.equal(store.open(1, 10).capacity, chunkBytes);
  });

  it('keeps the oldest in memory and gives up the newest', () => {
    const { store, backing } = storeOf(4);
    const chunks = Array.from({ length: 10 }, () => fill(store, backing));
    assert.deepEqual(
      chunks.map((chunk) => chunk.bytes !== undefined),
      // The last one took the place of a fourth while it was being filled.
      [true, true, true, false, false, false, false, false, false, true],
    );
    assert.ok(store.residentBytes <= store.budgetBytes);
  });

  it('never takes the bytes of a pinned chunk', () => {
    const { store, backing } = storeOf(2);
    const chunks = Array.from({ length: 3 }, () => {
      const chunk = store.open(1, 10);
      store.retain(chunk, 10);
      chunk.used = chunkBytes;
      backing.journal(chunk);
      return chunk;
    });
    assert.ok(chunks.every((chunk) => chunk.bytes !== undefined));
    assert.equal(store.residentBytes, 3 * chunkBytes);
    store.unpin(chunks[0]!);
    assert.equal(chunks[0]!.bytes, undefined);
  });

  it('spills what is not on disk, then gives it up', async () => {
    const { store, backing } = storeOf(2);
    const chunks = Array.from({ length: 4 }, () => fill(store, undefined));
    assert.equal(backing.spills, 2);
    assert.ok(chunks.every((chunk) => chunk.bytes !== undefined));
    await backing.answerAll();
    assert.equal(store.residentBytes, 2 * chunkBytes);
    assert.equal(chunks.filter((chunk) => chunk.bytes === undefined).length, 2);
  });

  it('keeps everything while the disk takes nothing, and goes on later', async () => {
    const { store, backing } = storeOf(2);
    backing.takes = false;
    const chunks = Array.from({ length: 5 }, () => fill(store, undefined));
    assert.equal(store.residentBytes, 5 * chunkBytes);
    backing.takes = true;
    chunks.push(fill(store, undefined));
    await backing.answerAll();
    assert.ok(store.residentBytes <= store.budgetBytes);
  });

  it('reads back once for all who ask, and reads ahead', async () => {
    const { store, backing } = storeOf(24);
    const chunks = Array.from({ length: 60 }, () => fill(store, backing));
    const wanted = chunks[30]!;
    let answers = 0;
    for (let i = 0; i < 3; i++)
      store.load(wanted, (error) => {
        assert.equal(error, undefined);
        assert.equal(wanted.bytes![5], wanted.id & 0xff);
        answers++;
      });
    assert.equal(answers, 0);
    await backing.answerAll();
    assert.equal(answers, 3);
    assert.equal(backing.reads, 5);
    assert.ok(chunks.slice(30, 35).every((chunk) => chunk.bytes !== undefined));
    // A consumer that goes on finds the next ones there: what it is through with makes room and the window moves.
    store.release(wanted, 1000);
    assert.equal(backing.reads, 6);
    await backing.answerAll();
    assert.notEqual(chunks[35]!.bytes, undefined);
    assert.ok(store.residentBytes <= store.budgetBytes);
  });

  it('answers for a resident chunk too, but never within the call', async () => {
    const { store, backing } = storeOf(4);
    const chunk = fill(store, backing);
    let answered = false;
    store.load(chunk, () => {
      answered = true;
    });
    assert.equal(answered, false);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(answered, true);
    assert.equal(chunk.pins, 0);
  });

  it('leaves a chunk evicted that cannot be read', async () => {
    const { store, backing } = storeOf(2);
    const chunks = Array.from({ length: 8 }, () => fill(store, backing));
    backing.damaged = true;
    const wanted = chunks[5]!;
    const resident = store.residentBytes;
    let told: Error | undefined;
    store.load(wanted, (error) => {
      told = error;
    });
    await backing.answerAll();
    assert.match(told!.message, /damaged/);
    assert.equal(wanted.bytes, undefined);
    assert.equal(wanted.pins, 0);
    assert.ok(store.residentBytes <= resident);
    store.release(wanted, 1000);
    assert.deepEqual(backing.freedIds, [wanted.id]);
  });

  it('gives up the least recently read of those read back', async () => {
    const { store, backing } = storeOf(4);
    // Groups of their own: no read-ahead.
    const chunks = Array.from({ length: 12 }, (_, i) => fill(store, backing, i));
    for (const index of [6, 7, 8, 9, 10]) {
      store.load(chunks[index]!, () => undefined);
      await backing.answerAll();
    }
    assert.ok(store.residentBytes <= store.budgetBytes);
    assert.equal(chunks[6]!.bytes, undefined);
    assert.notEqual(chunks[10]!.bytes, undefined);
    assert.notEqual(chunks[0]!.bytes, undefined);
  });

  it('frees a chunk that is consumed while it is being read', async () => {
    const { store, backing } = storeOf(1);
    const chunks = Array.from({ length: 3 }, () => fill(store, backing));
    const wanted = chunks[1]!;
    assert.equal(wanted.bytes, undefined);
    store.load(wanted, () => undefined);
    store.release(wanted, 1000);
    assert.deepEqual(backing.freedIds, []);
    await backing.answerAll();
    assert.deepEqual(backing.freedIds, [wanted.id]);
    assert.ok(store.residentBytes <= store.budgetBytes);
  });

  it('stays within its budget whatever happens', async () => {
    const { store, backing } = storeOf(8);
    const alive: Chunk[] = [];
    let state = 12345;
    const random = (below: number) => {
      state = (state * 1103515245 + 12345) & 0x7fffffff;
      return state % below;
    };
    for (let step = 0; step < 3000; step++) {
      const what = random(10);
      if (what < 5) alive.push(fill(store, random(4) > 0 ? backing : undefined, random(3)));
      else if (what < 7 && alive.length > 0) store.load(alive[random(alive.length)]!, () => undefined);
      else if (what < 9 && alive.length > 0) store.release(alive.splice(random(alive.length), 1)[0]!, 1000);
      else await backing.answerAll();
    }
    await backing.answerAll();
    assert.ok(store.residentBytes <= store.budgetBytes, `${store.residentBytes} of ${store.budgetBytes}`);
    assert.equal(store.count, alive.length);
    for (const chunk of alive) {
      assert.equal(store.byId(chunk.id), chunk);
      assert.equal(chunk.pins, 0);
      if (chunk.bytes !== undefined) assert.equal(chunk.bytes[7], chunk.id & 0xff);
    }
    for (const chunk of alive) store.release(chunk, 1000);
    // Some are being read ahead.
    await backing.answerAll();
    assert.equal(store.residentBytes, 0);
    assert.equal(store.count, 0);
  });
});
