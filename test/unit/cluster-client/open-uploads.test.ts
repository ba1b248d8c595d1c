import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Bodies } from '../../../src/cluster/client/bodies.js';
import type { ServiceControl } from '../../../src/cluster/client/tie.js';

it('the next primary is told of uploads that are not known to be over, with the publish that ends each', () => {
  const said: [number, [number, number][]][] = [];
  const port = {
    openUploads: (last: number, open: ReadonlyMap<number, number>) => void said.push([last, [...open]]),
  } as Partial<ServiceControl> as ServiceControl;
  const client = { port, confirmedSequence: 0, lastSequence: 0 };
  const bodies = new Bodies(client);
  const sequences = [10, 20, 30];
  for (const sequence of sequences) {
    const upload = bodies.newUpload();
    client.lastSequence = sequence;
    bodies.uploadEnded(upload);
  }
  const going = bodies.newUpload();
  client.confirmedSequence = 10;
  bodies.attached();
  const still: [number, number][] = [
    [2, 20],
    [3, 30],
    [going, Number.POSITIVE_INFINITY],
  ];
  assert.deepEqual(said, [[going, still]]);
});
