/** What a crash, a worn disk or an operator's mistake does to the files of a broker that was killed. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { LoneBroker } from '../support/lone-broker.js';
import { numberedQueue, publishNumbered, range, readNumbered } from '../support/numbered-queue.js';
import { QueueClient } from '../support/queue-client.js';

/** Idle for this long, a broker has told its journal what of it is synced: what is missing then was lost, not torn. */
const markMs = 2500;

async function segments(broker: LoneBroker): Promise<string[]> {
  const names = (await readdir(broker.data)).filter((name) => /^journal-\d+\.seg$/.test(name));
  return names.sort().map((name) => join(broker.data, name));
}

async function quarantined(broker: LoneBroker): Promise<string[]> {
  return (await readdir(broker.data)).filter((name) => name.startsWith('quarantine-'));
}

/** Length of the file without the zeros that writes bring along. */
async function usedBytes(path: string): Promise<number> {
  const bytes = await readFile(path);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end;
}

const errorsOf = (broker: LoneBroker): string => broker.loggedErrors.join('\n');

describe('files of a broker that was killed', () => {
  it('a torn last write is cut off: it was never confirmed, and nothing else is missing', async () => {
    await using broker = await LoneBroker.start();
    let count = 0;
    for (let round = 0; round < 2; round++) {
      await publishNumbered(broker.url, count + 1, count + 50, 1000);
      count += 50;
      await broker.kill();
      const last = (await segments(broker)).at(-1)!;
      const bytes = await readFile(last);
      const used = await usedBytes(last);
      // The beginning of a frame that never got further, where the next one would have come.
      const torn = bytes.subarray(0, randomInt(1, 4000));
      await writeFile(last, Buffer.concat([bytes.subarray(0, used), torn]));
      await broker.start();
      assert.deepEqual(await readNumbered(broker.url), range(1, count));
    }
    assert.equal(errorsOf(broker), '');
    assert.deepEqual(await quarantined(broker), []);
  });

  it('a confirmed end that is cut off is reported; what is left is there, in order', async () => {
    await using broker = await LoneBroker.start();
    // Many frames, not one.
    for (let at = 0; at < 200; at += 20) await publishNumbered(broker.url, at + 1, at + 20, 1000);
    await new Promise((resolve) => setTimeout(resolve, markMs));
    await broker.kill();
    const last = (await segments(broker)).at(-1)!;
    const used = await usedBytes(last);
    await truncate(last, Math.floor(used / 2) + randomInt(Math.floor(used / 4)));
    await broker.start();
    const left = await readNumbered(broker.url);
    assert.ok(left.length > 50 && left.length < 200, String(left.length));
    assert.deepEqual(left, range(1, left.length));
    await publishNumbered(broker.url, left.length + 1, left.length + 10, 1000);
    await broker.kill();
    await broker.start();
    assert.deepEqual(await readNumbered(broker.url), range(1, left.length + 10));
    assert.match(broker.log, /the journal does not end with a whole frame|the journal is damaged/);
  });

  it('a flipped bit in an old segment costs the messages around it, is reported, and the file is kept aside', async () => {
    await using broker = await LoneBroker.start();
    for (let at = 0; at < 160; at += 10) await publishNumbered(broker.url, at + 1, at + 10, 500_000);
    await broker.kill();
    const [first, ...others] = await segments(broker);
    assert.ok(others.length > 0);
    const bytes = await readFile(first!);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    await writeFile(first!, bytes);
    await broker.start();
    await publishNumbered(broker.url, 161, 170, 1000);
    const left = await readNumbered(broker.url);
    assert.ok(left.length >= 130 && left.length < 170, String(left.length));
    assert.deepEqual(
      left,
      [...new Set(left)].sort((a, b) => a - b),
      'in order, each once',
    );
    assert.deepEqual(left.slice(-10), range(161, 170));
    assert.match(errorsOf(broker), /the journal is damaged: acknowledged messages may be missing/);
    const [copy] = await quarantined(broker);
    assert.ok(copy !== undefined);
    assert.deepEqual(await readFile(join(broker.data, copy)), bytes);
  });

  it('a damaged declaration costs its queue, but no segment is deleted: what it had can be saved', async () => {
    await using broker = await LoneBroker.start();
    for (let at = 0; at < 300; at += 10) await publishNumbered(broker.url, at + 1, at + 10, 500_000);
    await broker.kill();
    const before = await segments(broker);
    assert.ok(before.length > 2);
    const first = await readFile(before[0]!);
    const at = first.indexOf(numberedQueue);
    assert.ok(at > 0);
    first[at]! ^= 1;
    await writeFile(before[0]!, first);
    const contents = new Map<string, Buffer>();
    for (const path of before) contents.set(path, (await readFile(path)).subarray(0, await usedBytes(path)));
    await broker.start();
    await using client = await QueueClient.open(broker.url);
    assert.match(await client.refusal((channel) => channel.checkQueue(numberedQueue)), /NOT[-_]FOUND/);
    for (const deadline = performance.now() + 20_000; (await segments(broker)).includes(before[1]!); ) {
      assert.ok(
        performance.now() < deadline,
        'nobody needs the second segment any more; in the first one are users, too',
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    for (const [path, content] of contents) {
      const kept = join(broker.data, `quarantine-${basename(path)}`);
      const there = await readFile(path).catch(() => readFile(kept));
      assert.ok(there.subarray(0, content.length).equals(content), path);
    }
    assert.match(errorsOf(broker), /no other broker can make the damage good/);
  });
});
