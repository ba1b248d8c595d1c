/** What users may do over AMQP 0-9-1: codes and texts of refusals, as RabbitMQ has them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicConsume,
  BasicGet,
  type ChannelClose,
  ChannelOpen,
  ConnectionOpen,
  ConnectionSecureOk,
  ConnectionStartOk,
  ConnectionTuneOk,
  ExchangeBind,
  ExchangeDeclare,
  ExchangeDelete,
  ExchangeUnbind,
  type Method,
  MethodId,
  protocolHeader,
  QueueBind,
  QueueDeclare,
  QueueDelete,
  QueuePurge,
  QueueUnbind,
} from '../../../src/amqp091/codec/index.js';
import type { Arguments } from '../../../src/model/broker.js';
import { formatScramKeys, makeScramKeys } from '../../../src/security/scram-keys.js';
import { hashPassword } from '../../../src/security/password-hash.js';
import { Hashing } from '../../../src/model/access/objects.js';
import { AmqpHost } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';
import { ScramClient } from '../security/scram-client.js';
import { TestTables, text } from '../security/support.js';

const capabilities = { authentication_failure_close: true };

/** A host with the user ann, whose password is `a`: names that begin with c, w and r may be configured, written to, read. */
async function start(): Promise<{ host: AmqpHost; tables: TestTables }> {
  const tables = new TestTables();
  const scram = formatScramKeys(await makeScramKeys(text('a')));
  tables.person('ann', { hashing: Hashing.scrypt, hash: await hashPassword(text('a')), scram });
  tables.set({ kind: 'permission', position: 0, user: 'ann', vhost: '/', configure: '^c', write: '^w', read: '^r' });
  return { host: await AmqpHost.start({}, undefined, undefined, tables), tables };
}

async function introduced(
  host: AmqpHost,
  mechanism: string,
  response: Buffer,
  more: Arguments = {},
): Promise<RawClient> {
  const client = await RawClient.dial(host.port);
  client.sendBytes(protocolHeader);
  await client.expect(MethodId.connectionStart);
  client.send(0, new ConnectionStartOk({ capabilities, ...more }, mechanism, response, 'en_US'));
  return client;
}

async function opened(host: AmqpHost, vhost = '/', more: Arguments = {}): Promise<RawClient> {
  const client = await introduced(host, 'PLAIN', Buffer.from('\0ann\0a'), more);
  await client.expect(MethodId.connectionTune);
  client.send(0, new ConnectionTuneOk(0, 0, 0));
  client.send(0, new ConnectionOpen(vhost));
  return client;
}

async function closeText(client: RawClient): Promise<string> {
  const { method } = await client.expect(MethodId.connectionClose);
  return `${method.replyCode} ${method.replyText}`;
}

const none: Arguments = {};

function declareQueue(name: string, args: Arguments = none, passive = false): Method {
  return new QueueDeclare(name, passive, false, false, false, false, args);
}

function declareExchange(name: string, args: Arguments = none, passive = false): Method {
  return new ExchangeDeclare(name, 'fanout', passive, false, false, false, false, args);
}

/** What is done, and what it is refused with; '' = it is not refused. */
const cases: [what: string, method: Method, refusal: string][] = [
  ['declare', declareQueue('q'), "configure access to queue 'q'"],
  ['declare, named by the broker', declareQueue(''), "configure access to queue 'amq.gen-0000000000000000000000'"],
  ['declare, passively', declareQueue('q', none, true), ''],
  ['declare, permitted', declareQueue('c'), ''],
  ['declare with dead letters', declareQueue('c', { 'x-dead-letter-exchange': 'w' }), "read access to queue 'c'"],
  ['declare with dead letters', declareQueue('cr', { 'x-dead-letter-exchange': 'w' }), "read access to queue 'cr'"],
  ['declare an exchange', declareExchange('x'), "configure access to exchange 'x'"],
  ['declare an exchange, passively', declareExchange('r1', none, true), ''],
  ['declare an exchange, permitted', declareExchange('cx'), ''],
  ['declare with an alternate', declareExchange('cx', { 'alternate-exchange': 'w' }), "read access to exchange 'cx'"],
  ['delete', new QueueDelete('q', false, false, false), "configure access to queue 'q'"],
  ['delete an exchange', new ExchangeDelete('x', false, false), "configure access to exchange 'x'"],
  ['purge', new QueuePurge('w1', false), "read access to queue 'w1'"],
  ['purge, permitted', new QueuePurge('r1', false), ''],
  ['bind without write', new QueueBind('q', 'r1', '', false, none), "write access to queue 'q'"],
  ['bind without read', new QueueBind('w1', 'x', '', false, none), "read access to exchange 'x'"],
  ['bind, permitted', new QueueBind('w1', 'r1', '', false, none), ''],
  ['unbind without write', new QueueUnbind('q', 'r1', '', none), "write access to queue 'q'"],
  ['bind exchanges without write', new ExchangeBind('x', 'r1', '', false, none), "write access to exchange 'x'"],
  ['bind exchanges without read', new ExchangeBind('w1', 'x', '', false, none), "read access to exchange 'x'"],
  ['unbind exchanges without read', new ExchangeUnbind('w1', 'x', '', false, none), "read access to exchange 'x'"],
  ['get', new BasicGet('w1', true), "read access to queue 'w1'"],
  ['consume', new BasicConsume('w1', '', false, true, false, false, none), "read access to queue 'w1'"],
];

describe('access', () => {
  it('is asked for by each method as in RabbitMQ, and refused with 403 on the channel', async () => {
    const { host } = await start();
    await using _ = host;
    const queue = { vhost: '/', durable: false, exclusive: false, autoDelete: false, passive: false, arguments: {} };
    for (const name of ['q', 'w1', 'r1']) {
      await host.broker.wiring.declareQueue({ ...queue, name, connection: 'x' });
      const exchange = { ...queue, name, type: 'fanout', internal: false, connection: 'x' };
      await host.broker.wiring.declareExchange(exchange);
    }
    const client = await opened(host);
    await client.expect(MethodId.connectionOpenOk);
    let channel = 0;
    for (const [what, method, refusal] of cases) {
      await client.openChannel(++channel);
      client.send(channel, method);
      const answer = (await client.next()).method!;
      if (refusal === '') {
        assert.notEqual(answer.id, MethodId.channelClose, `${what}: ${JSON.stringify(answer)}`);
        continue;
      }
      assert.equal(answer.id, MethodId.channelClose, what);
      const { replyCode, replyText, classId, methodId } = answer as ChannelClose;
      assert.equal(
        `${replyCode} ${replyText}`,
        `403 ACCESS_REFUSED - ${refusal} in vhost '/' refused for user 'ann'`,
        what,
      );
      assert.equal(classId * 65_536 + methodId, method.id, what);
    }
  });

  it('to publish is asked for once, and again when permissions have changed', async () => {
    const { host, tables } = await start();
    await using _ = host;
    const client = await opened(host);
    await client.expect(MethodId.connectionOpenOk);
    await client.openChannel(1);
    const refusal = async (channel: number): Promise<string> =>
      (await client.expect(MethodId.channelClose, channel)).method.replyText;
    client.publish(1, '', 'k');
    const byDefault = "ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'ann'";
    assert.equal(await refusal(1), byDefault);
    tables.set({ kind: 'permission', position: 0, user: 'ann', vhost: '/', configure: '', write: '.*', read: '' });
    await client.openChannel(2);
    client.publish(2, 'amq.topic', 'k', '', {}, true);
    await client.expect(MethodId.basicReturn, 2);
    tables.set({
      kind: 'topicPermission',
      position: 0,
      user: 'ann',
      vhost: '/',
      exchange: 'amq.topic',
      write: '^ann',
      read: '',
    });
    host.broker.routingVersion++;
    client.publish(2, 'amq.topic', 'ann.k', '', {}, true);
    await client.expect(MethodId.basicReturn, 2);
    client.publish(2, 'amq.topic', 'k');
    const byTopic =
      "ACCESS_REFUSED - write access to topic 'k' in exchange 'amq.topic' in vhost '/' refused for user 'ann'";
    assert.equal(await refusal(2), byTopic);
  });

  it('to bind to a topic exchange is asked for by routing key', async () => {
    const { host, tables } = await start();
    await using _ = host;
    tables.set({ kind: 'permission', position: 0, user: 'ann', vhost: '/', configure: '.*', write: '.*', read: '.*' });
    tables.set({
      kind: 'topicPermission',
      position: 0,
      user: 'ann',
      vhost: '/',
      exchange: 'amq.topic',
      write: '',
      read: '^a',
    });
    const client = await opened(host);
    await client.expect(MethodId.connectionOpenOk);
    await client.openChannel(1);
    client.send(1, declareQueue('q'));
    await client.expect(MethodId.queueDeclareOk, 1);
    client.send(1, new QueueBind('q', 'amq.topic', 'a.b', false, none));
    await client.expect(MethodId.queueBindOk, 1);
    client.send(1, new QueueBind('q', 'amq.topic', 'b', false, none));
    const { method } = await client.expect(MethodId.channelClose, 1);
    assert.match(
      method.replyText,
      /ACCESS_REFUSED - read access to topic 'b' in exchange 'amq.topic' in vhost '\/' refused/,
    );
  });

  it('to a vhost is refused with 530', async () => {
    const { host, tables } = await start();
    await using _ = host;
    assert.equal(await closeText(await opened(host, 'nowhere')), '530 NOT_ALLOWED - vhost nowhere not found');
    tables.remove(tables.permission('ann', '/')!);
    assert.equal(await closeText(await opened(host)), "530 NOT_ALLOWED - access to vhost '/' refused for user 'ann'");
  });

  it('of operators takes the tag administrator', async () => {
    const { host, tables } = await start();
    await using _ = host;
    const operator = { 'understudy.operator': true };
    assert.match(
      await closeText(await opened(host, '/', operator)),
      /^403 ACCESS_REFUSED - 'understudy.operator' is for users with the tag administrator/,
    );
    tables.set({ ...tables.user('ann')!, tags: ['administrator'] });
    await (await opened(host, '/', operator)).expect(MethodId.connectionOpenOk);
  });

  it('ends when limits are reached', async () => {
    const { host, tables } = await start();
    await using _ = host;
    const limits = { kind: 'limits', position: 0, of: 'user', name: 'ann' } as const;
    tables.set({ ...limits, limits: { 'max-connections': 1, 'max-channels': 1 } });
    const client = await opened(host);
    await client.expect(MethodId.connectionOpenOk);
    const second = "530 NOT_ALLOWED - Connection refused for user 'ann': user connection limit (1) is reached";
    assert.equal(await closeText(await opened(host)), second);
    await client.openChannel(1);
    client.send(2, new ChannelOpen());
    const channels =
      "530 NOT_ALLOWED - number of channels opened for user 'ann' has reached the maximum allowed user limit of (1)";
    assert.equal(await closeText(client), channels);
    client.socket.destroy();
    tables.set({ ...limits, limits: {} });
    tables.set({ kind: 'limits', position: 0, of: 'vhost', name: '/', limits: { 'max-connections': 0 } });
    const full = "530 NOT_ALLOWED - access to vhost '/' refused for user 'ann': connection limit (0) is reached";
    assert.equal(await closeText(await opened(host)), full);
  });

  it('ends with the user or the vhost, and not with the password', async () => {
    const { host, tables } = await start();
    await using _ = host;
    const [one, other] = [await opened(host), await opened(host)];
    for (const client of [one, other]) await client.expect(MethodId.connectionOpenOk);
    tables.set({ ...tables.user('ann')!, hash: '' });
    tables.settled(() => true);
    await one.openChannel(1);
    tables.vhostGone('/');
    tables.settled(() => true);
    await one.openChannel(2);
    for (const user of tables.usersNamed('ann')) tables.remove(user);
    tables.settled(() => true);
    for (const client of [one, other])
      assert.equal(await closeText(client), "320 CONNECTION_FORCED - user 'ann' is deleted");
  });

  it('is given by SCRAM-SHA-256, with connection.secure', async () => {
    const { host } = await start();
    await using _ = host;
    for (const password of ['a', 'b']) {
      const scram = new ScramClient('ann', password);
      const client = await introduced(host, 'SCRAM-SHA-256', scram.first);
      const { method } = await client.expect(MethodId.connectionSecure);
      client.send(0, new ConnectionSecureOk(scram.final(method.challenge)));
      if (password === 'b') {
        assert.match(
          await closeText(client),
          /^403 ACCESS_REFUSED - Login was refused using .* SCRAM-SHA-256\. For details/,
        );
        continue;
      }
      const last = (await client.expect(MethodId.connectionSecure)).method;
      assert.ok(scram.isServer(last.challenge));
      client.send(0, new ConnectionSecureOk(Buffer.alloc(0)));
      await client.expect(MethodId.connectionTune);
    }
  });

  it('is not given by a mechanism that is not offered', async () => {
    const { host } = await start();
    await using _ = host;
    const client = await introduced(host, 'ANONYMOUS', Buffer.from('ann'));
    assert.equal(await closeText(client), "503 COMMAND_INVALID - unknown authentication mechanism 'ANONYMOUS'");
  });
});
