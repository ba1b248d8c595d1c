import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicConsume,
  BasicGet,
  BasicProperties,
  ChannelOpen,
  MethodId,
  QueueDeclare,
  PropertyView,
  TxCommit,
  TxSelect,
} from '../../../src/amqp091/codec/index.js';
import { carbonKeys } from '../../../src/amqp091/carbon-copies.js';
import { EnqueueView, RecordFlag } from '../../../src/log/record.js';
import type { Arguments, ArgumentValue } from '../../../src/model/broker.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { AmqpHost } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

function viewOf(set: Partial<BasicProperties>): PropertyView {
  const writer = new ByteWriter();
  Object.assign(new BasicProperties(), set).encode(writer);
  const bytes = writer.take();
  return new PropertyView().set(bytes, 0, bytes.length);
}

async function withQueues(host: AmqpHost, ...names: string[]): Promise<RawClient> {
  const client = await RawClient.open(host.port);
  await client.openChannel(1);
  for (const name of names) {
    client.send(1, new QueueDeclare(name, false, false, false, false, false, {}));
    await client.expect(MethodId.queueDeclareOk, 1);
    client.send(1, new BasicConsume(name, name, false, true, false, false, {}));
    await client.expect(MethodId.basicConsumeOk, 1);
  }
  return client;
}

/** The message that a client holds of the queue, as the broker keeps it. */
function stored(host: AmqpHost, queue: string): { isHidden: boolean; headers: Arguments } {
  const [message] = host.broker.queues.get(queue)!.held.values();
  const { bytes, flags, headerStart, headerLength } = new EnqueueView().set(message!.bytes, message!.view, 0);
  const properties = new PropertyView().set(bytes, headerStart, headerStart + headerLength);
  return { isHidden: (flags & RecordFlag.hidden) !== 0, headers: properties.headers() };
}

const replyTo = 'amq.rabbitmq.reply-to';

describe('CC and BCC', () => {
  it('are seen only by who looks at their messages', () => {
    assert.equal(viewOf({}).routingFields, 0);
    assert.equal(viewOf({ headers: { cc: [], C: 1, BC: 2, CCC: 3, BCCC: 4 } }).routingFields, 0);
    assert.equal(viewOf({ headers: { inner: { CC: ['a'] } } }).routingFields, 0);
    assert.deepEqual(carbonKeys(viewOf({ headers: { x: 1, CC: ['a', 1, 'b'], BCC: ['c'] } })), ['a', 'b', 'c']);
  });

  it('bring a message to each queue once, BCC without a trace', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'a', 'b', 'c');
    client.publish(1, '', 'a', 'm', { headers: { CC: ['b', 'a', 'nowhere'], BCC: ['c', 'b'], k: 1 }, priority: 3 });
    const seen: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { method, properties } = await client.expect(MethodId.basicDeliver, 1);
      seen.push(method.consumerTag);
      assert.equal(method.routingKey, 'a');
      assert.deepEqual(properties.headers, { CC: ['b', 'a', 'nowhere'], k: 1 });
      assert.equal(properties.priority, 3);
    }
    assert.deepEqual(seen.sort(), ['a', 'b', 'c']);
    client.publish(1, '', 'a', 'next');
    assert.equal((await client.expect(MethodId.basicDeliver, 1)).method.consumerTag, 'a');
  });

  for (const [type, value] of [
    ['longstr', 'a'],
    ['signedint', 5],
    ['table', { a: 1 }],
    ['bool', true],
    ['void', null],
  ] as [string, ArgumentValue][])
    for (const header of ['CC', 'BCC'])
      it(`${header} that is a ${type} ends the channel`, async () => {
        await using host = await AmqpHost.start();
        const client = await withQueues(host, 'a');
        client.publish(1, '', 'a', 'm', { headers: { [header]: value } });
        const { method } = await client.expect(MethodId.channelClose, 1);
        assert.equal(method.replyCode, 406);
        const what = `{unacceptable_type_in_header,"${header}",${type}}`;
        assert.equal(method.replyText, `PRECONDITION_FAILED - invalid message: ${what}`);
        client.send(2, new ChannelOpen());
        await client.expect(MethodId.channelOpenOk, 2);
      });

  it('are limited', () => {
    const keys = Array.from({ length: 1025 }, (_, i) => `k${i}`);
    assert.throws(() => carbonKeys(viewOf({ headers: { CC: keys } })), /1025 routing keys.*there may be 1024/);
    assert.equal(carbonKeys(viewOf({ headers: { CC: keys.slice(1) } })).length, 1024);
  });

  it('BCC stays with the message, which is shown without it however it is handed out', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host);
    client.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
    await client.expect(MethodId.queueDeclareOk, 1);
    client.send(1, new BasicConsume(replyTo, '', false, true, false, false, {}));
    await client.expect(MethodId.basicConsumeOk, 1);
    const set = { headers: { k: 1, BCC: ['hidden'] }, replyTo, appId: 'app' };
    client.publish(1, '', 'q', 'kept', set);
    client.send(1, new BasicGet('q', false));
    const { properties } = await client.expect(MethodId.basicGetOk, 1);
    const shown = { ...properties, replyTo };
    assert.deepEqual(shown, { ...new BasicProperties(), ...set, headers: { k: 1 } });
    assert.deepEqual(stored(host, 'q'), { isHidden: true, headers: set.headers });

    client.publish(1, '', 'nowhere', 'returned', { headers: set.headers }, true);
    assert.deepEqual((await client.expect(MethodId.basicReturn, 1)).properties.headers, { k: 1 });
    client.publish(1, '', properties.replyTo!, 'reply', { headers: set.headers });
    assert.deepEqual((await client.expect(MethodId.basicDeliver, 1)).properties.headers, { k: 1 });
  });

  it('BCC stays with a message of a transaction, which comes back without it', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host);
    client.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
    await client.expect(MethodId.queueDeclareOk, 1);
    client.send(1, new TxSelect());
    await client.expect(MethodId.txSelectOk, 1);
    const headers = { k: 1, BCC: ['q'] };
    client.publish(1, '', 'nowhere', 'm', { headers }, true);
    client.publish(1, '', 'nowhere', 'n', { headers: { k: 1, BCC: ['nobody'] } }, true);
    client.send(1, new TxCommit());
    const returned = await client.expect(MethodId.basicReturn, 1);
    assert.deepEqual([returned.body.toString(), returned.properties.headers], ['n', { k: 1 }]);
    await client.expect(MethodId.txCommitOk, 1);
    client.send(1, new BasicGet('q', false));
    assert.deepEqual((await client.expect(MethodId.basicGetOk, 1)).properties.headers, { k: 1 });
    assert.deepEqual(stored(host, 'q'), { isHidden: true, headers });
  });

  it('BCC is gone at once while there are nodes that would show it', async () => {
    await using host = await AmqpHost.start();
    host.broker.keepsHidden = false;
    const client = await withQueues(host, 'b');
    client.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
    await client.expect(MethodId.queueDeclareOk, 1);
    client.publish(1, '', 'q', 'm', { headers: { k: 1, BCC: ['b'] } });
    assert.deepEqual((await client.expect(MethodId.basicDeliver, 1)).properties.headers, { k: 1 });
    client.send(1, new BasicGet('q', false));
    await client.expect(MethodId.basicGetOk, 1);
    assert.deepEqual(stored(host, 'q'), { isHidden: false, headers: { k: 1 } });
  });
});
