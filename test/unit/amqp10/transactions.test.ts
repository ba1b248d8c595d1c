/** Transactions and settlements whose ends a test decides. The rules one by one: test/conformance. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusal, RefusedError } from '../../../src/base/errors.js';
import { Descriptor, Rejected } from '../../../src/amqp10/codec/index.js';
import type { Limits } from '../../../src/amqp10/limits.js';
import { accepted, delivery, message } from '../../conformance/messages10.js';
import {
  commit,
  coordinator,
  declare,
  discharge,
  post,
  rejection,
  sendDischarge,
  told,
  within,
} from '../../conformance/transactions10.js';
import { Amqp10Host } from '../../fakes/amqp10-host.js';
import { RawClient10 } from '../../support/raw-client10.js';

const patienceMs = 5_000;

async function withClient(
  limits: Partial<Limits>,
  body: (raw: RawClient10, host: Amqp10Host) => Promise<void>,
): Promise<void> {
  await using host = await Amqp10Host.start(limits);
  await host.queue('q');
  const raw = await RawClient10.open(host.port, {}, patienceMs);
  await raw.begin();
  try {
    await body(raw, host);
  } finally {
    raw.end();
  }
}

describe('a transaction', () => {
  it('is answered when it is safe', async () => {
    await withClient({}, async (raw, { broker }) => {
      await coordinator(raw);
      await raw.sender('/queues/q');
      const txn = await declare(raw);
      await post(raw, txn, 'a');
      broker.transactions.holds = true;
      const id = sendDischarge(raw, txn, false);
      await raw.works();
      assert.ok(raw.isQuiet);
      broker.transactions.answer();
      assert.equal((await told(raw, id)).state?.descriptor, Descriptor.accepted);
    });
  });

  it('that is done in part is not said to be rolled back', async () => {
    await withClient({}, async (raw, { broker }) => {
      await coordinator(raw);
      await raw.sender('/queues/q');
      const txn = await declare(raw);
      await post(raw, txn, 'a');
      broker.transactions.holds = true;
      const id = sendDischarge(raw, txn, false);
      await raw.works();
      broker.transactions.answer(new RefusedError(Refusal.preconditionFailed, 'partial tx completion'));
      rejection((await told(raw, id)).state, 'amqp:precondition-failed', /partial/);
    });
  });

  it('whose coordinator link ends before its commit has begun is given up', async () => {
    await withClient({}, async (raw, { broker }) => {
      await coordinator(raw);
      await raw.sender('/queues/q');
      await raw.receiver('/queues/q', 5, { handle: 1 });
      raw.transfer(message('held'));
      const { id } = await delivery(raw);
      await raw.expect(Descriptor.disposition);
      const txn = await declare(raw);
      raw.settle(id, within(txn, accepted));
      await post(raw, txn, 'a');
      broker.transactions.postpones = true;
      sendDischarge(raw, txn, false);
      raw.sendBody(0, '00 53 16 c0 04 02 52 09 41');
      await raw.expect(Descriptor.detach);
      const [transaction] = broker.transactions.begun;
      assert.deepEqual([transaction!.isAbandoned, transaction!.messages.length], [true, 0]);
      // What the client had settled in it comes again.
      assert.equal((await delivery(raw)).text, 'held');
    });
  });

  it('has so many publishes and settlements at most', async () => {
    await withClient({ transactionSizeMax: 3 }, async (raw) => {
      await coordinator(raw);
      await raw.sender('/queues/q');
      const txn = await declare(raw);
      for (let i = 0; i < 3; i++) assert.equal((await post(raw, txn, 'a')).descriptor, Descriptor.accepted);
      rejection(await post(raw, txn, 'a'), 'amqp:transaction:rollback', /3 publishes/);
      rejection(await discharge(raw, txn), 'amqp:transaction:rollback', /3 publishes/);
      const next = await declare(raw);
      await post(raw, next, 'b');
      await commit(raw, next);
    });
  });

  it('counts with all that its connection holds: one that is too much can only be rolled back', async () => {
    await withClient({ partialBytesMax: 300_000 }, async (raw) => {
      await coordinator(raw);
      await raw.sender('/queues/q');
      const [first, second, third] = [await declare(raw), await declare(raw), await declare(raw)];
      for (const txn of [first, second]) await post(raw, txn, 'x'.repeat(100_000));
      rejection(await post(raw, third, 'x'.repeat(110_000)), 'amqp:transaction:rollback', /hold more than 300000/);
      rejection(await discharge(raw, third), 'amqp:transaction:rollback', /hold more than 300000/);
      for (const txn of [first, second]) await commit(raw, txn);
    });
  });

  it('leaves nothing behind when it is over', async () => {
    await withClient({ partialBytesMax: 150_000 }, async (raw) => {
      await coordinator(raw);
      await raw.sender('/queues/q');
      for (let i = 0; i < 6; i++) {
        const txn = await declare(raw);
        await post(raw, txn, 'x'.repeat(100_000));
        const state = await discharge(raw, txn, i % 2 === 0);
        assert.equal(state?.descriptor, Descriptor.accepted);
      }
    });
  });
});

describe('a receiver that settles second', () => {
  it('is answered when its acknowledgements are safe, in whichever order that is', async () => {
    await withClient({}, async (raw, { broker }) => {
      await raw.sender('/queues/q');
      await raw.receiver('/queues/q', 5, { handle: 1, rcvSettleMode: 1 });
      for (let i = 0; i < 4; i++) raw.transfer(message(String(i)), { settled: true });
      for (let i = 0; i < 4; i++) await delivery(raw);
      const queue = broker.queues.get('q')!;
      queue.unsafe = [];
      raw.settle(0, accepted, { last: 2, settled: false });
      raw.settle(3, new Rejected(), { settled: false });
      await raw.works();
      assert.ok(raw.isQuiet);
      const [first, second, third, last] = queue.unsafe;
      third!();
      last!();
      first!();
      const ours = [await raw.expect(Descriptor.disposition), await raw.expect(Descriptor.disposition)];
      ours.push(await raw.expect(Descriptor.disposition));
      assert.deepEqual(
        ours.map((one) => [one.role, one.settled, one.first, one.last, one.state?.descriptor]),
        [
          [false, true, 0, 0, Descriptor.accepted],
          [false, true, 2, 2, Descriptor.accepted],
          [false, true, 3, 3, Descriptor.rejected],
        ],
      );
      second!();
      assert.equal((await raw.expect(Descriptor.disposition)).first, 1);
    });
  });
});
