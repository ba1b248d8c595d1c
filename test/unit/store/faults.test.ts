import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { identityName, nextIdentityName } from '../../../src/store/identity-file.js';
import { DiskFault, FaultyDisk, sectorBytes } from './faulty-disk.js';
import { Harness, seeded, turns, until } from './harness.js';

const segment = 'journal-0000000001.seg';

/** A journal with acknowledged messages, one frame each, and its disk. */
async function journalOf(
  count: number,
  bodyBytes = 60,
  zeroBytes = 0,
): Promise<{ disk: FaultyDisk; harness: Harness }> {
  const disk = new FaultyDisk();
  const harness = await Harness.open(disk, { zeroBytes });
  for (let i = 0; i < count; i++) {
    harness.group(1).enqueue(bodyBytes);
    await harness.settled();
  }
  return { disk, harness };
}

async function checkAll(harness: Harness, positions: readonly number[]): Promise<void> {
  const group = harness.group(1);
  assert.deepEqual([...group.index.keys()], positions);
  for (const position of positions) await group.check(position);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

describe('the torn end', () => {
  it('is cut off wherever a crash tore the last write', async () => {
    const { disk, harness } = await journalOf(4);
    const before = disk.bytesOf(segment).length;
    harness.group(1).enqueue(60);
    harness.group(1).enqueue(60);
    await harness.settled();
    const whole = disk.bytesOf(segment).slice();
    const random = seeded(1);
    for (let cut = before; cut < whole.length; cut++) {
      for (const rest of cut % 8 === 0 ? ['missing', 'zeros', 'garbage'] : ['missing']) {
        const torn = rest === 'missing' ? whole.slice(0, cut) : whole.slice();
        if (rest === 'zeros') torn.fill(0, cut);
        if (rest === 'garbage') for (let i = cut; i < torn.length; i++) torn[i] = torn[i]! ^ (1 + random.int(255));
        const crashed = disk.kill();
        crashed.replace(segment, torn);
        const again = await Harness.open(crashed);
        assert.deepEqual(again.report.damaged, [], `cut at ${cut}, then ${rest}`);
        // Zeros at the end tell nothing, so they are not counted.
        assert.ok(again.report.tornBytes <= torn.length - before);
        await checkAll(again, upTo(4));
        assert.equal(crashed.bytesOf(segment).length, before);
      }
    }
  });

  it('is on disk after recovery, though the sync of a dead process failed', async () => {
    const { disk, harness } = await journalOf(4);
    const before = disk.bytesOf(segment).length;
    for (let i = 0; i < 2; i++) harness.group(1).enqueue(60);
    await harness.settled();
    const killed = disk.kill();
    killed.forget(segment, before);
    const next = await Harness.open(killed);
    await checkAll(next, upTo(6));
    await checkAll(await Harness.open(killed.crash(() => false)), upTo(6));
  });

  it('may lie in zeros that were written ahead', async () => {
    const { disk, harness } = await journalOf(4, 60, 5000);
    assert.ok(disk.bytesOf(segment).length > 5000);
    const before = harness.store.diskBytes;
    harness.group(1).enqueue(60);
    await harness.settled();
    const whole = disk.bytesOf(segment).slice();
    for (let cut = before; cut <= whole.length; cut += cut < before + 300 ? 7 : 997) {
      const torn = whole.slice();
      torn.fill(0, cut);
      const crashed = disk.kill();
      crashed.replace(segment, torn);
      const again = await Harness.open(crashed, { zeroBytes: 5000 });
      assert.deepEqual(again.report.damaged, [], `cut at ${cut}`);
      const kept = again.report.tornBytes === 0 && cut > before;
      assert.ok(again.report.tornBytes <= cut - before);
      await checkAll(again, upTo(kept ? 5 : 4));
      again.group(1).enqueue(60);
      await again.settled();
      await again.store.close();
      const third = await Harness.open(crashed.kill(), { zeroBytes: 5000 });
      assert.equal(third.report.tornBytes, 0);
      assert.equal(third.group(1).index.size, kept ? 6 : 5);
    }
  });

  it('can be written over, and is not there at the next start', async () => {
    const { disk, harness } = await journalOf(3);
    harness.group(1).enqueue(60);
    await harness.settled();
    const crashed = disk.kill();
    crashed.replace(segment, crashed.bytesOf(segment).slice(0, -5));
    const again = await Harness.open(crashed);
    await checkAll(again, upTo(3));
    const position = again.group(1).enqueue(80);
    await again.settled();
    await checkAll(await Harness.open(crashed.kill()), [...upTo(3), position]);
  });

  it('may keep any sectors of the last write', async () => {
    const random = seeded(5);
    for (let round = 0; round < 40; round++) {
      const { disk, harness } = await journalOf(3, 300, round % 2 === 0 ? 0 : 8000);
      for (let i = 0; i < 8; i++) harness.group(1).enqueue(300);
      disk.before = (operation) => {
        if (operation === 'sync') throw new DiskFault('EIO', 'power is gone');
      };
      await until(() => harness.store.journal.state === 'failed');
      const kept: boolean[] = [];
      const crashed = disk.crash(({ offset }) => {
        const keep = random.int(8) > 0;
        kept[Math.floor(offset / sectorBytes)] = keep;
        return keep;
      });
      const again = await Harness.open(crashed);
      assert.deepEqual(again.report.damaged, []);
      const found = [...again.group(1).index.keys()];
      assert.ok(found.length === 3 || found.length === 11, `${found.length} messages, sectors kept: ${kept}`);
      await checkAll(again, found);
    }
  });

  it('of a new segment leaves the older ones as they are', async () => {
    const disk = new FaultyDisk();
    const options = { segmentBytes: 4096 };
    const harness = await Harness.open(disk, options);
    const group = harness.group(1);
    let identity = new Uint8Array(0);
    while (!disk.fileNames().includes('journal-0000000003.seg')) {
      identity = disk.bytesOf(identityName).slice();
      group.enqueue(300);
      await harness.settled();
    }
    const last = 'journal-0000000003.seg';
    const whole = disk.bytesOf(last).slice();
    const messages = [...group.index.keys()];
    for (let cut = 0; cut < whole.length; cut += 11) {
      const crashed = disk.kill();
      crashed.replace(last, whole.slice(0, cut));
      // The segment is noted there when its beginning is on disk, and before that is acknowledged.
      crashed.replace(identityName, identity);
      crashed.remove(nextIdentityName);
      const again = await Harness.open(crashed, options);
      assert.deepEqual(again.report.damaged, []);
      await checkAll(again, messages.slice(0, -1));
      again.group(1).enqueue(100);
      await again.settled();
      assert.equal((await Harness.open(crashed.kill(), options)).group(1).index.size, messages.length);
    }
  });
});

describe('damage in the middle', () => {
  it('is reported for every flipped bit, copied aside, and costs the damaged batch only', async () => {
    const { disk, harness } = await journalOf(4, 20);
    await harness.store.close();
    const whole = disk.bytesOf(segment).slice();
    for (let at = 0; at < whole.length; at += 2) {
      // The last frame only tells that what is before it was synced; damage in it is a torn end.
      if (at >= whole.length - 48) break;
      const hurt = whole.slice();
      hurt[at]! ^= 1 << (at % 8);
      const damaged = disk.kill();
      damaged.replace(segment, hurt);
      const again = await Harness.open(damaged);
      assert.ok(again.report.damaged.length > 0, `bit at ${at} unnoticed`);
      const [place] = again.report.damaged;
      assert.equal(place!.segment, segment);
      assert.deepEqual(damaged.bytesOf(place!.quarantinedAs), hurt);
      assert.equal(again.store.identity.damaged, true);
      const found = [...again.group(1).index.keys()];
      assert.ok(found.length >= 3, `bit at ${at}: ${found}`);
      await checkAll(again, found);
    }
  });

  it('of an older segment is not taken for a torn end, and the rest is used', async () => {
    const disk = new FaultyDisk();
    const options = { segmentBytes: 4096 };
    const harness = await Harness.open(disk, options);
    for (let i = 0; i < 40; i++) {
      harness.group(1).enqueue(300);
      await harness.settled();
    }
    for (const cut of [0, 1, 100, 2000]) {
      const damaged = disk.kill();
      damaged.replace(segment, damaged.bytesOf(segment).slice(0, cut));
      const again = await Harness.open(damaged, options);
      assert.equal(again.report.tornBytes, 0);
      assert.ok(again.report.damaged.length > 0, `cut to ${cut}`);
      const found = [...again.group(1).index.keys()];
      assert.ok(found.length >= 30);
      await checkAll(again, found);
    }
  });

  it('never passes a damaged batch to whoever reads an evicted chunk', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, { memoryBytes: 256 * 1024 });
    const group = harness.group(1);
    for (let i = 0; i < 600; i++) group.enqueue(1000);
    await harness.settled();
    const evicted = [...group.index].filter(([, place]) => place.chunk.bytes === undefined);
    assert.ok(evicted.length > 0);
    const hurt = disk.bytesOf(segment);
    for (let i = 0; i < hurt.length; i += 1000) hurt[i]! ^= 0x10;
    await assert.rejects(group.check(evicted[0]![0]), /damaged/);
    assert.equal(evicted[0]![1].chunk.bytes, undefined);
  });
});

describe('a full disk', () => {
  it('pauses at whatever write it happens, acknowledges nothing, and goes on by itself', async () => {
    for (let room = 0; room < 9_000; room += 151) {
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, { segmentBytes: 4096, zeroBytes: room % 2 === 0 ? 0 : 1000 });
      const states: string[] = [];
      harness.store.journal.onState((state) => states.push(state));
      disk.capacity = disk.usedBytes + room;
      const group = harness.group(1);
      let full = false;
      for (let i = 0; i < 40 && !full; i++) {
        group.enqueue(200);
        await turns(12);
        full = harness.store.journal.state === 'full';
      }
      assert.equal(full, true, `room ${room}`);
      assert.match(harness.store.journal.reason, /disk is full/);
      const acknowledged = group.durableTo;
      group.enqueue(200);
      harness.clock.advance(5000);
      await turns(20);
      if (room % 2 === 0) {
        assert.equal(group.durableTo, acknowledged);
        const crashed = await Harness.open(disk.copy(), { segmentBytes: 4096 });
        // Or one more: what begins a segment, while the segment could not be noted.
        const found = [...crashed.group(1).index.keys()];
        assert.ok(found.length - acknowledged === 0 || found.length - acknowledged === 1, `room ${room}`);
        assert.deepEqual(found, upTo(found.length));
      }
      disk.capacity = Number.POSITIVE_INFINITY;
      harness.clock.advance(1000);
      await harness.settled();
      assert.equal(harness.store.journal.state, 'ok');
      // Without the zeros that a small write brings along some writes fit after all.
      if (room % 2 === 0) assert.deepEqual(states, ['full', 'ok']);
      assert.equal(group.durableTo, group.next - 1);
    }
  });

  it('is announced while there still is room for dequeues', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, { lowWaterBytes: 50_000_000 });
    const group = harness.group(1);
    group.enqueue(100);
    await harness.settled();
    disk.free = 40_000_000;
    group.enqueue(100);
    await harness.settled();
    harness.clock.advance(1000);
    await until(() => harness.store.journal.state === 'full');
    assert.match(harness.store.journal.reason, /40 MB are free/);
    group.dequeue([1]);
    await harness.settled();
    assert.equal(group.durableTo, 3);
    disk.free = 55_000_000;
    harness.clock.advance(1000);
    await turns(10);
    assert.equal(harness.store.journal.state, 'full');
    disk.free = 80_000_000;
    harness.clock.advance(1000);
    await until(() => harness.store.journal.state === 'ok');
  });

  it('can be closed', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk);
    harness.group(1).enqueue(100);
    await harness.settled();
    disk.capacity = disk.usedBytes;
    harness.group(1).enqueue(100);
    await until(() => harness.store.journal.state === 'full');
    await harness.store.close();
    await checkAll(await Harness.open(disk.kill()), [1]);
  });
});

describe('too many open files', () => {
  it('pause at whatever opening it happens, and go on by themselves', async () => {
    for (const code of ['EMFILE', 'ENFILE'])
      for (const what of ['open', 'syncFolder']) {
        const disk = new FaultyDisk();
        const harness = await Harness.open(disk, { segmentBytes: 4096 });
        const states: string[] = [];
        harness.store.journal.onState((state) => states.push(state));
        const group = harness.group(1);
        group.enqueue(200);
        await harness.settled();
        disk.before = (operation, name) => {
          if (operation === what) throw new DiskFault(code, `${operation} ${name}`);
        };
        for (let i = 0; i < 40; i++) {
          group.enqueue(200);
          await turns(12);
        }
        assert.equal(harness.store.journal.state, 'full');
        assert.match(harness.store.journal.reason, /no more files can be opened .*limit of open files/);
        const acknowledged = group.durableTo;
        assert.ok(acknowledged < group.next - 1);
        harness.clock.advance(5000);
        await turns(20);
        assert.equal(group.durableTo, acknowledged);
        disk.before = () => undefined;
        harness.clock.advance(1000);
        await harness.settled();
        assert.deepEqual(states, ['full', 'ok']);
        assert.equal(harness.store.journal.reason, '');
        const all = upTo(group.next - 1);
        await checkAll(harness, all);
        await checkAll(await Harness.open(disk.kill(), { segmentBytes: 4096 }), all);
      }
  });

  it('are made fewer first: files that nobody reads just now are closed', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, { segmentBytes: 4096 });
    const group = harness.group(1);
    for (let i = 0; i < 40; i++) {
      group.enqueue(300);
      await harness.settled();
    }
    // Recovery has opened every segment, and has not closed them yet.
    const killed = disk.kill();
    const again = await Harness.open(killed, { segmentBytes: 4096 });
    const states: string[] = [];
    again.store.journal.onState((state) => states.push(state));
    let closed = 0;
    let refused = 0;
    killed.before = (operation) => {
      if (operation === 'close') closed++;
      if (operation === 'open' && closed === 0) {
        refused++;
        throw new DiskFault('EMFILE', 'too many open files');
      }
    };
    for (let i = 0; i < 40; i++) again.group(1).enqueue(300);
    await again.settled();
    assert.ok(refused > 0 && closed > 0);
    assert.deepEqual(states, []);
  });

  it('do not keep a segment from being compacted for ever', async () => {
    for (const what of ['open', 'syncFolder']) {
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, { segmentBytes: 16 * 1024 });
      const group = harness.group(1);
      const positions: number[] = [];
      // Dequeues of what lies in other segments have to be copied as well.
      for (let i = 0; i < 240; i++) {
        if (i < 200) positions.push(group.enqueue(1000));
        if (i >= 40 && i % 20 !== 0) group.dequeue([positions[i - 40]!]);
        if (i % 10 === 9) await harness.settled();
      }
      let refused = 0;
      const existing = new Set(disk.fileNames());
      disk.before = (operation, name) => {
        if (operation !== what || (what === 'open' && !existing.has(name))) return;
        refused++;
        throw new DiskFault('EMFILE', `${operation} ${name}`);
      };
      const compaction = harness.compact(10);
      await turns(300);
      assert.ok(refused > 0, what);
      disk.before = () => undefined;
      await compaction;
      harness.clock.advance(5000);
      await harness.compact(30);
      assert.ok(harness.store.diskBytes < 70_000, `${what}: ${harness.store.diskBytes} bytes left`);
      assert.equal((await Harness.open(disk.kill())).group(1).index.size, 10, what);
    }
  });
});

describe('an error of the disk', () => {
  it('ends all acknowledgement, at whatever write, sync or opening it happens', async () => {
    for (let fault = 0; fault < 40; fault++) {
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, { segmentBytes: 2048, zeroBytes: fault % 2 === 0 ? 0 : 700 });
      let operations = 0;
      let noting = false;
      let unnoted = 0;
      disk.before = (operation, name) => {
        if (!['write', 'sync', 'syncFolder', 'truncate'].includes(operation)) return;
        // The segment whose beginning is on disk is noted: identity written, renamed, folder synced.
        noting = name.startsWith(identityName) || (operation === 'syncFolder' && noting);
        if (operations++ !== fault) return;
        if (noting) unnoted = 1;
        throw new DiskFault('EIO', `${operation} ${name}`);
      };
      const group = harness.group(1);
      for (let i = 0; i < 40 && harness.store.journal.state === 'ok'; i++) {
        group.enqueue(150);
        await turns(12);
      }
      assert.equal(harness.store.journal.state, 'failed');
      const acknowledged = group.durableTo;
      assert.ok(acknowledged < group.next - 1);
      group.enqueue(150);
      harness.clock.advance(5000);
      await turns(20);
      assert.equal(group.durableTo, acknowledged);
      await harness.store.close();
      const again = await Harness.open(
        disk.crash(() => false),
        { segmentBytes: 2048 },
      );
      const found = [...again.group(1).index.keys()];
      assert.deepEqual(found, upTo(acknowledged + unnoted), `fault at operation ${fault}`);
    }
  });

  it('that makes reads short changes nothing', async () => {
    const { disk, harness } = await journalOf(20, 500);
    await harness.store.close();
    const again = disk.kill();
    again.readMax = 301;
    const reopened = await Harness.open(again, { memoryBytes: 1 });
    await checkAll(reopened, upTo(20));
  });
});
