import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { localSecret } from '../../../src/cluster/coordinator/local-folder.js';
import { processRandom } from '../../../src/process/random.js';

test('brokers that start at the same time have one secret, for the eyes of its owner only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'understudy-secret-'));
  try {
    const path = join(folder, 'coordinator');
    const secrets = await Promise.all(Array.from({ length: 8 }, () => localSecret(path, processRandom)));
    assert.match(secrets[0]!, /^[0-9a-f]{64}$/);
    assert.equal(new Set(secrets).size, 1);
    assert.equal(await localSecret(path, processRandom), secrets[0]);
    assert.equal((await stat(join(path, 'secret'))).mode & 0o777, 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
});
