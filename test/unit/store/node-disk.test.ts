import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FolderLockedError } from '../../../src/store/folder-lock.js';
import { NodeDisk } from '../../../src/store/node-disk.js';
import { Harness } from './harness.js';

let folder: string;
const children: ChildProcess[] = [];

/** Starts a process that tries to take the folder; resolves with what it says. */
function hold(path: string): Promise<{ child: ChildProcess; said: string }> {
  const script = fileURLToPath(new URL('./lock-holder.js', import.meta.url));
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return new Promise((resolve) => {
    child.stdout!.once('data', (data: Buffer) => resolve({ child, said: data.toString().trim() }));
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

describe('the real disk', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'understudy-disk-'));
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('holds a journal over a restart', async () => {
    const path = join(folder, 'journal');
    const disk = await NodeDisk.open(path);
    const first = await Harness.open(disk, { segmentBytes: 100_000 });
    for (let i = 0; i < 300; i++) first.group(1 + (i % 2)).enqueue(1000 + i);
    await first.settled();
    await first.store.close();
    await disk.close();
    const again = await NodeDisk.open(path);
    const second = await Harness.open(again, { segmentBytes: 100_000, memoryBytes: 1 });
    assert.deepEqual(second.report.damaged, []);
    for (const group of [second.group(1), second.group(2)]) {
      assert.equal(group.index.size, 150);
      for (const position of group.index.keys()) await group.check(position);
    }
    assert.ok((await again.freeBytes()) > 0);
    await second.store.close();
    await again.close();
    assert.deepEqual(
      (await readdir(path)).filter((name) => name.startsWith('lock-')),
      [],
    );
  });

  it('writes more buffers than one call takes', async () => {
    const disk = await NodeDisk.open(join(folder, 'buffers'));
    const file = await disk.open('many', { create: true });
    const buffers = Array.from({ length: 3000 }, (_, i) => new Uint8Array(i % 7).fill(i));
    await file.write(buffers, 10);
    const expected = Buffer.concat([new Uint8Array(10), ...buffers]);
    const found = new Uint8Array(expected.length + 10);
    assert.equal(await file.read(found, 0), expected.length);
    assert.equal(Buffer.compare(found.subarray(0, expected.length), expected), 0);
    await file.close();
    await assert.rejects(disk.open('missing', { create: false }), { code: 'ENOENT' });
    await disk.close();
  });

  it('is one process at a time, whatever way the last one ended', async () => {
    const path = join(folder, 'locked');
    const first = await hold(path);
    assert.equal(first.said, 'held');
    const second = await hold(path);
    assert.match(second.said, new RegExp(`in use by another process \\(pid ${first.child.pid}\\)`));
    await assert.rejects(NodeDisk.open(path), FolderLockedError);
    first.child.kill('SIGSTOP');
    await assert.rejects(NodeDisk.open(path), FolderLockedError);
    first.child.kill('SIGKILL');
    await ended(first.child);
    const disk = await NodeDisk.open(path);
    await assert.rejects(NodeDisk.open(path), FolderLockedError);
    await disk.close();
  });

  it('is never two of many that come at once', async () => {
    const path = join(folder, 'crowd');
    await (await NodeDisk.open(path)).close();
    for (let round = 0; round < 2; round++) {
      const comers = await Promise.all(Array.from({ length: 5 }, () => hold(path)));
      const holders = comers.filter(({ said }) => said === 'held');
      assert.ok(holders.length <= 1, `${holders.length} hold the folder`);
      for (const { child } of comers) child.kill('SIGKILL');
      await Promise.all(comers.map(({ child }) => ended(child)));
    }
    await (await NodeDisk.open(path)).close();
  });

  it('takes folders with long paths', async () => {
    const path = join(folder, 'x'.repeat(90), 'y'.repeat(90));
    const disk = await NodeDisk.open(path);
    await assert.rejects(NodeDisk.open(path), FolderLockedError);
    await disk.close();
    await (await NodeDisk.open(path)).close();
  });
});
