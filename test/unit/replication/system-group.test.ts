import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fullSlices } from '../../../src/base/slices.js';
import type { GroupReplica } from '../../../src/cluster/replication/group-replica.js';
import { SystemReplica, wiringIncarnation } from '../../../src/cluster/replication/system-group.js';
import { Chunk } from '../../../src/log/chunk.js';
import { encodeEnqueue, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { QueueIndex } from '../../../src/model/queue/queue-index.js';
import { encodeObject } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';

/** Writes the declaration of an exchange to `offset` of the chunk; returns its length. */
function declare(chunk: Chunk, offset: number, name: string): number {
  const parts = new MessageParts();
  parts.bodyBytes = encodeObject({
    kind: 'exchange',
    position: 0,
    vhost: '/',
    name,
    type: 'direct',
    durable: true,
    autoDelete: false,
    internal: false,
    arguments: {},
  });
  parts.bodyLength = parts.bodyBytes.length;
  const length = enqueueLength(parts, 1);
  encodeEnqueue(chunk.bytes!, chunk.view!, offset, parts, [wiringIncarnation], true, 0, 0);
  return length;
}

it('a declaration that a compaction moves while its chunk is read is found where it lies then', async () => {
  const chunks = [new Chunk(0, 0, new Uint8Array(4096)), new Chunk(1, 0, new Uint8Array(4096))];
  const [from, to] = chunks as [Chunk, Chunk];
  const index = new QueueIndex();
  index.add(5, from.id, 0, declare(from, 0, 'moved'), 0, true);
  declare(from, 1024, 'another');
  declare(to, 1024, 'moved');
  const { bytes, view } = from;
  from.bytes = undefined;
  const replica = {
    state: {
      observers: [],
      queue: () => ({ index }),
      chunk: (id: number) => chunks[id],
      slices: fullSlices((run) => run()),
    },
    context: {
      chunks: {
        load: (_chunk: Chunk, then: () => void) =>
          setImmediate(() => {
            from.bytes = bytes;
            from.view = view;
            index.move(index.find(5)!, to.id, 1024);
            then();
          }),
      },
    },
    log: { committed: 0 },
  } as unknown as GroupReplica;
  const tables = new WiringTables();
  await new SystemReplica(tables).attach(replica);
  assert.deepEqual(
    [...tables.objects()].map((object) => 'name' in object && object.name),
    ['moved'],
  );
});

it('nobody routes with tables that a restart, or a take-over, has not filled yet: what is not in them is no proof', async () => {
  const index = new QueueIndex();
  const chunk = new Chunk(0, 0, new Uint8Array(4096));
  index.add(5, 0, 0, declare(chunk, 0, 'late'), 0, true);
  const { bytes } = chunk;
  chunk.bytes = undefined;
  let read = (): void => {};
  const replica = {
    state: {
      observers: [],
      queue: () => ({ index }),
      chunk: () => chunk,
      slices: fullSlices((run) => run()),
    },
    context: {
      chunks: {
        load: (_chunk: Chunk, then: () => void) => {
          read = () => {
            chunk.bytes = bytes;
            then();
          };
        },
      },
    },
    log: { committed: 7 },
    joining: false,
    mustJoin: false,
    primary: undefined as { servesFrom: number; paused: boolean; epoch: number } | undefined,
  };
  const system = new SystemReplica(new WiringTables());
  assert.ok(!system.isCurrent);
  const attached = system.attach(replica as unknown as GroupReplica);
  assert.ok(!system.isCurrent, 'what recovery found is being read');
  read();
  await attached;
  assert.ok(system.isCurrent);
  replica.primary = { servesFrom: 9, paused: false, epoch: 1 };
  assert.ok(!system.isCurrent, 'what a new primary found is not committed yet');
  replica.log.committed = 9;
  assert.ok(system.isCurrent);
  for (const state of ['joining', 'mustJoin'] as const) {
    replica[state] = true;
    assert.ok(!system.isCurrent, state);
    replica[state] = false;
  }
});
