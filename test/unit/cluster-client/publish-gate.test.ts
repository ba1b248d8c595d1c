import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import {
  type GateSource,
  healthSource,
  journalSource,
  memorySource,
  outboxSource,
  SourcesGate,
} from '../../../src/cluster/client/publish-gate.js';
import { OutboxMemory } from '../../../src/cluster/client/publish-outbox.js';
import type { JournalState } from '../../../src/log/journal.js';
import { World } from './world.js';

async function gateOver(...sources: GateSource[]): Promise<{ world: World; gate: SourcesGate; heard: string[] }> {
  const world = new World();
  const [node] = await world.start(['a']);
  const gate = new SourcesGate(sources, node!.clock, silentLogger);
  const heard: string[] = [];
  gate.onChange((reason) => heard.push(reason));
  return { world, gate, heard };
}

describe('publish gate', () => {
  it('closes above the bound, while publishing, and opens again at half of it, by itself', async () => {
    const memory = new OutboxMemory();
    const { world, gate, heard } = await gateOver(outboxSource(memory, 1000));
    memory.bytes = 1001;
    gate.published(100);
    assert.equal(gate.closed, '');
    gate.published(100_000);
    assert.equal(gate.closed, 'messages wait for a primary on another node');
    memory.bytes = 501;
    await world.run(50);
    assert.notEqual(gate.closed, '');
    memory.bytes = 500;
    await world.run(50);
    assert.deepEqual(heard, ['messages wait for a primary on another node', '']);
  });

  it('says why: memory, disk, the state of the node', async () => {
    const journal = { pendingBytes: 0, state: 'ok' as JournalState, reason: 'nothing left' };
    const chunks = { residentBytes: 0, budgetBytes: 100 };
    let stop = '';
    const health = { publishStop: () => stop, onChange: () => {} };
    const { gate, heard } = await gateOver(healthSource(health), journalSource(journal, 10), memorySource(chunks));
    const steps = [
      () => (chunks.residentBytes = 126),
      () => (chunks.residentBytes = 111),
      () => (chunks.residentBytes = 110),
      () => (journal.pendingBytes = 11),
      () => (journal.state = 'full'),
      () => (stop = 'the lease is lost'),
      () => (stop = ''),
      () => (journal.state = 'failed'),
    ];
    for (const step of steps) {
      step();
      gate.check();
    }
    assert.deepEqual(heard, [
      'low on memory',
      '',
      'the disk is slower than the publishers',
      'low on disk: nothing left',
      'the lease is lost',
      'low on disk: nothing left',
      'the disk has failed',
    ]);
    gate.close();
  });
});
