/** Members of etcd are killed and frozen under compare-and-sets: each is made once or not at all, and they soon go on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../../src/cluster/coordinator/coordinator.js';
import { CountingBroker, sumKey } from '../support/counting-broker.js';
import { EtcdProcesses } from '../support/etcd-processes.js';
import { openEtcd } from '../support/open-etcd.js';
import { eventually } from '../unit/coordinator/contract.js';

const brokers = 3;
const progressMsMax = 5000;

type Fault = 'kill' | 'freeze';

test('members killed and frozen, the leader too: no update is lost, none is made twice', {
  timeout: 60_000,
}, async (t) => {
  await using etcd = await EtcdProcesses.start();
  const handles = Array.from({ length: brokers }, () => openEtcd(t, etcd.endpoints));
  const seen = handles.map(() => new Map<string, Entry>());
  handles.forEach((handle, i) => {
    handle.watch('', (entries) => {
      for (const entry of entries) {
        assert.ok(entry.version > (seen[i]!.get(entry.key)?.version ?? 0), 'in order');
        seen[i]!.set(entry.key, entry);
      }
    });
  });
  const counting = handles.map((handle, i) => new CountingBroker(handle, `n${i}`));
  const progress = (): Promise<unknown> => Promise.all(counting.map((broker) => broker.more(3, progressMsMax)));
  await progress();
  for (const fault of ['kill', 'freeze'] as const) {
    for (const victim of ['leader', 'follower'] as const) {
      const began = performance.now();
      const member = await strike(etcd, fault, victim);
      await progress();
      t.diagnostic(`${fault} ${victim}: all go on after ${(performance.now() - began).toFixed()} ms`);
      await heal(etcd, fault, member);
      await progress();
    }
  }
  await Promise.all(counting.map((broker) => broker.stop()));
  const final = new Map((await handles[0]!.read('')).map((entry) => [entry.key, entry]));
  for (const broker of counting) {
    assert.equal(Number(final.get(broker.key)!.value), broker.count);
    const { key, count, unknown, unavailable, longestGapMs } = broker;
    t.diagnostic(`${key}: ${count} made, ${unknown} unknown, ${unavailable} unavailable, ${longestGapMs.toFixed()} ms`);
  }
  const versions = counting.flatMap((broker) => broker.versions);
  assert.equal(new Set(versions).size, versions.length, 'no two swaps made the same version');
  assert.equal(
    Number(final.get(sumKey)!.value),
    counting.reduce((sum, broker) => sum + broker.count, 0),
  );
  for (const map of seen) {
    await eventually('every watch has caught up', () =>
      [...final].every(([key, entry]) => map.get(key)?.version === entry.version),
    );
  }
});

async function strike(etcd: EtcdProcesses, fault: Fault, victim: 'leader' | 'follower'): Promise<number> {
  const leader = await etcd.leader();
  const member = victim === 'leader' ? leader : (leader + 1) % etcd.count;
  if (fault === 'kill') await etcd.kill(member);
  else etcd.freeze(member);
  return member;
}

async function heal(etcd: EtcdProcesses, fault: Fault, member: number): Promise<void> {
  if (fault === 'kill') await etcd.start(member);
  else etcd.thaw(member);
}
