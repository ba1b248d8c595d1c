/**
 * Users and permissions as a node's own journal has them: who may be let in to help before the node is in the cluster, when its wiring is
 * not in its tables yet.
 */
import type { ChunkStore } from '../../log/chunk-store.js';
import { EnqueueView } from '../../log/record.js';
import { AccessTables } from '../../model/access/access-tables.js';
import type { GroupState } from '../../model/group-state.js';
import { decodeObject } from '../../model/wiring/objects.js';
import { wiringIncarnation } from './system-group.js';

/** Objects looked at per turn. */
const slice = 2048;

/** With what their bodies begin. Most of the wiring is something else, which need not be read. */
const beginnings = ['user', 'permission', 'topicPermission', 'limits', 'founded'].map((kind) =>
  new TextEncoder().encode(`{"v":1,"kind":"${kind}"`),
);

export async function recoveredAccess(state: GroupState, chunks: ChunkStore): Promise<AccessTables> {
  const tables = new AccessTables();
  const view = new EnqueueView();
  const { index } = state.queue(wiringIncarnation)!;
  for (let above = 0; ; ) {
    const positions = index.positionsAscending(above, state.slices.size(slice));
    if (positions.length === 0) return tables;
    for (const position of positions) {
      const { chunk: id, offset } = index.find(position)!;
      const chunk = state.chunk(id);
      const read = (): void => {
        const { bytes, bodyStart, bodyLength } = view.set(chunk.bytes!, chunk.view!, offset);
        const body = bytes.subarray(bodyStart, bodyStart + bodyLength);
        const object = isOne(body) ? decodeObject(body) : undefined;
        if (object !== undefined) tables.add({ ...object, position } as Parameters<AccessTables['add']>[0]);
      };
      if (chunk.bytes !== undefined) read();
      else
        await new Promise<void>((resolve, reject) =>
          chunks.load(chunk, (error) => {
            if (error !== undefined) return reject(error);
            read();
            resolve();
          }),
        );
    }
    above = positions[positions.length - 1]!;
    await new Promise<void>((resolve) => state.slices.later(resolve));
  }
}

function isOne(body: Uint8Array): boolean {
  return beginnings.some((beginning) => beginning.every((byte, index) => body[index] === byte));
}
