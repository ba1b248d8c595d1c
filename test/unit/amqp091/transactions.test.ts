import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicAck,
  BasicConsume,
  BasicGet,
  BasicNack,
  BasicQos,
  BasicRecover,
  ChannelClose,
  ConfirmSelect,
  type Method,
  MethodId,
  QueueDeclare,
  TxCommit,
  TxRollback,
  TxSelect,
} from '../../../src/amqp091/codec/index.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

/** A client with the queue `q`, in tx mode. */
async function transacting(host: AmqpHost): Promise<RawClient> {
  const client = await RawClient.open(host.port);
  await client.openChannel(1);
  client.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
  await client.expect(MethodId.queueDeclareOk, 1);
  client.send(1, new TxSelect());
  await client.expect(MethodId.txSelectOk, 1);
  return client;
}

async function commit(client: RawClient): Promise<void> {
  client.send(1, new TxCommit());
  await client.expect(MethodId.txCommitOk, 1);
}

async function rollback(client: RawClient): Promise<void> {
  client.send(1, new TxRollback());
  await client.expect(MethodId.txRollbackOk, 1);
}

/** Puts messages into `q`. */
async function fill(client: RawClient, ...bodies: string[]): Promise<void> {
  for (const body of bodies) client.publish(1, '', 'q', body);
  await commit(client);
}

/** The bodies that basic.get finds, with `!` in front of what comes again. */
async function got(client: RawClient, count: number): Promise<string[]> {
  const bodies: string[] = [];
  for (let i = 0; i < count; i++) {
    client.send(1, new BasicGet('q', false));
    const { method, body } = await client.next();
    if (method?.id !== MethodId.basicGetOk) break;
    bodies.push((method.redelivered ? '!' : '') + body.toString());
  }
  return bodies;
}

const inQueue = (host: AmqpHost): number => host.broker.queues.get('q')!.readyCount;

describe('transactions', () => {
  it('publish with the commit, and not before', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    for (let i = 0; i < 3; i++) client.publish(1, '', 'q', `m${i}`);
    client.send(1, new BasicQos(0, 10, false));
    await client.expect(MethodId.basicQosOk, 1);
    assert.equal(inQueue(host), 0);
    await commit(client);
    assert.equal(inQueue(host), 3);
    await commit(client);
    assert.equal(inQueue(host), 3);
    assert.deepEqual(await got(client, 5), ['m0', 'm1', 'm2']);
  });

  it('publish nothing after a rollback, or when their channel ends', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    client.publish(1, '', 'q', 'rolled back');
    await rollback(client);
    await commit(client);
    assert.equal(inQueue(host), 0);
    client.publish(1, '', 'q', 'closed');
    client.send(1, new ChannelClose(200, '', 0, 0));
    await client.expect(MethodId.channelCloseOk, 1);
    assert.equal(inQueue(host), 0);
    assert.equal(host.broker.transactions.begun.length, 0);
  });

  it('settle with the commit, which makes room in the prefetch', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    await fill(client, 'a', 'b');
    client.send(1, new BasicQos(0, 1, false));
    await client.expect(MethodId.basicQosOk, 1);
    client.send(1, new BasicConsume('q', 'c', false, false, false, false, {}));
    await client.expect(MethodId.basicConsumeOk, 1);
    assert.equal((await client.expect(MethodId.basicDeliver, 1)).body.toString(), 'a');
    client.send(1, new BasicAck(1, false));
    client.send(1, new TxSelect());
    await client.expect(MethodId.txSelectOk, 1);
    client.send(1, new TxCommit());
    const received = [await client.next(), await client.next()];
    const kinds = new Set<number>(received.map(({ method }) => method!.id));
    assert.deepEqual(kinds, new Set([MethodId.basicDeliver, MethodId.txCommitOk]));
    assert.equal(host.broker.queues.get('q')!.held.size, 1);
  });

  it('leave what is held to the client after a rollback, with its tags', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    await fill(client, 'a', 'b', 'c');
    assert.deepEqual(await got(client, 3), ['a', 'b', 'c']);
    client.send(1, new BasicAck(2, true));
    client.send(1, new BasicNack(3, false, false));
    await rollback(client);
    assert.equal(host.broker.queues.get('q')!.held.size, 3);
    client.send(1, new BasicAck(3, true));
    await commit(client);
    assert.deepEqual([host.broker.queues.get('q')!.held.size, inQueue(host)], [0, 0]);
  });

  it('give back, with the commit, what is to be requeued; and with their channel all that was not committed', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    await fill(client, 'a', 'b', 'c');
    assert.deepEqual(await got(client, 3), ['a', 'b', 'c']);
    client.send(1, new BasicNack(1, false, true));
    client.send(1, new BasicNack(2, false, false));
    assert.deepEqual(await got(client, 1), []);
    await commit(client);
    assert.deepEqual(await got(client, 2), ['!a']);
    client.send(1, new BasicAck(3, false));
    client.send(1, new ChannelClose(200, '', 0, 0));
    await client.expect(MethodId.channelCloseOk, 1);
    await client.openChannel(1);
    assert.deepEqual((await got(client, 3)).sort(), ['!a', '!c']);
  });

  it('recover what they have not settled', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    await fill(client, 'a', 'b');
    assert.deepEqual(await got(client, 2), ['a', 'b']);
    client.send(1, new BasicAck(1, false));
    client.send(1, new BasicRecover(true));
    await client.expect(MethodId.basicRecoverOk, 1);
    assert.deepEqual(await got(client, 2), ['!b']);
    await rollback(client);
    assert.equal(host.broker.queues.get('q')!.held.size, 2);
  });

  it('return what is mandatory and leads nowhere before commit-ok, and only then', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    client.publish(1, '', 'nowhere', 'first', {}, true);
    client.publish(1, '', 'nowhere', 'silent');
    client.publish(1, '', 'q', 'kept', {}, true);
    client.publish(1, '', 'nowhere', 'second', {}, true);
    client.send(1, new TxSelect());
    await client.expect(MethodId.txSelectOk, 1);
    client.send(1, new TxCommit());
    for (const body of ['first', 'second'])
      assert.equal((await client.expect(MethodId.basicReturn, 1)).body.toString(), body);
    await client.expect(MethodId.txCommitOk, 1);
    assert.equal(inQueue(host), 1);
  });

  it('are answered when all is safe; what comes meanwhile waits', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    host.broker.transactions.holds = true;
    client.publish(1, '', 'q', 'a');
    client.send(1, new TxCommit());
    client.send(1, new TxRollback());
    await eventually(() => host.broker.transactions.begun.length === 1);
    host.broker.transactions.answer();
    await client.expect(MethodId.txCommitOk, 1);
    await client.expect(MethodId.txRollbackOk, 1);
    assert.equal(inQueue(host), 1);
  });

  it('that fail end the channel, which gives back what was not taken', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    await fill(client, 'a');
    assert.deepEqual(await got(client, 1), ['a']);
    client.send(1, new BasicAck(1, false));
    host.broker.transactions.postpones = true;
    client.send(1, new TxCommit());
    await eventually(() => host.broker.transactions.begun.length === 1);
    assert.equal(host.broker.transactions.begun[0]!.isAbandoned, false);
    client.socket.destroy();
    await eventually(() => inQueue(host) === 1);
    assert.equal(host.broker.transactions.begun[0]!.isAbandoned, true);
    assert.deepEqual(host.broker.transactions.begun[0]!.takeSettlements(), []);
    host.broker.transactions.answer(new Error('gone'));
  });

  it('hold memory that is given back', async () => {
    await using host = await AmqpHost.start({ partialBytesMax: 10_000 });
    const client = await transacting(host);
    for (let i = 0; i < 20; i++) {
      client.publish(1, '', 'q', Buffer.alloc(6000));
      if (i % 2 === 0) await commit(client);
      else await rollback(client);
    }
    client.publish(1, '', 'q', Buffer.alloc(6000));
    client.publish(1, '', 'q', Buffer.alloc(6000));
    assert.equal((await client.expect(MethodId.connectionClose)).method.replyCode, 506);
  });

  const cases: [what: string, send: (Method | 'publish')[], text: string][] = [
    ['select in confirm mode', [new ConfirmSelect(true), new TxSelect()], 'cannot switch from confirm to tx mode'],
    ['confirm.select in tx mode', [new TxSelect(), new ConfirmSelect(false)], 'cannot switch from tx to confirm mode'],
    ['commit without select', [new TxCommit()], 'channel is not transactional'],
    ['rollback without select', [new TxRollback()], 'channel is not transactional'],
    ['an unknown tag', [new TxSelect(), new BasicAck(7, false)], 'unknown delivery tag 7'],
    ['an unknown tag, with all up to it', [new TxSelect(), new BasicAck(7, true)], 'unknown delivery tag 7'],
    [
      'too many publishes',
      [new TxSelect(), 'publish', 'publish', 'publish'],
      'the transaction has more than 2 publishes and acknowledgements, which is the most: commit more often',
    ],
  ];
  for (const [what, send, text] of cases)
    it(`refuse ${what}`, async () => {
      await using host = await AmqpHost.start({ transactionSizeMax: 2 });
      const client = await RawClient.open(host.port);
      await client.openChannel(1);
      for (const one of send)
        if (one === 'publish') client.publish(1, '', 'q', 'm');
        else client.send(1, one);
      let received = await client.next();
      if (received.method?.id === MethodId.txSelectOk) received = await client.next();
      const { method } = received;
      assert.ok(method?.id === MethodId.channelClose, method?.constructor.name);
      assert.deepEqual([method.replyCode, method.replyText], [406, `PRECONDITION_FAILED - ${text}`]);
    });

  it('refuse a delivery that they settle twice, and bytes beyond the limit', async () => {
    await using host = await AmqpHost.start({ transactionBytesMax: 10_000 });
    const client = await transacting(host);
    await fill(client, 'a');
    await got(client, 1);
    client.send(1, new BasicAck(1, false));
    client.send(1, new BasicAck(1, false));
    assert.match((await client.expect(MethodId.channelClose, 1)).method.replyText, /unknown delivery tag 1$/);
    const other = await transacting(host);
    other.publish(1, '', 'q', Buffer.alloc(9000));
    other.publish(1, '', 'q', Buffer.alloc(900));
    assert.match((await other.expect(MethodId.channelClose, 1)).method.replyText, /more than 10000 bytes/);
  });

  it('look for the exchange when a message is published', async () => {
    await using host = await AmqpHost.start();
    const client = await transacting(host);
    client.publish(1, 'nope', 'k', 'm');
    const { method } = await client.expect(MethodId.channelClose, 1);
    assert.equal(method.replyText, "NOT_FOUND - no exchange 'nope' in vhost '/'");
  });
});
