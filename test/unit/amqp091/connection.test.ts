import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import {
  ChannelOpen,
  ConnectionClose,
  ConnectionCloseOk,
  ConnectionOpen,
  ConnectionSecureOk,
  ConnectionStartOk,
  ConnectionTuneOk,
  ConnectionUpdateSecret,
  MethodId,
  protocolHeader,
  QueueDeclare,
} from '../../../src/amqp091/codec/index.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { RawClient, startOk } from '../../support/raw-client.js';

const caps = { authentication_failure_close: true };

/** A client that has got connection.start. */
async function started(host: AmqpHost): Promise<RawClient> {
  const client = await RawClient.dial(host.port);
  client.sendBytes(protocolHeader);
  await client.expect(MethodId.connectionStart);
  return client;
}

/** A client that has got connection.tune. */
async function authenticated(host: AmqpHost): Promise<RawClient> {
  const client = await started(host);
  client.send(0, startOk('guest', 'guest', caps));
  await client.expect(MethodId.connectionTune);
  return client;
}

async function expectClose(client: RawClient, code: number, text: RegExp): Promise<void> {
  const { method } = await client.expect(MethodId.connectionClose);
  assert.equal(method.replyCode, code, method.replyText);
  assert.match(method.replyText, text);
  client.send(0, new ConnectionCloseOk());
  await client.closed;
}

describe('connection: handshake', () => {
  it('answers a wrong protocol header with its own and hangs up', async () => {
    await using host = await AmqpHost.start();
    for (const wrong of ['AMQP\x00\x01\x00\x00', 'GET / HTTP/1.1\r\n\r\n', 'AMQP\x03\x01\x00\x00']) {
      const client = await RawClient.dial(host.port);
      client.socket.write(Buffer.from(wrong, 'latin1'));
      await client.closed;
      assert.deepEqual(Buffer.concat(client.raw), Buffer.from('AMQP\x00\x00\x09\x01', 'latin1'));
    }
  });

  it('offers what it is and can do', async () => {
    await using host = await AmqpHost.start();
    const client = await RawClient.dial(host.port);
    client.sendBytes(protocolHeader);
    const { method } = await client.expect(MethodId.connectionStart);
    assert.equal(method.mechanisms, 'PLAIN SCRAM-SHA-256 AMQPLAIN');
    const { product, version, 'understudy.version': own } = method.serverProperties;
    assert.deepEqual([product, version, own], ['Understudy', '0.0.0', '0.0.0']);
    assert.equal(method.serverProperties['cluster_name'], 'test');
    const capabilities = method.serverProperties['capabilities'] as Record<string, boolean>;
    assert.equal(capabilities['publisher_confirms'], true);
    assert.equal(capabilities['direct_reply_to'], true);
    client.send(0, startOk('guest', 'guest', {}));
    const tune = (await client.expect(MethodId.connectionTune)).method;
    assert.deepEqual([tune.channelMax, tune.frameMax, tune.heartbeat], [2047, 131_072, 60]);
    client.end();
  });

  it('takes AMQPLAIN', async () => {
    await using host = await AmqpHost.start();
    const client = await started(host);
    const fields = '\x05LOGINS\x00\x00\x00\x05guest\x08PASSWORDS\x00\x00\x00\x05guest';
    client.send(0, new ConnectionStartOk({}, 'AMQPLAIN', Buffer.from(fields, 'latin1'), 'en_US'));
    await client.expect(MethodId.connectionTune);
    client.end();
  });

  it('refuses a wrong password with 403, or by hanging up on clients that do not know that', async () => {
    await using host = await AmqpHost.start();
    const told = await started(host);
    told.send(0, startOk('guest', 'wrong', caps));
    await expectClose(told, 403, /^ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN/);
    const dropped = await started(host);
    dropped.send(0, startOk('nobody', 'guest', {}));
    await dropped.closed;
    assert.equal(dropped.received.length, 0);
  });

  it('refuses an unknown mechanism and a response that makes no sense', async () => {
    await using host = await AmqpHost.start();
    const client = await started(host);
    client.send(0, new ConnectionStartOk({}, 'EXTERNAL', new Uint8Array(0), 'en_US'));
    await expectClose(client, 503, /unknown authentication mechanism 'EXTERNAL'/);
    for (const mechanism of ['PLAIN', 'AMQPLAIN']) {
      const other = await started(host);
      other.send(0, new ConnectionStartOk({ capabilities: caps }, mechanism, Buffer.from('guest'), 'en_US'));
      await expectClose(other, 403, /ACCESS_REFUSED/);
    }
  });

  it('refuses an unknown vhost with 530', async () => {
    await using host = await AmqpHost.start();
    const client = await authenticated(host);
    client.send(0, new ConnectionTuneOk(0, 0, 0));
    client.send(0, new ConnectionOpen('nowhere'));
    await expectClose(client, 530, /NOT_ALLOWED - vhost nowhere not found/);
  });

  it('refuses limits that are too small or larger than offered', async () => {
    await using host = await AmqpHost.start();
    const wrong = [
      [0, 4095, /frame_max = 4095 is lower than the minimum allowed value \(4096\)/],
      [0, 200_000, /frame_max = 200000 is higher/],
      [3000, 0, /channel_max = 3000 is higher/],
    ] as const;
    for (const [channelMax, frameMax, text] of wrong) {
      const client = await authenticated(host);
      client.send(0, new ConnectionTuneOk(channelMax, frameMax, 0));
      await expectClose(client, 530, text);
    }
  });

  it('takes 0 as "what you offer"', async () => {
    await using host = await AmqpHost.start();
    const client = await authenticated(host);
    client.send(0, new ConnectionTuneOk(0, 0, 0));
    client.send(0, new ConnectionOpen('/'));
    await client.expect(MethodId.connectionOpenOk);
    const [info] = host.server.list();
    assert.deepEqual([info!.channelMax, info!.frameMax, info!.heartbeatSeconds], [2047, 131_072, 0]);
    client.end();
  });

  it('refuses methods that are not due', async () => {
    await using host = await AmqpHost.start();
    const early = await started(host);
    early.send(0, new ConnectionOpen('/'));
    await expectClose(early, 503, /connection.open is not due now/);
    const secure = await RawClient.open(host.port);
    secure.send(0, new ConnectionSecureOk(new Uint8Array(0)));
    await expectClose(secure, 503, /COMMAND_INVALID/);
    const channel = await started(host);
    channel.send(1, new ChannelOpen());
    await expectClose(channel, 504, /CHANNEL_ERROR/);
    const nowhere = await RawClient.open(host.port);
    nowhere.send(0, new ChannelOpen());
    await expectClose(nowhere, 504, /channel.open is not due on channel 0/);
  });

  it('drops a client that does not finish the handshake in time', async () => {
    const clock = new ManualClock();
    await using host = await AmqpHost.start({}, clock);
    const silent = await RawClient.dial(host.port);
    const halfway = await started(host);
    const done = await RawClient.open(host.port);
    clock.advance(10_000);
    await Promise.all([silent.closed, halfway.closed]);
    await done.openChannel(1);
    done.end();
  });

  it('drops the oldest unfinished handshake when there are too many, and serves others', async () => {
    await using host = await AmqpHost.start({ handshakesMax: 50 });
    const flood = await Promise.all(Array.from({ length: 60 }, () => RawClient.dial(host.port)));
    const client = await RawClient.open(host.port);
    await eventually(() => host.server.connectionCount === 50, 'the bound of half-open connections');
    await client.openChannel(1);
    for (const other of [...flood, client]) other.end();
  });

  it('refuses connections above the limit', async () => {
    await using host = await AmqpHost.start({ connectionsMax: 1 });
    const first = await RawClient.open(host.port);
    const second = await RawClient.dial(host.port);
    await second.closed;
    assert.equal(host.server.counters.connectionsRefused, 1);
    first.end();
  });
});

describe('connection: life', () => {
  it('closes when the client asks, and deletes its exclusive queues', async () => {
    await using host = await AmqpHost.start();
    const client = await RawClient.open(host.port);
    await client.openChannel(1);
    client.send(1, new QueueDeclare('mine', false, false, true, false, false, {}));
    await client.expect(MethodId.queueDeclareOk, 1);
    client.send(0, new ConnectionClose(200, 'bye', 0, 0));
    await client.expect(MethodId.connectionCloseOk);
    assert.equal(host.broker.queues.size, 0);
    client.end();
    await eventually(() => host.server.connectionCount === 0);
  });

  it('leaves it to the client to close the socket after close-ok, and answers each of several closes', async () => {
    const clock = new ManualClock();
    await using host = await AmqpHost.start({}, clock);
    const client = await RawClient.open(host.port);
    for (let i = 0; i < 3; i++) {
      client.send(0, new ConnectionClose(200, 'bye', 0, 0));
      await client.expect(MethodId.connectionCloseOk);
    }
    assert.equal(host.server.connectionCount, 1);
    clock.advance(10_000);
    await client.closed;
    await eventually(() => host.server.connectionCount === 0);
  });

  it('finishes what was asked before the close', async () => {
    await using host = await AmqpHost.start();
    let go = (): void => {};
    host.broker.pause = new Promise<void>((resolve) => {
      go = resolve;
    });
    const client = await RawClient.open(host.port);
    await client.openChannel(1);
    client.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
    client.publish(1, '', 'q', 'late');
    client.send(0, new ConnectionClose(200, 'bye', 0, 0));
    assert.ok(await client.silent());
    go();
    await client.expect(MethodId.queueDeclareOk, 1);
    await client.expect(MethodId.connectionCloseOk);
    assert.equal(host.broker.queues.get('q')!.readyCount, 1);
  });

  it('deletes an exclusive queue whose declaration was answered after the connection had ended', async () => {
    await using host = await AmqpHost.start();
    let go = (): void => {};
    host.broker.pause = new Promise<void>((resolve) => {
      go = resolve;
    });
    const client = await RawClient.open(host.port);
    await client.openChannel(1);
    client.send(1, new QueueDeclare('mine', false, false, true, false, false, {}));
    assert.ok(await client.silent());
    client.end();
    await eventually(() => host.server.connectionCount === 0);
    go();
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(host.broker.queues.size, 0);
  });

  it('accepts a new secret', async () => {
    await using host = await AmqpHost.start();
    const client = await RawClient.open(host.port);
    client.send(0, new ConnectionUpdateSecret(Buffer.from('new'), 'rotation'));
    await client.expect(MethodId.connectionUpdateSecretOk);
    client.end();
  });

  it('stops cleanly: 320 to every client, and cuts off those that do not answer', async () => {
    const clock = new ManualClock();
    await using host = await AmqpHost.start({}, clock);
    const polite = await RawClient.open(host.port);
    const deaf = await RawClient.open(host.port);
    const stopped = host.server.stop('shutdown');
    await expectClose(polite, 320, /^CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'$/);
    await deaf.expect(MethodId.connectionClose);
    clock.advance(10_000);
    await stopped;
    await deaf.closed;
    assert.equal(clock.pending, 0);
    const late = connect(host.port, '127.0.0.1');
    const [error] = await once(late, 'error');
    assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
  });

  it('sends heartbeats while idle and gives up a client that sends none', async () => {
    const clock = new ManualClock();
    await using host = await AmqpHost.start({}, clock);
    const client = await RawClient.open(host.port, { heartbeat: 10 });
    clock.advance(10_000);
    assert.equal((await client.next()).method, undefined, 'a heartbeat after half an interval without output');
    client.frames.heartbeat();
    client.sendBytes(new Uint8Array(0));
    await eventually(() => host.server.list()[0]!.bytesIn > 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    clock.advance(15_000);
    assert.equal(host.server.connectionCount, 1, 'one interval and a half: not yet');
    clock.advance(10_000);
    await client.closed;
  });

  it('tells who is connected', async () => {
    await using host = await AmqpHost.start();
    const client = await RawClient.open(host.port);
    await client.openChannel(1);
    await client.openChannel(7);
    const [info] = host.server.list();
    assert.equal(info!.name, `127.0.0.1:${client.socket.localPort} -> 127.0.0.1:${host.port}`);
    assert.equal(info!.id, 'fake/1/1');
    assert.deepEqual([info!.user, info!.vhost, info!.state, info!.channels], ['guest', '/', 'running', 2]);
    assert.ok(host.server.closeConnection(info!.name, 'an operator'));
    await expectClose(client, 320, /an operator/);
  });
});

describe('connection: back-pressure of the broker', () => {
  it('blocks connections that publish and no others', async () => {
    await using host = await AmqpHost.start();
    const publisher = await RawClient.open(host.port);
    const reader = await RawClient.open(host.port);
    await publisher.openChannel(1);
    await reader.openChannel(1);
    publisher.send(1, new QueueDeclare('q', false, false, false, false, false, {}));
    await publisher.expect(MethodId.queueDeclareOk, 1);
    publisher.publish(1, '', 'q', 'before');
    await eventually(() => host.broker.queues.get('q')!.readyCount === 1);

    host.broker.gate.set('low on memory');
    assert.equal((await publisher.expect(MethodId.connectionBlocked)).method.reason, 'low on memory');
    assert.deepEqual(
      host.server.list().map((info) => info.state),
      ['blocked', 'running'],
    );
    for (let i = 0; i < 100; i++) publisher.publish(1, '', 'q', 'blocked');
    reader.send(1, new QueueDeclare('q', true, false, false, false, false, {}));
    assert.equal((await reader.expect(MethodId.queueDeclareOk, 1)).method.messageCount, 1);
    reader.publish(1, '', 'q', 'the first of a connection that was not known to publish');
    await reader.expect(MethodId.connectionBlocked);

    host.broker.gate.set('');
    await publisher.expect(MethodId.connectionUnblocked);
    await reader.expect(MethodId.connectionUnblocked);
    await eventually(() => host.broker.queues.get('q')!.readyCount === 102, 'the messages sent meanwhile');
    publisher.end();
    reader.end();
  });
});
