import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunkBytes } from '../../../src/log/chunk.js';
import { publish, queueWith, subscribe } from './service-support.js';

describe('a consumer that drains', () => {
  it('is told behind what there is for its credit', () => {
    const { primary, client, port } = queueWith({});
    publish(port, 1, 3, { durable: true });
    subscribe(port, 1, 2);
    port.drain(1);
    port.drain(5);
    primary.run();
    assert.deepEqual([client.bodies(), client.drainedSubscribers], [['m1', 'm2'], [1]]);
    port.grant(1, 5);
    port.drain(1);
    primary.run();
    assert.deepEqual([client.bodies(), client.drainedSubscribers], [['m3'], [1, 1]]);
  });

  it('waits for what is read back', () => {
    const { primary, client, port } = queueWith({});
    publish(port, 1, 1, { durable: true });
    primary.run();
    primary.log.reserve(chunkBytes);
    for (const chunk of primary.chunks.all.values()) if (chunk !== primary.log.chunk) primary.chunks.evict(chunk);
    subscribe(port, 1, 2);
    port.drain(1);
    primary.run();
    assert.equal(primary.chunks.loads, 1);
    assert.deepEqual(client.drainedSubscribers, []);
    primary.chunks.settleLoads();
    primary.run();
    assert.deepEqual([client.bodies(), client.drainedSubscribers], [['m1'], [1]]);
  });
});
