import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeOpen } from '../../../src/log/record.js';
import { group, queue, TestReplica } from './bench.js';

const self = { node: 'a', store: 'a', boot: 1 };
const other = { node: 'b', store: 'b', boot: 2 };

describe('a primary that is replaced', () => {
  for (const [what, inSync, mustJoin] of [
    ['may lead again if it gave its group away and is in sync still', [self, other], false],
    ['joins if it was taken out', [other], true],
  ] as const)
    it(`${what}, though it had something that did not commit`, async () => {
      const bench = await TestReplica.start();
      const { replica } = bench;
      const record = { group, epoch: 1, primary: self, inSync: [self, other], replicas: ['a', 'b'] };
      replica.recordChanged({ version: 1, value: record });
      const { primary } = replica;
      primary!.paused = true;
      const open = encodeOpen(queue, queue, { durable: true });
      primary!.reserve(open.length);
      primary!.chunk.bytes!.set(open, primary!.offset);
      primary!.append(open.length);
      primary!.flush();
      assert.ok(replica.log.end > replica.log.committed);
      replica.recordChanged({ version: 2, value: { ...record, epoch: 2, primary: other, inSync: [...inSync] } });
      assert.equal(replica.primary, undefined);
      assert.equal(replica.log.end > replica.log.committed, !mustJoin);
      assert.equal(replica.mustJoin, mustJoin);
      await bench.close();
    });
});
