/** Sockets that stay and say nothing sensible, on each of a broker's ports. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { callApi } from '../../src/cli/api-client.js';
import { fill } from '../support/attacks/readers.js';
import { dialMany, garbage } from '../support/attacks/sockets.js';
import { LoneBroker } from '../support/lone-broker.js';
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

  it('and requests that are cut off are no faults of the broker', async () => {
    await using broker = await LoneBroker.start();
    const login = Buffer.from('guest:guest').toString('base64');
    const head =
      'PUT /api/policies/%2F/p HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000';
    for (let i = 0; i < 20; i++) {
      const socket = connect(broker.httpPort, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`${head}\r\nauthorization: Basic ${login}\r\n\r\n{"pattern":`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      socket.destroy();
    }
    const health = await callApi(new URL(`http://127.0.0.1:${broker.httpPort}`), 'GET', '/api/health');
    assert.equal((health as { status: string }).status, 'ok');
    assert.deepEqual(broker.loggedErrors, []);
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
