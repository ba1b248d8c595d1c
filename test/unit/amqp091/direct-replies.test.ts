import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicCancel,
  BasicConsume,
  BasicGet,
  ChannelClose,
  ConfirmSelect,
  MethodId,
  QueueDeclare,
} from '../../../src/amqp091/codec/index.js';
import { AmqpHost } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

const replyTo = 'amq.rabbitmq.reply-to';
const consume = (noAck = true, tag = 'r'): BasicConsume =>
  new BasicConsume(replyTo, tag, false, noAck, false, false, {});
const declare = (name: string, passive = false): QueueDeclare =>
  new QueueDeclare(name, passive, false, false, false, false, {});

/** A client that waits for replies on channel 1, another one that serves the queue `s`. */
async function pair(host: AmqpHost): Promise<{ asker: RawClient; server: RawClient; address: string }> {
  const asker = await RawClient.open(host.port);
  const server = await RawClient.open(host.port);
  await asker.openChannel(1);
  await server.openChannel(1);
  server.send(1, declare('s'));
  await server.expect(MethodId.queueDeclareOk, 1);
  asker.send(1, consume());
  assert.equal((await asker.expect(MethodId.basicConsumeOk, 1)).method.consumerTag, 'r');
  asker.publish(1, '', 's', 'question', { replyTo, correlationId: '7' });
  server.send(1, new BasicConsume('s', 's', false, true, false, false, {}));
  await server.expect(MethodId.basicConsumeOk, 1);
  const { properties } = await server.expect(MethodId.basicDeliver, 1);
  assert.equal(properties.correlationId, '7');
  assert.match(properties.replyTo!, /^amq\.rabbitmq\.reply-to\../);
  return { asker, server, address: properties.replyTo! };
}

/** The text with which the channel is closed. */
async function closeText(client: RawClient, code: number): Promise<string> {
  const { method } = await client.expect(MethodId.channelClose, 1);
  assert.equal(method.replyCode, code);
  return method.replyText;
}

describe('direct reply-to', () => {
  it('brings replies to the channel that has asked, without a queue', async () => {
    await using host = await AmqpHost.start();
    const { asker, server, address } = await pair(host);
    server.publish(1, '', address, 'one', { correlationId: '7' });
    server.publish(1, '', address, 'two');
    const first = await asker.expect(MethodId.basicDeliver, 1);
    const { consumerTag, deliveryTag, redelivered, exchange, routingKey } = first.method;
    assert.deepEqual([consumerTag, deliveryTag, redelivered, exchange, routingKey], ['r', 1, false, '', address]);
    assert.deepEqual([first.properties.correlationId, first.body.toString()], ['7', 'one']);
    const second = await asker.expect(MethodId.basicDeliver, 1);
    assert.deepEqual([second.method.deliveryTag, second.body.toString()], [2, 'two']);
    assert.deepEqual([...host.broker.queues.keys()], ['s']);
  });

  it('is no queue: a mandatory reply comes back, and is confirmed', async () => {
    await using host = await AmqpHost.start();
    const { asker, server, address } = await pair(host);
    server.send(1, new ConfirmSelect(false));
    await server.expect(MethodId.confirmSelectOk, 1);
    server.publish(1, '', address, 'reply', {}, true);
    assert.equal((await server.expect(MethodId.basicReturn, 1)).method.replyText, 'NO_ROUTE');
    assert.equal((await server.expect(MethodId.basicAck, 1)).method.deliveryTag, 1);
    assert.equal((await asker.expect(MethodId.basicDeliver, 1)).body.toString(), 'reply');
  });

  it('can be asked whether the client is there', async () => {
    await using host = await AmqpHost.start();
    const { asker, server, address } = await pair(host);
    for (const passive of [true, false])
      for (const name of [address, replyTo]) {
        server.send(1, declare(name, passive));
        const { queue, messageCount, consumerCount } = (await server.expect(MethodId.queueDeclareOk, 1)).method;
        assert.deepEqual([queue, messageCount, consumerCount], [name, 0, 1]);
      }
    asker.send(1, new BasicCancel('r', false));
    await asker.expect(MethodId.basicCancelOk, 1);
    server.publish(1, '', address, 'too late');
    server.send(1, declare(address, true));
    assert.equal(await closeText(server, 404), `NOT_FOUND - no queue '${address}' in vhost '/'`);
    asker.send(1, consume(true, 'again'));
    await asker.expect(MethodId.basicConsumeOk, 1);
  });

  it('ends with its channel', async () => {
    await using host = await AmqpHost.start();
    const { asker } = await pair(host);
    assert.equal(host.broker.replies.sinks.size, 1);
    asker.send(1, new ChannelClose(200, '', 0, 0));
    await asker.expect(MethodId.channelCloseOk, 1);
    assert.equal(host.broker.replies.sinks.size, 0);
  });

  it('refuses what RabbitMQ refuses', async () => {
    await using host = await AmqpHost.start();
    const cases: [send: (client: RawClient) => void, code: number, text: string][] = [
      [(client) => client.send(1, consume(false)), 406, 'PRECONDITION_FAILED - reply consumer cannot acknowledge'],
      [
        (client) => {
          client.send(1, consume());
          client.send(1, consume(true, 'other'));
        },
        406,
        'PRECONDITION_FAILED - reply consumer already set',
      ],
      [
        (client) => client.publish(1, '', 'q', '', { replyTo }),
        406,
        'PRECONDITION_FAILED - fast reply consumer does not exist',
      ],
      [(client) => client.send(1, new BasicGet(replyTo, true)), 404, `NOT_FOUND - no queue '${replyTo}' in vhost '/'`],
      [
        (client) => client.send(1, declare(`${replyTo}.guess`)),
        404,
        `NOT_FOUND - no queue '${replyTo}.guess' in vhost '/'`,
      ],
    ];
    for (const [send, code, text] of cases) {
      const client = await RawClient.open(host.port);
      await client.openChannel(1);
      send(client);
      let received = await client.next();
      if (received.method?.id === MethodId.basicConsumeOk) received = await client.next();
      assert.equal(received.method?.id, MethodId.channelClose, text);
      if (received.method.id === MethodId.channelClose)
        assert.deepEqual([received.method.replyCode, received.method.replyText], [code, text]);
    }
  });
});
