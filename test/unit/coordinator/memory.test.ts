import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoordinatorUnavailableError, OutcomeUnknownError } from '../../../src/cluster/coordinator/coordinator.js';
import { directPath, MemoryCoordinator, type MemoryPath } from '../../../src/cluster/coordinator/memory.js';
import { coordinatorContract } from './contract.js';

coordinatorContract('memory', async () => {
  const store = new MemoryCoordinator('identity');
  return { open: async () => store.handle(), dispose: async () => {} };
});

test('memory: a path may fail a call, or lose the answer of a swap that was made', async () => {
  const store = new MemoryCoordinator('identity');
  let mode: 'down' | 'lost' | 'up' = 'down';
  const path: MemoryPath = {
    ...directPath,
    async call(kind, work) {
      if (mode === 'down') throw new CoordinatorUnavailableError('cut off');
      const result = await directPath.call(kind, work);
      if (mode === 'lost' && kind === 'swap') throw new OutcomeUnknownError('the answer was lost');
      return result;
    },
  };
  const handle = store.handle(path);
  const change = { key: 'x', expect: 0, value: '1' };
  await assert.rejects(handle.swap([change]), CoordinatorUnavailableError);
  mode = 'lost';
  await assert.rejects(handle.swap([change]), OutcomeUnknownError);
  mode = 'up';
  assert.equal((await handle.read('x')).length, 1);
});
