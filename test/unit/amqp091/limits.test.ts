/** Limits that hold for all connections of a server together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicConsume, ChannelOpen, MethodId, QueueDeclare, QueueDelete } from '../../../src/amqp091/codec/index.js';
import { defaultLimits, limitsForOpenFiles } from '../../../src/amqp091/limits.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

const declare = (name: string): QueueDeclare => new QueueDeclare(name, false, false, false, false, false, {});

describe('limits of all connections', () => {
  it('channels: one more is refused with 530, until others are closed', async () => {
    await using host = await AmqpHost.start({ allChannelsMax: 5 });
    const first = await RawClient.open(host.port);
    for (let channel = 1; channel <= 5; channel++) await first.openChannel(channel);
    const second = await RawClient.open(host.port);
    second.send(1, new ChannelOpen());
    const { method } = await second.expect(MethodId.connectionClose);
    assert.equal(method.replyCode, 530);
    assert.match(method.replyText, /5 channels/);
    second.end();
    first.end();
    await eventually(() => host.server.connectionCount === 0);
    const third = await RawClient.open(host.port);
    for (let channel = 1; channel <= 5; channel++) await third.openChannel(channel);
    third.end();
  });

  it('consumers: one more is refused with 530, until others have ended', async () => {
    await using host = await AmqpHost.start({ allConsumersMax: 3 });
    const client = await RawClient.open(host.port);
    for (const channel of [1, 2]) await client.openChannel(channel);
    client.send(1, declare('q'));
    await client.expect(MethodId.queueDeclareOk, 1);
    const consume = async (channel: number): Promise<void> => {
      client.send(channel, new BasicConsume('q', '', false, false, false, false, {}));
      await client.expect(MethodId.basicConsumeOk, channel);
    };
    for (const channel of [1, 2, 2]) await consume(channel);
    client.send(2, new QueueDelete('q', false, false, false));
    for (const channel of [1, 2, 2]) await client.expect(MethodId.basicCancel, channel);
    await client.expect(MethodId.queueDeleteOk, 2);
    client.send(1, declare('q'));
    await client.expect(MethodId.queueDeclareOk, 1);
    for (const channel of [2, 1, 1]) await consume(channel);
    client.send(2, new BasicConsume('q', '', false, false, false, false, {}));
    assert.equal((await client.expect(MethodId.connectionClose)).method.replyCode, 530);
    client.end();
    await eventually(() => host.server.counters.consumers === 0);
  });

  it('frames that wait on many channels: the socket is not read, and all is answered in the end', async () => {
    await using host = await AmqpHost.start({ allBacklogBytesMax: 100_000 });
    const client = await RawClient.open(host.port);
    const channels = 50;
    for (let channel = 1; channel <= channels; channel++) await client.openChannel(channel);
    let go = (): void => {};
    host.broker.pause = new Promise<void>((resolve) => {
      go = resolve;
    });
    const perChannel = 200;
    const before = host.server.counters.bytesIn;
    for (let channel = 1; channel <= channels; channel++) {
      for (let i = 0; i < perChannel; i++) client.frames.method(channel, declare(`queue-${channel}-${i}`));
      client.sendBytes(Buffer.alloc(0));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.silent(100);
    assert.ok(host.server.counters.bytesIn - before < 100_000 + 70_000, 'it stops reading after one more read');
    go();
    for (let i = 0; i < channels * perChannel; i++)
      assert.equal((await client.next()).method?.id, MethodId.queueDeclareOk);
    client.end();
  });
});

describe('limitsForOpenFiles', () => {
  it('leaves files for the journal, and connections for clients that finish their handshake', () => {
    assert.deepEqual(limitsForOpenFiles(Number.POSITIVE_INFINITY), {
      connectionsMax: defaultLimits.connectionsMax,
      handshakesMax: defaultLimits.handshakesMax,
    });
    assert.deepEqual(limitsForOpenFiles(4096), { connectionsMax: 3584, handshakesMax: 896 });
    assert.deepEqual(limitsForOpenFiles(256), { connectionsMax: 128, handshakesMax: 32 });
  });
});
