/** Confirms, mandatory messages that come back, transactions, user-id. */
import assert from 'node:assert/strict';
import {
  BasicGet,
  BasicPublish,
  BasicQos,
  BasicReject,
  ChannelClose,
  ConfirmSelect,
  MethodId,
  QueueDeclare,
  TxCommit,
  TxRollback,
  TxSelect,
} from '../../../src/amqp091/codec/index.js';
import { type Case, rule, wireRule } from '../case.js';
import { text } from '../client.js';
import type { Wire } from '../wire.js';

const confirms = 'publisher confirms';
const tx = '§1.9';

async function ready(wire: Wire, queue: string, channel = 1): Promise<number> {
  const declare = new QueueDeclare(queue, true, true, false, false, false, {});
  return (await wire.call(declare, MethodId.queueDeclareOk, channel)).method.messageCount;
}

const confirming: readonly Case[] = [
  wireRule(confirms, 'publishes are counted from 1, from confirm.select on', async (wire) => {
    const queue = await wire.queue();
    wire.publish('', queue, 'before');
    await wire.selectConfirms();
    wire.publish('', queue, 'a');
    const { method } = await wire.raw.expect(MethodId.basicAck, 1);
    assert.equal(method.deliveryTag, 1);
  }),
  wireRule(confirms, 'confirm.select again changes nothing', async (wire) => {
    const queue = await wire.queue();
    await wire.selectConfirms();
    wire.publish('', queue, 'a');
    await wire.confirmed(1);
    await wire.selectConfirms();
    wire.publish('', queue, 'b');
    assert.equal((await wire.raw.expect(MethodId.basicAck, 1)).method.deliveryTag, 2);
  }),
  wireRule(confirms, 'confirm.select with no-wait is not answered, and counts', async (wire) => {
    const queue = await wire.queue();
    wire.send(new ConfirmSelect(true));
    wire.publish('', queue, 'a');
    assert.equal((await wire.raw.expect(MethodId.basicAck, 1)).method.deliveryTag, 1);
  }),
  wireRule(confirms, 'all of many publishes are confirmed', async (wire) => {
    const queue = await wire.queue();
    await wire.selectConfirms();
    for (let i = 0; i < 200; i++) wire.publish('', queue, String(i));
    await wire.confirmed(200);
    assert.equal(await ready(wire, queue), 200);
  }),
  wireRule(confirms, 'without confirm.select nothing is confirmed', async (wire) => {
    const queue = await wire.queue();
    wire.publish('', queue, 'a');
    await wire.channelWorks();
    assert.ok(await wire.raw.silent());
  }),
  rule(confirms, 'a message for several queues is confirmed once', async (client) => {
    const exchange = await client.exchange('fanout');
    const queues = [await client.bound(exchange), await client.bound(exchange), await client.bound(exchange)];
    assert.equal(await client.publish(exchange, '', 'x'), 'ack');
    for (const queue of queues) assert.equal(await client.count(queue), 1);
  }),
  rule(confirms, 'a confirmed message is there for whoever asks next', async (client, session) => {
    const other = await session.client();
    const queue = await client.queue();
    for (let i = 0; i < 20; i++) {
      await client.send(queue, String(i));
      assert.equal(text(await other.get(queue)), String(i));
    }
  }),
];

const mandatory: readonly Case[] = [
  wireRule('mandatory', 'a mandatory message that is not routed comes back before its confirm', async (wire) => {
    await wire.selectConfirms();
    wire.publish('amq.direct', 'no such key', 'body', { messageId: 'm', headers: { a: 1 } }, true);
    const { method, properties, body } = await wire.raw.expect(MethodId.basicReturn, 1);
    assert.deepEqual(
      [method.replyCode, method.replyText, method.exchange, method.routingKey],
      [312, 'NO_ROUTE', 'amq.direct', 'no such key'],
    );
    assert.deepEqual([properties.messageId, properties.headers, body.toString()], ['m', { a: 1 }, 'body']);
    await wire.raw.expect(MethodId.basicAck, 1);
  }),
  wireRule('mandatory', 'a mandatory message that is routed does not come back', async (wire) => {
    const queue = await wire.queue();
    await wire.selectConfirms();
    wire.publish('', queue, 'x', {}, true);
    await wire.raw.expect(MethodId.basicAck, 1);
    await wire.channelWorks();
  }),
  wireRule('mandatory', 'without confirms a mandatory message comes back too', async (wire) => {
    wire.publish('', 'no such queue', 'x', {}, true);
    await wire.raw.expect(MethodId.basicReturn, 1);
    await wire.channelWorks();
  }),
  wireRule('mandatory', 'each of several returns stands before the confirm of its own message', async (wire) => {
    await wire.selectConfirms();
    for (let i = 1; i <= 5; i++) wire.publish('', 'no such queue', String(i), {}, true);
    let returned = 0;
    let acked = 0;
    while (acked < 5) {
      const { method, body } = await wire.raw.next();
      if (method?.id === MethodId.basicReturn) {
        returned++;
        assert.equal(body.toString(), String(returned));
      } else if (method?.id === MethodId.basicAck) acked = method.deliveryTag;
      assert.ok(acked <= returned, `${acked} confirmed, ${returned} returned`);
    }
  }),
];

async function select(wire: Wire): Promise<string> {
  const queue = await wire.queue();
  await wire.call(new TxSelect(), MethodId.txSelectOk);
  return queue;
}

async function commit(wire: Wire): Promise<void> {
  await wire.call(new TxCommit(), MethodId.txCommitOk);
}

const transactions: readonly Case[] = [
  wireRule(tx, 'publishes of a transaction are there when it is committed, not before', async (wire) => {
    const queue = await select(wire);
    for (const body of ['a', 'b']) wire.publish('', queue, body);
    assert.equal(await ready(wire, queue), 0);
    await commit(wire);
    assert.equal(await ready(wire, queue), 2);
  }),
  wireRule(tx, 'publishes of a transaction that is rolled back are gone', async (wire) => {
    const queue = await select(wire);
    wire.publish('', queue, 'a');
    await wire.call(new TxRollback(), MethodId.txRollbackOk);
    wire.publish('', queue, 'b');
    await commit(wire);
    const { body } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
    assert.equal(body.toString(), 'b');
    assert.equal(await ready(wire, queue), 0);
  }),
  wireRule(tx, 'publishes of a transaction whose channel closes are gone', async (wire) => {
    const queue = await select(wire);
    wire.publish('', queue, 'a');
    await wire.call(new ChannelClose(200, '', 0, 0), MethodId.channelCloseOk);
    await wire.raw.openChannel(2);
    assert.equal(await ready(wire, queue, 2), 0);
  }),
  wireRule(tx, 'acknowledgements count when the transaction is committed', async (wire, session) => {
    const client = await session.client();
    const queue = await select(wire);
    await client.send(queue, 'a', 'b');
    await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.ack(1);
    await commit(wire);
    await wire.call(new ChannelClose(200, '', 0, 0), MethodId.channelCloseOk);
    assert.deepEqual(await client.arrived(queue, 1), ['b']);
  }),
  wireRule(
    tx,
    'acknowledgements that are rolled back do not count, the deliveries are out still',
    async (wire, session) => {
      const client = await session.client();
      const queue = await select(wire);
      await client.send(queue, 'a');
      await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
      wire.ack(1);
      await wire.call(new TxRollback(), MethodId.txRollbackOk);
      assert.equal(await ready(wire, queue), 0);
      wire.ack(1);
      await commit(wire);
      await wire.call(new ChannelClose(200, '', 0, 0), MethodId.channelCloseOk);
      assert.equal(await client.count(queue), 0);
    },
  ),
  wireRule(tx, 'acknowledgements without a commit do not count when the channel closes', async (wire, session) => {
    const client = await session.client();
    const queue = await select(wire);
    await client.send(queue, 'a');
    await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.ack(1);
    await wire.call(new ChannelClose(200, '', 0, 0), MethodId.channelCloseOk);
    assert.deepEqual(await client.arrived(queue, 1), ['a']);
  }),
  wireRule(tx, 'what is given back or rejected in a transaction is so when it is committed', async (wire, session) => {
    const client = await session.client();
    const queue = await select(wire);
    await client.send(queue, 'a', 'b');
    for (let i = 0; i < 2; i++) await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.send(new BasicReject(1, true));
    wire.send(new BasicReject(2, false));
    await wire.channelWorks();
    assert.equal(await client.count(queue), 0);
    await commit(wire);
    assert.deepEqual(await client.arrived(queue, 1), ['a']);
  }),
  wireRule(tx, 'publishes and acknowledgements of a transaction count together', async (wire, session) => {
    const client = await session.client();
    const [from, to] = [await select(wire), await wire.queue()];
    await client.send(from, 'a');
    await wire.call(new BasicGet(from, false), MethodId.basicGetOk);
    wire.publish('', to, 'moved');
    wire.ack(1);
    await commit(wire);
    await wire.call(new ChannelClose(200, '', 0, 0), MethodId.channelCloseOk);
    assert.deepEqual([await client.drain(from), await client.drain(to)], [[], ['moved']]);
  }),
  wireRule(tx, 'a transaction begins with the end of the one before', async (wire) => {
    const queue = await select(wire);
    for (let i = 1; i <= 3; i++) {
      wire.publish('', queue, String(i));
      await commit(wire);
      assert.equal(await ready(wire, queue), i);
    }
  }),
  wireRule(tx, 'an empty transaction commits and rolls back', async (wire) => {
    await select(wire);
    await commit(wire);
    await wire.call(new TxRollback(), MethodId.txRollbackOk);
  }),
  wireRule(tx, 'tx.select again is answered, and changes nothing', async (wire) => {
    const queue = await select(wire);
    wire.publish('', queue, 'a');
    await wire.call(new TxSelect(), MethodId.txSelectOk);
    await commit(wire);
    assert.equal(await ready(wire, queue), 1);
  }),
  wireRule(tx, 'a mandatory message that is not routed comes back before commit-ok', async (wire) => {
    await select(wire);
    wire.publish('', 'no such queue', 'a', {}, true);
    wire.send(new TxCommit());
    await wire.raw.expect(MethodId.basicReturn, 1);
    await wire.raw.expect(MethodId.txCommitOk, 1);
  }),
  wireRule(
    tx,
    'a publish to an exchange that is not there ends the channel, and nothing is committed',
    async (wire) => {
      const queue = await select(wire);
      wire.publish('', queue, 'a');
      wire.publish('no such exchange', queue, 'b');
      assert.equal((await wire.closing()).code, 404);
      await wire.raw.openChannel(2);
      assert.equal(await ready(wire, queue, 2), 0);
    },
  ),
  wireRule(tx, 'an acknowledgement of a tag that is not known ends the channel with 406', async (wire) => {
    await select(wire);
    wire.ack(9);
    assert.equal((await wire.closing()).code, 406);
  }),
  wireRule(tx, 'deliveries go on within a transaction, as far as the limit lets them', async (wire, session) => {
    const client = await session.client();
    const queue = await select(wire);
    await client.send(queue, 'a', 'b');
    await wire.call(new BasicQos(0, 2, false), MethodId.basicQosOk);
    for (const body of ['a', 'b'])
      assert.equal((await wire.call(new BasicGet(queue, false), MethodId.basicGetOk)).body.toString(), body);
  }),
];

const users: readonly Case[] = [
  rule('validated user-id', 'the name of the user itself is good, and arrives', async (client) => {
    const queue = await client.queue();
    await client.publish('', queue, 'x', { userId: 'guest' });
    assert.equal((await client.get(queue)).properties.userId, 'guest');
  }),
  wireRule('§1.8.3.7', 'a publish with a body in several frames arrives whole', async (wire) => {
    const queue = await wire.queue();
    await wire.selectConfirms();
    wire.raw.frames.frameMax = 4096;
    wire.publish('', queue, 'z'.repeat(50_000));
    await wire.confirmed(1);
    const { body } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
    assert.equal(body.length, 50_000);
  }),
  wireRule('§1.5.2.5', 'a publish before channel.close counts', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    wire.send(new BasicPublish('', queue, false, false));
    wire.raw.sendBytes(Buffer.from([2, 0, 1, 0, 0, 0, 14, 0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 206]));
    await wire.call(new ChannelClose(200, '', 0, 0), MethodId.channelCloseOk);
    await client.becomes(queue, 1);
  }),
];

export const publishing: readonly Case[] = [...confirming, ...mandatory, ...transactions, ...users];
