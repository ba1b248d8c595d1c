/** Links of AMQP 1.0 that are resumed, with real processes; many kills: test/long/resumption.test.ts. The rules: test/conformance. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as amqp from 'amqplib';
import { type Attach, Descriptor, MapValue, Source, Target } from '../../src/amqp10/codec/index.js';
import { message } from '../conformance/messages10.js';
import { LoneBroker } from '../support/lone-broker.js';
import { RawClient10 } from '../support/raw-client10.js';
import { runResumed } from '../support/resumed-run.js';
import { withCluster } from '../support/with-cluster.js';

it('a sender and a receiver that resume over kills of the primary: every message exactly once', async () => {
  await withCluster([], async (cluster) => {
    const messages = 600;
    const { doubled, missing, outcomes, left, troubles } = await runResumed(cluster, { messages, kills: 2 });
    assert.deepEqual(
      { doubled, missing, outcomes, left },
      { doubled: [], missing: [], outcomes: { accepted: messages }, left: 0 },
    );
    assert.ok(troubles.length > 0, 'no connection was lost');
  });
});

it('what is unsettled of links survives kill -9 and restart of the only broker', async () => {
  await using broker = await LoneBroker.start();
  const connection = await amqp.connect(`amqp://127.0.0.1:${broker.port}`);
  connection.on('error', () => {});
  await (await connection.createChannel()).assertQueue('lone', { durable: true });
  const open = async (): Promise<RawClient10> => {
    const raw = await RawClient10.open(broker.port, { containerId: 'lone' });
    await raw.begin();
    return raw;
  };
  const terminus = { address: '/queues/lone', timeout: 60 };
  const link = { name: 'lone', rcvSettleMode: 1 };
  const attachSender = async (raw: RawClient10, tags: readonly string[]): Promise<string[]> => {
    const unsettled = new MapValue(tags.map((tag) => [new Uint8Array(Buffer.from(tag)), null]));
    raw.attachSender(undefined, { ...link, target: Object.assign(new Target(), terminus), unsettled });
    return tagsOf(await raw.expect(Descriptor.attach));
  };
  const attachReceiver = async (raw: RawClient10, tags: readonly string[]): Promise<string[]> => {
    const unsettled = new MapValue(tags.map((tag) => [new Uint8Array(Buffer.from(tag)), null]));
    const source = Object.assign(new Source(), terminus);
    raw.attachReceiver('', { ...link, handle: 1, source, unsettled });
    return tagsOf(await raw.expect(Descriptor.attach));
  };
  const before = await open();
  assert.deepEqual(await attachSender(before, []), []);
  await before.expect(Descriptor.flow);
  before.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
  await before.expect(Descriptor.disposition);
  assert.deepEqual(await attachReceiver(before, []), []);
  before.flow({ handle: 1, deliveryCount: 0, linkCredit: 10 });
  const { body } = await before.expectFrame(Descriptor.transfer);
  const tag = Buffer.from(body.deliveryTag!).toString('latin1');
  await broker.kill();
  await broker.start();
  const after = await open();
  assert.deepEqual(await attachSender(after, ['tag-a', 'tag-b']), ['tag-a']);
  await after.expect(Descriptor.flow);
  // Nobody else is given it.
  await after.receiver('/queues/lone', 10, { handle: 2 });
  assert.deepEqual(await attachReceiver(after, [tag]), [tag]);
  after.flow({ handle: 1, deliveryCount: 0, linkCredit: 10 });
  const again = await after.expectFrame(Descriptor.transfer);
  assert.deepEqual([again.body.handle, again.body.resume], [2, true]);
});

function tagsOf({ unsettled }: Attach): string[] {
  return (unsettled?.entries ?? []).map(([tag]) => Buffer.from(tag as Uint8Array).toString('latin1'));
}
