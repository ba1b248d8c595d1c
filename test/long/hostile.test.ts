/** Hostile clients in numbers that take their time: what test/integration does in small. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConnectionClose } from '../../src/amqp091/codec/index.js';
import { defaultLimits } from '../../src/amqp091/limits.js';
import { openFilesMax } from '../../src/process/open-files.js';
import { RawClient } from '../support/raw-client.js';
import type { RawClient10 } from '../support/raw-client10.js';
import { defaultLimits as limits10 } from '../../src/amqp10/limits.js';
import * as attacks10 from '../support/attacks/amqp10.js';
import * as floods from '../support/attacks/floods.js';
import * as readers from '../support/attacks/readers.js';
import * as sockets from '../support/attacks/sockets.js';
import { mebibyte, Target } from '../support/target.js';

const connections = 10_000;
/** Besides the connections: of the test, and of the broker. */
const otherFiles = 1000;

function assertOpenFiles(): void {
  const max = openFilesMax();
  assert.ok(max >= connections + otherFiles, `this test needs ulimit -n ${connections + otherFiles}, it is ${max}`);
}

describe('a broker under heavy attack', () => {
  it(`survives ${connections} half-open connections`, async () => {
    assertOpenFiles();
    await using target = await Target.start();
    await target.survives(() => sockets.halfOpen(target.port, connections), { growthBytesMax: 200 * mebibyte });
  });

  it(`serves ${connections} connections`, async () => {
    assertOpenFiles();
    await using target = await Target.start();
    await target.survives(
      async () => {
        const clients: RawClient[] = [];
        for (let at = 0; at < connections; at += 100)
          clients.push(...(await Promise.all(Array.from({ length: 100 }, () => RawClient.open(target.port)))));
        for (const client of clients) client.end();
      },
      { growthBytesMax: 500 * mebibyte },
    );
  });

  it('survives a flood of channels up to the limit of all', async () => {
    await using target = await Target.start();
    await target.survives(
      () => floods.channels(target.port, Math.floor(defaultLimits.allChannelsMax / defaultLimits.channelMax)),
      { growthBytesMax: 600 * mebibyte },
    );
  });

  it('survives 20,000 queues that come and go', async () => {
    await using target = await Target.start();
    await target.survives(() => floods.queues(target.port, 20_000), { growthBytesMax: 300 * mebibyte });
  });

  it('ends whoever holds most of the bodies that never end', async () => {
    await using target = await Target.start();
    await target.survives(
      async () => {
        const clients = await floods.unfinishedBodies(target.port, 8, 100 * mebibyte);
        const closed = clients.filter(({ received }) =>
          received.some(({ method }) => method instanceof ConnectionClose),
        );
        assert.ok(closed.length >= 2 && closed.length < clients.length, `${closed.length} were closed`);
        for (const client of clients) client.end();
      },
      { growthBytesMax: 1000 * mebibyte },
    );
  });

  it('survives consumers of a large backlog of large messages that never read', async () => {
    await using target = await Target.start({ options: ['--memory', '64MiB'] });
    const { port } = target;
    await readers.fill(port, 'big', 30, 60_000_000);
    await readers.fill(port, 'small', 500_000, 1000);
    for (const noAck of [false, true]) {
      await target.survives(
        async () => {
          await readers.deafConsumers(port, 'big', 2, { noAck, prefetch: 0 }, 10_000);
          await readers.deafConsumers(port, 'small', 100, { noAck, prefetch: 0 }, 10_000);
        },
        { growthBytesMax: 500 * mebibyte },
      );
    }
    await target.survives(() => readers.deafPublisher(port, 'small', 10, 20_000), { growthBytesMax: 300 * mebibyte });
  });

  it('has as many links of AMQP 1.0 as it may, and refuses one more', async () => {
    await using target = await Target.start();
    await readers.fill(target.port, 'small', 1, 10);
    await target.survives(
      async () => {
        const { allLinksMax, handleMax } = limits10;
        const connections = 8;
        const clients: RawClient10[] = [];
        for (let i = 0; i < connections; i++)
          clients.push(await attacks10.links(target.port, 'small', allLinksMax / connections, handleMax + 1));
        await assert.rejects(() => attacks10.links(target.port, 'small', 1, 1), /resource-limit-exceeded/);
        for (const client of clients) client.end();
      },
      { growthBytesMax: 700 * mebibyte },
    );
  });

  it('keeps transactions that are never discharged within what a connection may hold', async () => {
    await using target = await Target.start();
    await readers.fill(target.port, 'small', 1, 10);
    await target.survives(async () => (await attacks10.undischarged(target.port, 'small', 600 * mebibyte)).end(), {
      growthBytesMax: 600 * mebibyte,
    });
  });

  it('serves clients of AMQP 1.0 that settle nothing', async () => {
    await using target = await Target.start({ options: ['--memory', '64MiB'] });
    await readers.fill(target.port, 'small', 300_000, 100);
    await target.survives(async () => (await attacks10.unsettling(target.port, 'small', 300_000)).end(), {
      growthBytesMax: 300 * mebibyte,
    });
  });
});
