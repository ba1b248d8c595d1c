import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Bodies } from '../../../src/cluster/client/bodies.js';
import type { ServiceControl } from '../../../src/cluster/client/tie.js';

it('an upload whose message the primary has, confirmed or not, is over to the next primary; others are not', () => {
  const said: [number, readonly number[]][] = [];
  const port = {
    taken: 0,
    openUploads: (last: number, open: readonly number[]) => void said.push([last, open]),
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
  Object.assign(port, { taken: 20 });
  bodies.attached();
  assert.deepEqual(said, [[going, [3, going]]]);
});
