/** The HTTP API of one broker. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { Broker } from '../../src/index.js';
import { request } from './support/http.js';

describe('HTTP', () => {
  let broker: Broker;
  let connection: amqp.ChannelModel;
  before(async () => {
    broker = await Broker.start({ http: {} });
    connection = await amqp.connect(broker.amqpUrl);
  });
  after(async () => {
    await connection.close();
    await broker.stop();
  });

  it('tells of the cluster', async () => {
    const { status, headers, body } = await request(`${broker.httpUrl}/api/cluster`);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.deepEqual(body['members'], [
      {
        name: 'n1',
        pid: process.pid,
        amqp: `127.0.0.1:${broker.port}`,
        http: broker.httpUrl.slice('http://'.length),
        state: 'ready',
        protocol: [1, 3],
      },
    ]);
    assert.equal(body['protocol'], 3);
    const groups = body['groups'] as Record<string, unknown>[];
    assert.equal(groups.length, 17);
    assert.deepEqual(groups[0], { id: 0, epoch: 1, primary: 'n1', inSync: ['n1'], replicas: ['n1'], joining: [] });
    assert.equal(body['complete'], true);
  });

  it('tells of a queue', async () => {
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('a/b c', { durable: true });
    for (let i = 0; i < 3; i++) channel.sendToQueue('a/b c', Buffer.from('x'), { persistent: true });
    await channel.waitForConfirms();
    await channel.prefetch(1);
    await new Promise<void>((resolve) => void channel.consume('a/b c', () => resolve()));
    const { status, body } = await request(`${broker.httpUrl}/api/queues/%2F/${encodeURIComponent('a/b c')}`);
    assert.equal(status, 200);
    assert.equal(typeof body['group'], 'number');
    const { group: _group, ...rest } = body;
    assert.deepEqual(rest, {
      name: 'a/b c',
      vhost: '/',
      durable: true,
      exclusive: false,
      auto_delete: false,
      arguments: {},
      type: 'classic',
      state: 'running',
      node: 'n1',
      policy: null,
      operator_policy: null,
      effective_policy_definition: {},
      moving: '',
      messages: 3,
      messages_ready: 2,
      messages_unacknowledged: 1,
      consumers: 1,
      leader: 'n1',
      members: ['n1'],
      online: ['n1'],
    });
  });

  it('tells of queues whatever their names', async () => {
    const channel = await connection.createChannel();
    for (const name of ['q'.repeat(255), 'é'.repeat(127), '%'.repeat(255), ' ', 'a/../b?c#d', '__proto__']) {
      await channel.assertQueue(name);
      const { status, body } = await request(`${broker.httpUrl}/api/queues/%2F/${encodeURIComponent(name)}`);
      assert.equal(status, 200, name);
      assert.equal(body['name'], name);
    }
    await channel.close();
  });

  it('ends sockets whose requests do not wait for their answers, and serves the others', async () => {
    const one = 'GET /api/cluster HTTP/1.1\r\nHost: x\r\n\r\n';
    const sockets = Array.from({ length: 20 }, () => connect(Number(new URL(broker.httpUrl).port), '127.0.0.1'));
    await Promise.all(
      sockets.map(async (socket) => {
        socket.on('error', () => {});
        socket.resume();
        socket.write(one.repeat(5000));
        await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
        assert.ok(socket.bytesRead < 1000, `${socket.bytesRead} bytes of answers`);
      }),
    );
    assert.equal((await request(`${broker.httpUrl}/api/health`)).status, 200);
  });

  it('serves whoever asks while others hold sockets and ask nothing', async () => {
    const port = Number(new URL(broker.httpUrl).port);
    const held = Array.from({ length: 400 }, () => connect(port, '127.0.0.1'));
    for (const socket of held) {
      socket.on('error', () => {});
      socket.write('GET / HTTP/1.1\r\n');
    }
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    const { status } = await request(`${broker.httpUrl}/api/health`);
    for (const socket of held) socket.destroy();
    assert.equal(status, 200);
  });

  it('tells that it is well', async () => {
    assert.deepEqual((await request(`${broker.httpUrl}/api/health`)).body, { status: 'ok', node: 'n1' });
  });

  it('answers 401 to strangers', async () => {
    for (const credentials of [null, 'guest:wrong', 'nobody:guest', 'guest']) {
      const { status, headers, body } = await request(`${broker.httpUrl}/api/cluster`, { credentials });
      assert.equal(status, 401);
      assert.match(headers.get('www-authenticate')!, /^Basic realm=/);
      assert.equal(body['error'], 'not_authorised');
    }
  });

  it('answers 404 to what is not there', async () => {
    for (const path of [
      '/',
      '/api',
      '/api/nothing',
      '/api/queues/%2F/nothing',
      '/api/queues/nowhere/q',
      '/api/queues/%2',
    ]) {
      const { status, body } = await request(`${broker.httpUrl}${path}`);
      assert.equal(status, 404, path);
      assert.equal(typeof body['reason'], 'string');
    }
  });

  it('answers 405 to changes', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status, headers } = await request(`${broker.httpUrl}/api/cluster`, { method });
      assert.equal(status, 405);
      assert.equal(headers.get('allow'), 'GET, HEAD');
    }
  });

  it('takes changes as JSON only', async () => {
    const url = `${broker.httpUrl}/api/cluster/groups/1/override`;
    const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
    const post = async (type: string, body: string): Promise<number> => {
      const headers = { authorization, 'content-type': type };
      return (await fetch(url, { method: 'POST', headers, body })).status;
    };
    assert.equal(await post('text/plain', '{}'), 415);
    const json = 'application/json; charset=utf-8';
    assert.equal(await post(json, '{'), 400);
    assert.equal(await post(json, '[]'), 400);
    assert.equal(await post(json, JSON.stringify({ text: 'x'.repeat(100_000) })), 413);
    assert.equal(await post(json, '{}'), 409, 'alone: nobody waits');
    assert.equal((await request(`${broker.httpUrl}/api/health`)).status, 200);
  });

  it('sets, shows, replaces and clears policies, under the paths of RabbitMQ', async () => {
    const channel = await connection.createChannel();
    await channel.assertQueue('of a policy');
    const queue = `${broker.httpUrl}/api/queues/%2F/${encodeURIComponent('of a policy')}`;
    const policy = `${broker.httpUrl}/api/policies/%2F/one`;
    const body = { pattern: '^of a', definition: { 'min-in-sync': 1 }, priority: 3, 'apply-to': 'queues' };
    assert.equal((await request(policy)).status, 404);
    assert.equal((await request(policy, { method: 'PUT', body })).status, 201);
    assert.deepEqual((await request(policy)).body, { vhost: '/', name: 'one', ...body });
    assert.equal((await request(queue)).body['policy'], 'one');
    assert.deepEqual((await request(queue)).body['effective_policy_definition'], { 'min-in-sync': 1 });
    assert.equal((await request(policy, { method: 'PUT', body: { ...body, priority: 4 } })).status, 204);
    const all = await request(`${broker.httpUrl}/api/policies`);
    assert.deepEqual(all.body, [{ vhost: '/', name: 'one', ...body, priority: 4 }]);
    assert.deepEqual((await request(`${broker.httpUrl}/api/policies/%2F`)).body, all.body);
    assert.equal((await request(`${broker.httpUrl}/api/policies/nowhere`)).status, 404);
    assert.equal((await request(policy, { method: 'DELETE' })).status, 204);
    assert.equal((await request(policy, { method: 'DELETE' })).status, 404);
    assert.equal((await request(queue)).body['policy'], null);
  });

  it('limits queues that are there by operator policies at once, whatever they and their policies say', async () => {
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('limited', { arguments: { 'x-max-length': 4 } });
    for (const text of ['a', 'b', 'c', 'd', 'e']) channel.sendToQueue('limited', Buffer.from(text));
    await channel.waitForConfirms();
    const path = (kind: string): string => `${broker.httpUrl}/api/${kind}/%2F/limit`;
    const definition = { 'max-length': 3, expires: 3_600_000 };
    await request(path('policies'), { method: 'PUT', body: { pattern: '^limited$', definition } });
    const body = { pattern: '^limited$', definition: { 'max-length': 2 }, priority: 1 };
    assert.equal((await request(path('operator-policies'))).status, 404);
    assert.equal((await request(path('operator-policies'), { method: 'PUT', body })).status, 201);
    assert.equal((await request(path('operator-policies'), { method: 'PUT', body })).status, 204);
    const shown = { vhost: '/', name: 'limit', ...body, 'apply-to': 'queues' };
    assert.deepEqual((await request(path('operator-policies'))).body, shown);
    assert.deepEqual((await request(`${broker.httpUrl}/api/operator-policies/%2F`)).body, [shown]);
    assert.deepEqual((await request(`${broker.httpUrl}/api/operator-policies`)).body, [shown]);
    const queue = (await request(`${broker.httpUrl}/api/queues/%2F/limited`)).body;
    assert.deepEqual([queue['policy'], queue['operator_policy']], ['limit', 'limit']);
    assert.deepEqual(queue['effective_policy_definition'], { ...definition, 'max-length': 2 });
    const left = [await channel.get('limited', { noAck: true }), await channel.get('limited', { noAck: true })];
    assert.deepEqual(left.map((message) => message && message.content.toString()).join(), 'd,e');
    assert.equal(await channel.get('limited'), false);
    const wrong = { ...body, definition: { 'dead-letter-exchange': 'x' } };
    const refused = await request(path('operator-policies'), { method: 'PUT', body: wrong });
    assert.equal(refused.status, 400);
    assert.match(String(refused.body['reason']), /'dead-letter-exchange' is no key of an operator policy's definition/);
    for (const kind of ['operator-policies', 'policies'])
      assert.equal((await request(path(kind), { method: 'DELETE' })).status, 204);
    assert.equal((await request(path('operator-policies'), { method: 'DELETE' })).status, 404);
    await channel.close();
  });

  it('refuses policies that make no sense, and changes by strangers', async () => {
    const policy = `${broker.httpUrl}/api/policies/%2F/wrong`;
    const good = { pattern: '', definition: { 'min-in-sync': 1 } };
    const bodies: [body: unknown, status: number, reason: RegExp][] = [
      ['{', 400, /is no JSON/],
      [[], 400, /no JSON object/],
      [{ definition: {} }, 400, /"pattern" must be a text/],
      [{ ...good, priority: '1' }, 400, /"priority" must be a number/],
      [{ ...good, pattern: '(' }, 400, /no regular expression/],
      [{ ...good, definition: { nonsense: 1 } }, 400, /'nonsense' is no key of a policy's definition: it may have/],
      [' '.repeat(100_000), 413, /more than 65536 bytes/],
    ];
    for (const [body, status, reason] of bodies) {
      const answer = await request(policy, { method: 'PUT', body });
      assert.equal(answer.status, status, String(reason));
      assert.match(String(answer.body['reason']), reason);
    }
    assert.equal((await request(policy, { method: 'PUT', body: good, credentials: 'guest:wrong' })).status, 401);
    const { status, headers } = await request(policy, { method: 'POST', body: good });
    assert.equal(status, 405);
    assert.equal(headers.get('allow'), 'GET, HEAD, PUT, DELETE');
    assert.equal((await request(policy)).status, 404);
  });

  it('answers HEAD without a body', async () => {
    const { status, body } = await request(`${broker.httpUrl}/api/cluster`, { method: 'HEAD' });
    assert.equal(status, 200);
    assert.deepEqual(body, {});
  });
});
