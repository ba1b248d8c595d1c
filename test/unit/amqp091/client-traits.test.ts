import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientTraits } from '../../../src/amqp091/client-traits.js';
import { BasicConsume, BasicQos, MethodId, QueueDeclare } from '../../../src/amqp091/codec/index.js';
import { productAs } from '../../../src/amqp091/product.js';
import { AmqpHost } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

const understudy = productAs('understudy', '1.0.0', 'test');

/** How many of 9 messages a client holds, which consumes with a limit of 2, and then sets it to 5. */
async function heldAfterRaise(product: string): Promise<number> {
  await using host = await AmqpHost.start();
  const client = await RawClient.open(host.port, { product });
  await client.openChannel(1);
  client.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
  await client.expect(MethodId.queueDeclareOk, 1);
  for (let i = 0; i < 9; i++) client.publish(1, '', 'q', `${i}`);
  client.send(1, new BasicQos(0, 2, false));
  await client.expect(MethodId.basicQosOk, 1);
  client.send(1, new BasicConsume('q', 'c', false, false, false, false, {}));
  await client.expect(MethodId.basicConsumeOk, 1);
  for (let i = 0; i < 2; i++) await client.expect(MethodId.basicDeliver, 1);
  assert.ok(await client.silent());
  client.send(1, new BasicQos(0, 5, false));
  await client.expect(MethodId.basicQosOk, 1);
  let held = 2;
  while (!(await client.silent())) {
    await client.expect(MethodId.basicDeliver, 1);
    held++;
  }
  client.end();
  return held;
}

describe('what follows from what a client says of itself', () => {
  it('capabilities are those that it names as true', () => {
    const traits = clientTraits(
      { capabilities: { 'connection.blocked': true, consumer_cancel_notify: false } },
      understudy,
    );
    assert.deepEqual(traits, {
      cancelNotify: false,
      blockedNotify: true,
      authenticationFailureClose: false,
      channelQos: false,
    });
    assert.equal(clientTraits({ capabilities: 'all' }, understudy).cancelNotify, false);
  });

  it('basic.qos without global changes nothing for consumers that are there', async () => {
    assert.equal(await heldAfterRaise('raw'), 2);
  });

  it('but for py-amqp, which takes us at our word that we are not RabbitMQ', async () => {
    assert.equal(await heldAfterRaise('py-amqp'), 5);
  });

  it('and not if we say that we are', () => {
    const isMeant = (name: 'understudy' | 'rabbitmq'): boolean =>
      clientTraits({ product: 'py-amqp' }, productAs(name, '1.0.0', 'test')).channelQos;
    assert.deepEqual([isMeant('understudy'), isMeant('rabbitmq')], [true, false]);
  });
});
