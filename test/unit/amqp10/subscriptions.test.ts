/** Subscriptions whose queue goes at the wrong moment. The rules one by one: test/conformance/cases10/subscriptions. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Refusal, RefusedError } from '../../../src/base/errors.js';
import { Descriptor } from '../../../src/amqp10/codec/index.js';
import { Amqp10Host } from '../../fakes/amqp10-host.js';
import { RawClient10 } from '../../support/raw-client10.js';

it('a subscription that ends while its link is attached is refused for good (§2.6.3)', async () => {
  await using host = await Amqp10Host.start();
  const kept = { address: 'e', durable: 2, expiryPolicy: 'never', timeout: 0, capabilities: [] };
  const flags = { passive: false, durable: true, exclusive: false, autoDelete: false };
  const name = 'durable-subscription/raw/s';
  const table = { 'x-amqp10-source': JSON.stringify(kept) };
  await host.broker.declareQueue({ vhost: '/', name, ...flags, arguments: table, connection: '' });
  host.broker.consume = () => Promise.reject(new RefusedError(Refusal.notFound, 'the queue is gone'));
  const raw = await RawClient10.open(host.port, {}, 5_000);
  try {
    await raw.begin();
    raw.attachReceiver('', { name: 's', source: undefined as never });
    assert.equal((await raw.expect(Descriptor.attach)).source, undefined);
    const { closed, error } = await raw.expect(Descriptor.detach);
    assert.deepEqual([closed, error?.condition], [true, 'amqp:not-found']);
  } finally {
    raw.end();
  }
});
