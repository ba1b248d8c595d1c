/** Everything that can grow has a limit, and says so; whatever comes, the server goes on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { Descriptor, Disposition, Open, ProtocolId, Transfer } from '../../../src/amqp10/codec/index.js';
import type { Limits } from '../../../src/amqp10/limits.js';
import { accepted, delivery, message } from '../../conformance/messages10.js';
import { Amqp10Host } from '../../fakes/amqp10-host.js';
import { RawClient } from '../../support/raw-client.js';
import { RawClient10 } from '../../support/raw-client10.js';
import { within } from '../../support/within.js';

const patienceMs = 5_000;

/** A client with a session, on a server with a queue `q`. */
async function withClient(
  limits: Partial<Limits>,
  body: (raw: RawClient10, host: Amqp10Host) => Promise<void>,
  open: Partial<Open> = {},
): Promise<void> {
  await using host = await Amqp10Host.start(limits);
  await host.queue('q');
  const raw = await RawClient10.open(host.port, open, patienceMs);
  await raw.begin();
  try {
    await body(raw, host);
  } finally {
    raw.end();
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const poll = async (): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };
  await within(patienceMs, what, poll());
}

describe('what a sender may do', () => {
  it('a transfer without credit detaches its link (§2.8.18)', async () => {
    await withClient({ linkCredit: 10 }, async (raw, { broker }) => {
      broker.holdConfirms = true;
      assert.equal((await raw.sender('/queues/q')).linkCredit, 10);
      for (let i = 0; i < 11; i++) raw.transfer(message('x'));
      // What is left of its credit, which is none.
      assert.equal((await raw.expect(Descriptor.flow)).linkCredit, 0);
      const { error } = await raw.expect(Descriptor.detach);
      assert.equal(error?.condition, 'amqp:link:transfer-limit-exceeded');
      assert.equal(broker.unconfirmed.length, 10);
    });
  });

  it('it gets no credit for what has no outcome yet', async () => {
    await withClient({ linkCredit: 10 }, async (raw, { broker }) => {
      broker.holdConfirms = true;
      await raw.sender('/queues/q');
      for (let i = 0; i < 8; i++) raw.transfer(message('x'));
      await until('they are published', () => broker.unconfirmed.length === 8);
      await raw.works();
      assert.ok(raw.isQuiet);
      broker.confirm();
      await raw.expect(Descriptor.disposition);
      const flow = await raw.expect(Descriptor.flow);
      assert.deepEqual([flow.deliveryCount, flow.linkCredit], [8, 10]);
    });
  });

  it('while the broker takes nothing links have no credit, and who sends all the same is not read', async () => {
    await withClient({ linkCredit: 100, gatedBytesMax: 1000 }, async (raw, { broker }) => {
      broker.gate.set('low on memory');
      raw.attachSender('/queues/q', { name: 'a' });
      await raw.expect(Descriptor.attach);
      await raw.works(5);
      assert.ok(raw.isQuiet);
      broker.gate.set('');
      assert.equal((await raw.expect(Descriptor.flow)).linkCredit, 100);
      broker.gate.set('low on memory');
      const large = message('y'.repeat(600));
      for (let i = 0; i < 30; i++) {
        raw.transfer(large, { settled: true });
        await new Promise((resolve) => setImmediate(resolve));
      }
      const queue = broker.queues.get('q')!;
      await until('some are taken', () => queue.readyCount >= 2);
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.ok(queue.readyCount < 30, `${queue.readyCount} were taken`);
      broker.gate.set('');
      await until('all are taken', () => queue.readyCount === 30);
    });
  });

  it('a message that is too large detaches its link, before all of it has come', async () => {
    await withClient({ messageBytesMax: 1000 }, async (raw, { broker }) => {
      await raw.sender('/queues/q');
      for (let i = 0; i < 3; i++) raw.transfer(new Uint8Array(400), { deliveryId: 0, more: true });
      const { error } = await raw.expect(Descriptor.detach);
      assert.equal(error?.condition, 'amqp:link:message-size-exceeded');
      assert.equal(broker.queues.get('q')!.readyCount, 0);
      await raw.works();
    });
  });

  it('unfinished messages of many links close the connection when they are too much together', async () => {
    await withClient({ partialBytesMax: 200_000 }, async (raw) => {
      for (let handle = 0; handle < 5; handle++) await raw.sender('/queues/q', { handle });
      for (let handle = 0; handle < 5; handle++) raw.transfer(new Uint8Array(10), { handle, more: true });
      const { error } = await raw.expect(Descriptor.close);
      assert.equal(error?.condition, 'amqp:resource-limit-exceeded');
    });
  });
});

describe('what a receiver may do', () => {
  it('a client that settles nothing gets no more at some point, and again when it has settled some', async () => {
    await withClient({ unsettledMax: 3 }, async (raw, { broker }) => {
      await raw.sender('/queues/q', { handle: 0 });
      for (let i = 0; i < 6; i++) raw.transfer(message(String(i)), { settled: true });
      await raw.receiver('/queues/q', 100, { handle: 1 });
      const ids: number[] = [];
      for (let i = 0; i < 3; i++) ids.push((await delivery(raw)).id);
      await raw.works();
      assert.ok(raw.isQuiet);
      raw.settle(ids[0]!, accepted);
      assert.equal((await delivery(raw)).text, '3');
      await raw.works(78);
      assert.ok(raw.isQuiet);
      assert.equal(broker.queues.get('q')!.held.size, 3);
    });
  });

  it('numbers that were never given settle nothing', async () => {
    await withClient({}, async (raw, { broker }) => {
      await raw.sender('/queues/q', { handle: 0 });
      raw.transfer(message('x'), { settled: true });
      await raw.receiver('/queues/q', 1, { handle: 1 });
      await delivery(raw);
      for (const [first, last] of [
        [1, 0xffff_ffff],
        [5, 3],
        [0x8000_0000, 0x8000_0005],
        [1, 0x7fff_ffff],
      ] as const)
        raw.send(0, Object.assign(new Disposition(), { role: true, first, last, settled: true, state: accepted }));
      await raw.works();
      assert.equal(broker.queues.get('q')!.held.size, 1);
      raw.settle(0, accepted, { last: 0x7fff_ffff });
      await until('it is settled', () => broker.queues.get('q')!.held.size === 0);
    });
  });
});

describe('sessions, links and connections', () => {
  it('are limited in number', async () => {
    await withClient({ allLinksMax: 2, allSessionsMax: 3 }, async (raw) => {
      for (let handle = 0; handle < 2; handle++) await raw.sender('/queues/q', { handle });
      raw.attachSender('/queues/q', { handle: 2 });
      assert.equal((await raw.expect(Descriptor.end)).error?.condition, 'amqp:resource-limit-exceeded');
      await raw.begin(1);
      await raw.begin(2);
      raw.send(3, Object.assign(new Open(), { containerId: 'x' }));
      await raw.expect(Descriptor.close);
    });
  });

  it('a handshake that takes too long ends', async () => {
    await using host = await Amqp10Host.start({ handshakeTimeoutMs: 50 });
    const raw = await RawClient10.dial(host.port);
    raw.header(ProtocolId.sasl);
    await within(patienceMs, 'the socket is closed', raw.closed);
    await until('it is forgotten', () => host.server.connectionCount === 0);
  });

  it('a client that says nothing is given up', async () => {
    await withClient({ idleTimeoutMs: 200 }, async (raw) => {
      assert.equal((await raw.expect(Descriptor.close)).error?.condition, 'amqp:resource-limit-exceeded');
      await within(patienceMs, 'the socket is closed', raw.closed);
    });
  });

  it('while older nodes are in the cluster, the port speaks 0-9-1 only', async () => {
    await using host = await Amqp10Host.start();
    host.broker.keepsAmqp10 = false;
    const raw = await RawClient10.dial(host.port);
    raw.header(ProtocolId.sasl);
    assert.equal((await raw.next()).header, '414d515000000901');
    await within(patienceMs, 'the socket is closed', raw.closed);
  });
});

describe('whatever comes', () => {
  it('costs a connection at most', async () => {
    await using host = await Amqp10Host.start();
    await host.queue('q');
    const transfer = Object.assign(new Transfer(), { handle: 0, deliveryId: 0, deliveryTag: new Uint8Array(1) });
    const sample = await RawClient10.open(host.port, {}, patienceMs);
    sample.frames.performative(0, transfer);
    sample.frames.output.raw(message('x'));
    const bytes = sample.frames.output.take().slice();
    new DataView(bytes.buffer).setUint32(0, bytes.length);
    sample.end();
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }).map((changes) => {
        const copy = bytes.slice();
        for (const [at, octet] of changes) copy[at] = octet;
        return copy;
      }),
    );
    await fc.assert(
      fc.asyncProperty(garbage, async (hostile) => {
        const raw = await RawClient10.open(host.port, {}, patienceMs);
        await raw.begin();
        await raw.sender('/queues/q');
        raw.socket.write(hostile);
        raw.socket.end();
        await within(patienceMs, 'the socket is closed', raw.closed);
      }),
      { numRuns: 60 },
    );
    const raw = await RawClient10.open(host.port, {}, patienceMs);
    await raw.works();
    raw.end();
    const other = await RawClient.open(host.port);
    other.end();
  });

  it('may be split anywhere, from the first header on', async () => {
    await using host = await Amqp10Host.start();
    const sample = await RawClient10.open(host.port, {}, patienceMs);
    sample.end();
    for (const size of [1, 3, 7, 9]) {
      const raw = await RawClient10.dial(host.port);
      raw.patienceMs = patienceMs;
      const write = raw.socket.write.bind(raw.socket);
      raw.socket.write = ((bytes: Uint8Array) => {
        for (let at = 0; at < bytes.length; at += size) write(bytes.slice(at, at + size));
        return true;
      }) as never;
      await raw.logIn();
      raw.send(0, Object.assign(new Open(), { containerId: 'c' }));
      await raw.expect(Descriptor.open);
      await raw.works();
      raw.end();
    }
  });
});
