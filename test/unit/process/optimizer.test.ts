import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { inlineFlags } from '../../../src/process/optimizer.js';

test('what is asked of V8 is known to the one that runs', () => {
  const { status, stderr } = spawnSync(process.execPath, [...inlineFlags, '-e', ''], { encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});
