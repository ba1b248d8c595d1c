import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ChannelOpen,
  ConnectionCloseOk,
  ConnectionOpen,
  ConnectionStartOk,
  ConnectionTuneOk,
  MethodId,
  protocolHeader,
} from '../../../src/amqp091/codec/index.js';
import { AdmissionState } from '../../../src/model/admission.js';
import type { Arguments } from '../../../src/model/broker.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

/** A client that has sent connection.open, and a channel.open right behind it. */
async function asking(host: AmqpHost, properties: Arguments = {}): Promise<RawClient> {
  const client = await RawClient.dial(host.port);
  client.sendBytes(protocolHeader);
  await client.expect(MethodId.connectionStart);
  client.send(0, new ConnectionStartOk(properties, 'PLAIN', Buffer.from('\0guest\0guest'), 'en_US'));
  await client.expect(MethodId.connectionTune);
  client.send(0, new ConnectionTuneOk(0, 0, 0));
  client.send(0, new ConnectionOpen('/'));
  client.send(1, new ChannelOpen());
  return client;
}

async function expectServed(client: RawClient): Promise<void> {
  await client.expect(MethodId.connectionOpenOk);
  await client.expect(MethodId.channelOpenOk, 1);
}

async function expectSentAway(client: RawClient, text: string): Promise<void> {
  const { method } = await client.expect(MethodId.connectionClose);
  assert.equal(method.replyCode, 320);
  assert.equal(method.replyText, `CONNECTION_FORCED - this node is a backup: ${text}`);
  client.send(0, new ConnectionCloseOk());
  await client.closed;
}

const operator = { 'understudy.operator': true };

describe('admission', () => {
  it('sends clients to the primary with 320', async () => {
    await using host = await AmqpHost.start();
    host.admission.set(AdmissionState.standby, '10.0.0.2:5672');
    await expectSentAway(await asking(host), 'the primary is 10.0.0.2:5672');
    await expectSentAway(await asking(host, { 'understudy.operator': 'true' }), 'the primary is 10.0.0.2:5672');
    assert.equal(host.server.counters.connectionsRedirected, 2);
    assert.equal(host.server.counters.connectionErrors, 0);
  });

  it('lets operators in, whoever is primary', async () => {
    await using host = await AmqpHost.start();
    for (const state of [AdmissionState.standby, AdmissionState.unsettled]) {
      host.admission.set(state, '');
      const client = await asking(host, operator);
      await expectServed(client);
      client.end();
    }
  });

  it('holds clients until it is known who is primary', async () => {
    await using host = await AmqpHost.start();
    host.admission.set(AdmissionState.unsettled);
    const [first, second] = [await asking(host), await asking(host)];
    await eventually(() => host.server.list().every(({ state }) => state === 'waiting for a primary'));
    host.admission.set(AdmissionState.unsettled);
    second.end();
    await second.closed;
    host.admission.set(AdmissionState.serving);
    await expectServed(first);
    first.end();
    host.admission.set(AdmissionState.unsettled);
    const third = await asking(host);
    await eventually(() => host.server.list().some(({ state }) => state === 'waiting for a primary'));
    host.admission.set(AdmissionState.standby, '10.0.0.3:5672');
    await expectSentAway(third, 'the primary is 10.0.0.3:5672');
  });

  it('does not hold them for ever', async () => {
    await using host = await AmqpHost.start({ admissionWaitMs: 50 });
    host.admission.set(AdmissionState.unsettled, '');
    await expectSentAway(await asking(host), 'the cluster has no primary now');
  });

  it('ends those of a node that is primary no more, but not operators', async () => {
    await using host = await AmqpHost.start();
    const clients = await Promise.all(Array.from({ length: 150 }, () => asking(host)));
    const boss = await asking(host, operator);
    for (const client of [...clients, boss]) await expectServed(client);
    host.admission.set(AdmissionState.standby, '10.0.0.2:5672');
    for (const client of clients) await expectSentAway(client, 'the primary is 10.0.0.2:5672');
    boss.send(2, new ChannelOpen());
    await boss.expect(MethodId.channelOpenOk, 2);
    boss.end();
  });

  it('tells all addresses before anything else, as many as fit', async () => {
    await using host = await AmqpHost.start();
    for (const [list, told] of [
      [['a:1', 'b:2'], 2],
      [Array.from({ length: 100 }, (_, i) => `10.0.0.${i}:5672`), 64],
      [Array.from({ length: 60 }, (_, i) => `${'x'.repeat(100)}${i}:5672`), 19],
    ] as const) {
      host.admission.list = [...list];
      const client = await RawClient.dial(host.port);
      client.sendBytes(protocolHeader);
      const { method } = await client.expect(MethodId.connectionStart);
      assert.deepEqual(method.serverProperties['understudy.addresses'], list.slice(0, told));
      client.end();
    }
  });
});
