/** Transactions of AMQP 1.0, and what clients say of what they give back, while the primaries of their queues are killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as amqp from 'amqplib';
import {
  Declare,
  Descriptor,
  Discharge,
  type Disposition,
  MapValue,
  Modified,
  symbol,
  textOf,
} from '../../src/amqp10/codec/index.js';
import { accepted, delivery, message, read } from '../conformance/messages10.js';
import { control, coordinator, order, within as inside } from '../conformance/transactions10.js';
import type { NodeProcess } from '../support/node-process.js';
import { RawClient10 } from '../support/raw-client10.js';
import { withCluster } from '../support/with-cluster.js';

const messages = 200;
const numbers = Array.from({ length: messages }, (_, i) => String(i));

async function clientOf(node: NodeProcess): Promise<RawClient10> {
  const raw = await RawClient10.open(node.ports.amqp, {}, 30_000);
  await raw.begin(0, { incomingWindow: 100_000 });
  return raw;
}

/** Takes some messages at a time and publishes two for each, in a transaction; every seventh is rolled back first. */
class Mover {
  moved = 0;
  private readonly raw: RawClient10;
  private readonly held: { id: number; text: string }[] = [];

  constructor(raw: RawClient10) {
    this.raw = raw;
  }

  async run(): Promise<void> {
    const { raw } = this;
    await coordinator(raw);
    await raw.sender('/queues/out', { handle: 0 });
    await raw.receiver('/queues/in', messages * 2, { handle: 1 });
    for (let round = 0; this.moved < messages; round++) {
      while (this.held.length === 0) await this.next();
      const some = this.held.splice(0, 1 + (round % 5));
      if (round % 7 === 6) await this.discharge(some, true);
      await this.discharge(some, false);
      this.moved += some.length;
    }
  }

  /** Deliveries stay ours over a rollback, since they are not settled. */
  private async discharge(some: readonly { id: number; text: string }[], fail: boolean): Promise<void> {
    const { raw } = this;
    const declared = await this.outcomeOf(raw.transfer(order(new Declare()), { handle: control }));
    assert.equal(declared.state?.descriptor, Descriptor.declared);
    const { txnId } = declared.state as { txnId: Uint8Array };
    for (const { id, text } of some) {
      raw.settle(id, inside(txnId, accepted), { settled: false });
      for (const half of ['a', 'b']) await this.outcomeOf(raw.transfer(message(text + half), { state: inside(txnId) }));
    }
    const discharge = order(Object.assign(new Discharge(), { txnId, fail }));
    const { state } = await this.outcomeOf(raw.transfer(discharge, { handle: control }));
    assert.equal(state?.descriptor, Descriptor.accepted, JSON.stringify(state));
  }

  private async outcomeOf(id: number): Promise<Disposition> {
    for (;;) {
      const told = await this.next();
      if (told !== undefined && told.role && told.first <= id && (told.last ?? told.first) >= id) return told;
    }
  }

  /** The next frame: a delivery is kept. */
  private async next(): Promise<Disposition | undefined> {
    const { body, payload } = await this.raw.next();
    if (body?.descriptor === Descriptor.transfer) this.held.push({ id: body.deliveryId!, text: read(payload).text });
    else if (body?.descriptor === Descriptor.disposition) return body;
    else if (body !== undefined) assert.equal(body.descriptor, Descriptor.flow, JSON.stringify(body));
    return undefined;
  }
}

async function consumed(node: NodeProcess, queue: string, count: number): Promise<string[]> {
  const raw = await clientOf(node);
  await raw.receiver(`/queues/${queue}`, count + 1);
  const texts: string[] = [];
  while (texts.length < count) texts.push((await delivery(raw)).text);
  if (count > 0) raw.settle(0, accepted, { last: count - 1, settled: false });
  // We are told when it is safe.
  for (let told = 0; told < count; ) {
    const { first, last = first } = await raw.expect(Descriptor.disposition);
    told += last - first + 1;
  }
  await raw.works();
  assert.ok(raw.isQuiet, `more comes of ${queue}`);
  raw.end();
  return texts;
}

test('transactions of AMQP 1.0, and what clients note of messages, while primaries are killed', {
  timeout: 90_000,
}, async (t) => {
  await withCluster([], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    const connection = await amqp.connect(n1.amqpUrl);
    const channel = await connection.createConfirmChannel();
    for (const queue of ['in', 'out']) await channel.assertQueue(queue, { durable: true });
    const limited = { 'x-queue-type': 'quorum', 'x-delivery-limit': 1 };
    await channel.assertQueue('noted', { durable: true, arguments: limited });
    for (const text of numbers) channel.sendToQueue('in', Buffer.from(text), { persistent: true });
    channel.sendToQueue('noted', Buffer.from('note'), { persistent: true });
    await channel.waitForConfirms();
    await connection.close();
    const noting = await clientOf(n3);
    await noting.receiver('/queues/noted', 1);
    const messageAnnotations = new MapValue([[symbol('x-note'), 'kept']]);
    noting.settle((await delivery(noting)).id, Object.assign(new Modified(), { messageAnnotations }));
    const moverClient = await clientOf(n3);
    const mover = new Mover(moverClient);
    const run = mover.run();
    let kills = 0;
    for (const queue of ['in', 'noted']) {
      const until = ((kills + 1) * messages) / 4;
      while (mover.moved < until) await Promise.race([run, new Promise((resolve) => setTimeout(resolve, 5))]);
      const primary = (await cluster.leaderOf(queue))!;
      if (primary === n3) continue;
      await primary.kill();
      kills++;
      await cluster.untilReplaced(queue, primary);
      await primary.start();
      await cluster.untilComplete();
    }
    t.diagnostic(`${kills} primaries killed, ${mover.moved} messages moved so far`);
    assert.ok(kills > 0);
    await run;
    noting.flow({ handle: 0, deliveryCount: 1, linkCredit: 1 });
    const note = await delivery(noting);
    assert.deepEqual([note.text, textOf(note.view.keptAnnotations().get('x-note'))], ['note', 'kept']);
    // It did not count: it may still fail once.
    noting.settle(note.id, Object.assign(new Modified(), { deliveryFailed: true }));
    noting.flow({ handle: 0, deliveryCount: 2, linkCredit: 1 });
    assert.equal((await delivery(noting)).text, 'note');
    moverClient.end();
    const expected = numbers.flatMap((n) => [`${n}a`, `${n}b`]);
    assert.deepEqual((await consumed(n2, 'out', expected.length)).sort(), expected.sort());
    assert.deepEqual(await consumed(n1, 'in', 0), []);
    for (const node of cluster.nodes) assert.deepEqual(node.loggedErrors, []);
  });
});
