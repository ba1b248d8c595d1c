/** Clients that want too much, against a real broker: they are stopped at its limits, and nobody else notices. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { request } from './support/http.js';
import * as floods from '../support/attacks/floods.js';
import * as readers from '../support/attacks/readers.js';
import * as sockets from '../support/attacks/sockets.js';
import { Seeded } from '../support/seeded.js';
import { mebibyte, Target } from '../support/target.js';

describe('a broker under attack', () => {
  let target: Target;
  let slowOnesEnd: () => Promise<void>;
  before(async () => {
    target = await Target.start({ options: ['--memory', '32MiB'] });
    slowOnesEnd = await sockets.slowHandshakes(target.port, 100);
  });
  after(() => target[Symbol.asyncDispose]());

  it('survives 2,000 half-open connections', async () => {
    await target.survives(() => sockets.halfOpen(target.port, 2000), { growthBytesMax: 100 * mebibyte });
  });

  it('answers what is no AMQP with its header and a closed socket', async () => {
    const random = new Seeded(1);
    await target.survives(
      async () => {
        await sockets.notAmqp(target.port);
        await sockets.garbage(target.port, 50, () => random.int(256));
      },
      { growthBytesMax: 50 * mebibyte },
    );
  });

  it('survives floods of channels, consumers and queues', async () => {
    await target.survives(
      async () => {
        await floods.channels(target.port, 5);
        await floods.consumers(target.port, 10_000);
        await floods.queues(target.port, 300);
        const args = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`argument-${i}`, 'value']));
        await floods.queues(target.port, 20, args);
      },
      { growthBytesMax: 150 * mebibyte },
    );
  });

  it('keeps no memory for bodies that are only announced, and little more than what has come of others', async () => {
    await target.survives(() => floods.hugeAnnouncements(target.port), { growthBytesMax: 50 * mebibyte });
    await target.survives(
      async () => {
        for (const client of await floods.unfinishedBodies(target.port, 2, 20 * mebibyte)) client.end();
      },
      { growthBytesMax: 150 * mebibyte },
    );
  });

  it('survives consumers and publishers that never read', async () => {
    const { port } = target;
    await readers.fill(port, 'small', 30_000, 1000);
    await readers.fill(port, 'big', 12, 8_000_000);
    await target.survives(
      async () => {
        await readers.deafConsumers(port, 'small', 20, { noAck: false, prefetch: 0 }, 500);
        await readers.deafConsumers(port, 'big', 3, { noAck: false, prefetch: 100 }, 500);
        await readers.deafGetter(port, 'small', 500);
        await readers.deafConsumers(port, 'big', 1, { noAck: true, prefetch: 0 }, 500);
        await readers.deafPublisher(port, 'small', 10, 1000);
        await readers.deafPublisher(port, 'nowhere', 100_000, 500);
      },
      { growthBytesMax: 200 * mebibyte },
    );
  });

  it('still answers HTTP after garbage on that port', async () => {
    const { httpPort } = target.broker;
    await sockets.garbage(httpPort, 50, () => 0xff);
    assert.equal((await request(`http://127.0.0.1:${httpPort}/api/cluster`)).status, 200);
  });

  it('cuts off handshakes that are too slow', async () => {
    await slowOnesEnd();
  });
});

it('a broker goes on while many publish without end, what leads nowhere or into a queue', async () => {
  await using target = await Target.start({ options: ['--memory', '64MiB'] });
  const { port } = target;
  await readers.fill(port, 'flooded', 1, 10);
  // The memory for messages, as much on its way to the disk, what 200 sockets have brought, and what is garbage: on a machine that does
  // nothing else 250 MiB were seen.
  for (const queue of ['nowhere', 'flooded'])
    await target.survives(() => floods.publishers(port, 200, queue, 4000), { growthBytesMax: 350 * mebibyte });
});
