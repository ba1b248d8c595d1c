/** Sockets that stay and say nothing sensible, on each of a broker's ports. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fill } from '../support/attacks/readers.js';
import { dialMany, garbage } from '../support/attacks/sockets.js';
import { Seeded } from '../support/seeded.js';
import { mebibyte, Target } from '../support/target.js';

const growthBytesMax = 200 * mebibyte;

describe('sockets that only stay', () => {
  it('leave a broker that may have few files open those that its journal needs', async () => {
    await using target = await Target.start({ openFiles: 512 });
    const { broker } = target;
    const ports = [broker.port, broker.httpPort];
    await target.survives(
      async () => {
        const sockets = (await Promise.all(ports.map((port) => dialMany(port, 600)))).flat();
        // More than a segment.
        await fill(broker.port, 'filled', 80, 1_000_000);
        for (const socket of sockets) socket.destroy();
      },
      { growthBytesMax },
    );
    const segments = (await readdir(broker.data)).filter((name) => name.endsWith('.seg'));
    assert.ok(segments.length > 1, String(segments));
  });

  it('takes no harm on the port for other brokers', async () => {
    await using target = await Target.start({ isNode: true });
    const { clusterPort } = target.broker;
    const random = new Seeded(2);
    await target.survives(
      async () => {
        const silent = await dialMany(clusterPort, 500);
        await garbage(clusterPort, 50, () => random.int(256));
        for (const socket of silent) socket.destroy();
      },
      { growthBytesMax },
    );
  });
});
