/** Queues, exchanges and bindings over HTTP, at one broker. Statuses, texts' beginnings and fields are those of RabbitMQ 3.10. */
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { after, before, describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { Broker } from '../../src/index.js';
import { withCluster } from '../support/with-cluster.js';
import { request } from './support/http.js';

type Entry = Record<string, unknown>;

interface Listed {
  items: Entry[];
  [key: string]: unknown;
}

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

  const ask = (method: string, path: string, body?: unknown, credentials = 'guest:guest'): ReturnType<typeof request> =>
    request(`${broker.httpUrl}/api/${path}`, { method, body, credentials });
  const get = async <T>(path: string, credentials?: string): Promise<T> =>
    (await ask('GET', path, undefined, credentials)).body as T;

  it('declares, shows and deletes as RabbitMQ does', async () => {
    const cases: [method: string, path: string, body: unknown, status: number, reason?: RegExp][] = [
      ['PUT', 'queues/%2F/q1', { durable: true }, 201],
      ['PUT', 'queues/%2F/q1', { durable: true }, 204],
      ['PUT', 'queues/%2F/q1', { durable: false }, 400, /inequivalent arg 'durable' for queue 'q1' in vhost '\/'/],
      ['PUT', 'queues/%2F/q2', {}, 201],
      ['PUT', 'queues/%2F/q3', { arguments: { 'x-max-length': 'a' } }, 400, /invalid arg 'x-max-length'/],
      ['PUT', 'queues/%2F/q3', { arguments: 7 }, 400, /"arguments" must be an object/],
      ['PUT', 'queues/%2F/q3', { durable: 'x' }, 400, /"durable" must be true or false/],
      ['PUT', 'queues/%2F/q3', { exclusive: true }, 400, /"exclusive"/],
      ['PUT', 'queues/%2F/q3', { durable: 'true', auto_delete: 'false', arguments: [] }, 201],
      ['PUT', 'queues/%2F/amq.mine', {}, 401, /reserved prefix/],
      ['PUT', 'queues/nowhere/q', {}, 404, /nowhere/],
      ['GET', 'queues/%2F/nothing', undefined, 404],
      ['GET', 'queues/nowhere', undefined, 404],
      ['DELETE', 'queues/%2F/nothing', undefined, 404],
      ['DELETE', 'queues/%2F/nothing/contents', undefined, 404],
      ['DELETE', 'queues/%2F/q2/contents', undefined, 204],
      ['DELETE', 'queues/%2F/q1?if-empty=true&if-unused=true', undefined, 204],
      ['PUT', 'exchanges/%2F/x1', {}, 201],
      ['PUT', 'exchanges/%2F/x1', { type: 'direct' }, 204],
      ['PUT', 'exchanges/%2F/x1', { type: 'topic' }, 400, /inequivalent arg 'type' for exchange 'x1'/],
      ['PUT', 'exchanges/%2F/x2', { type: 'nope' }, 400, /unknown exchange type 'nope'/],
      ['PUT', 'exchanges/%2F/amq.mine', { type: 'direct' }, 401],
      ['GET', 'exchanges/%2F/amq.default', undefined, 200],
      ['GET', 'exchanges/nowhere', undefined, 404],
      ['DELETE', 'exchanges/%2F/amq.direct', undefined, 401],
      ['DELETE', 'exchanges/%2F/amq.default', undefined, 401],
      ['DELETE', 'exchanges/%2F/nothing', undefined, 404],
      ['POST', 'bindings/%2F/e/x1/q/q2', { routing_key: 'k' }, 201],
      ['POST', 'bindings/%2F/e/x1/q/q2', { routing_key: 'k' }, 201],
      ['POST', 'bindings/%2F/e/x1/q/nothing', { routing_key: 'k' }, 404, /no queue 'nothing' in vhost '\/'/],
      ['POST', 'bindings/%2F/e/nothing/q/q2', { routing_key: 'k' }, 404, /no exchange 'nothing' in vhost '\/'/],
      ['POST', 'bindings/%2F/e/amq.default/q/q2', { routing_key: 'k' }, 401],
      ['GET', 'bindings/%2F/e/x1/q/q2/nope', undefined, 404],
      ['DELETE', 'bindings/%2F/e/x1/q/q2/nope', undefined, 404],
      ['DELETE', 'bindings/%2F/e/amq.default/q/q2/q2', undefined, 401],
      ['GET', 'bindings/nowhere', undefined, 404],
      ['DELETE', 'exchanges/%2F/x1?if-unused=true', undefined, 400, /exchange 'x1' in vhost '\/' in use/],
      ['DELETE', 'exchanges/%2F/x1', undefined, 204],
      ['DELETE', 'queues/%2F/q2', undefined, 204],
      ['DELETE', 'queues/%2F/q3', undefined, 204],
    ];
    for (const [method, path, body, status, reason] of cases) {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
      if (reason !== undefined) assert.match(String(answer.body['reason']), reason);
      const error = { 400: 'bad_request', 401: 'not_authorised', 404: 'not_found' }[status];
      assert.equal(answer.body['error'], method === 'GET' && status === 200 ? undefined : error);
    }
  });

  it('keeps what is in use or not empty, if that is asked for', async () => {
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('full');
    channel.sendToQueue('full', Buffer.from('x'));
    await channel.waitForConfirms();
    const empty = await ask('DELETE', 'queues/%2F/full?if-empty=true');
    assert.deepEqual([empty.status, /not empty/.test(String(empty.body['reason']))], [400, true]);
    await channel.consume('full', () => {});
    assert.equal((await ask('DELETE', 'queues/%2F/full?if-unused=true')).status, 400);
    assert.equal((await ask('DELETE', 'queues/%2F/full')).status, 204);
    await channel.close();
  });

  it('purges', async () => {
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('purged');
    for (let i = 0; i < 5; i++) channel.sendToQueue('purged', Buffer.from('x'));
    await channel.waitForConfirms();
    assert.equal((await get<Entry>('queues/%2F/purged'))['messages'], 5);
    assert.equal((await ask('DELETE', 'queues/%2F/purged/contents')).status, 204);
    assert.equal((await channel.deleteQueue('purged')).messageCount, 0);
    await channel.close();
  });

  it('names bindings by their properties, in paths as in answers', async () => {
    await ask('PUT', 'queues/%2F/ends', {});
    await ask('PUT', 'exchanges/%2F/begins', { type: 'topic' });
    const keys: [routingKey: string, table: object, path: RegExp][] = [
      ['', {}, /^ends\/~$/],
      ['a.b c/~é', {}, /^ends\/a\.b%2Bc%252F%257E%25C3%25A9$/],
      ["!'()*", {}, /^ends\/%2521%2527%2528%2529%252A$/],
      ['k', { x: 1 }, /^ends\/k~[\w-]+$/],
      ['k', { x: 2 }, /^ends\/k~[\w-]+$/],
      ['', { x: 2 }, /^ends\/~[\w-]+$/],
      ['é'.repeat(127), { x: 2 }, /^ends\/(%25C3%25A9){127}~[\w-]+$/],
    ];
    for (const [routing_key, table, path] of keys) {
      const body = { routing_key, arguments: table };
      const { status, headers } = await ask('POST', 'bindings/%2F/e/begins/q/ends', body);
      assert.equal(status, 201);
      const location = headers.get('location')!;
      assert.match(location, path);
      const found = await get<Entry>(`bindings/%2F/e/begins/q/${location}`);
      const { properties_key: key, ...rest } = found;
      const ends = { source: 'begins', vhost: '/', destination: 'ends', destination_type: 'queue' };
      assert.deepEqual(rest, { ...ends, ...body });
      assert.equal(location, `ends/${encodeURIComponent(key as string)}`);
    }
    const all = await get<Entry[]>('bindings/%2F/e/begins/q/ends');
    assert.equal(all.length, keys.length);
    assert.equal(new Set(all.map((binding) => binding['properties_key'])).size, keys.length);
    const toQueue = await get<Entry[]>('queues/%2F/ends/bindings');
    assert.deepEqual(toQueue[0], {
      source: '',
      vhost: '/',
      destination: 'ends',
      destination_type: 'queue',
      routing_key: 'ends',
      arguments: {},
      properties_key: 'ends',
    });
    assert.equal(toQueue.length, keys.length + 1);
    assert.equal((await get<Entry[]>('exchanges/%2F/begins/bindings/source')).length, keys.length);
    await ask('POST', 'bindings/%2F/e/begins/e/amq.fanout', { routing_key: 'to exchange' });
    const [binding, ...none] = await get<Entry[]>('exchanges/%2F/amq.fanout/bindings/destination');
    assert.deepEqual([binding!['source'], binding!['destination_type'], none], ['begins', 'exchange', []]);
    assert.equal((await ask('DELETE', 'bindings/%2F/e/begins/e/amq.fanout/to%2Bexchange')).status, 204);
    for (const { properties_key: key } of all)
      assert.equal(
        (await ask('DELETE', `bindings/%2F/e/begins/q/ends/${encodeURIComponent(key as string)}`)).status,
        204,
      );
    assert.deepEqual(await get('bindings/%2F/e/begins/q/ends'), []);
    const channel = await connection.createChannel();
    await channel.deleteExchange('begins', { ifUnused: true });
    await channel.deleteQueue('ends');
    await channel.close();
  });

  it('lists by pages, names, columns and in any order', async () => {
    await ask('PUT', 'vhosts/listed', {});
    const all = { configure: '.*', write: '.*', read: '.*' };
    await ask('PUT', 'permissions/listed/guest', all);
    for (let i = 0; i < 25; i++) {
      const name = `${i % 2 === 0 ? 'even' : 'Odd'}.${String(i).padStart(2, '0')}`;
      await ask('PUT', `queues/listed/${name}`, { durable: i < 20, arguments: { 'x-max-length': 100 - i } });
    }
    const client = await amqp.connect(`${broker.amqpUrl.replace(/\/$/, '')}/listed`);
    const channel = await client.createConfirmChannel();
    for (const [name, count] of [
      ['even.02', 3],
      ['Odd.05', 1],
    ] as const)
      for (let i = 0; i < count; i++) channel.sendToQueue(name, Buffer.from('x'));
    await channel.waitForConfirms();
    const names = async (query: string): Promise<string[]> => {
      const found = await get<Listed | Entry[]>(`queues/listed?${query}`);
      return (Array.isArray(found) ? found : found.items).map(({ name }) => name as string);
    };
    const sorted = await names('');
    assert.deepEqual(sorted, [...sorted].sort());
    assert.equal(sorted.length, 25);
    const { items, ...page } = await get<Listed>('queues/listed?page=2&page_size=10&columns=name,durable');
    assert.deepEqual(page, {
      filtered_count: 25,
      item_count: 10,
      page: 2,
      page_count: 3,
      page_size: 10,
      total_count: 25,
    });
    assert.deepEqual(items[0], { name: sorted[10], durable: false });
    assert.equal((await names('page=3&page_size=10')).length, 5);
    const filtered = await get<Listed>('queues/listed?page=1&name=ODD&columns=name');
    assert.deepEqual([filtered['filtered_count'], filtered['total_count']], [12, 25]);
    assert.deepEqual(await names('page=1&name=%5Eodd..%5B12%5D&use_regex=true&page_size=3'), [
      'Odd.01',
      'Odd.11',
      'Odd.21',
    ]);
    assert.equal((await names('name=odd')).length, 25, 'only pages are looked through, as in RabbitMQ');
    assert.deepEqual((await names('sort=name&sort_reverse=true')).slice(0, 2), ['even.24', 'even.22']);
    assert.deepEqual((await names('sort=arguments.x-max-length')).slice(0, 2), ['even.24', 'Odd.23']);
    assert.deepEqual((await names('sort=messages&sort_reverse=true&page=1')).slice(0, 2), ['even.02', 'Odd.05']);
    assert.equal((await names('sort=nothing')).length, 25);
    const first = (await get<Listed>('queues/listed?page=1&page_size=1&name=even.02')).items[0]!;
    assert.deepEqual(
      [first['messages'], first['messages_ready'], first['consumers'], first['state']],
      [3, 3, 0, 'running'],
    );
    const selected = await get<Entry[]>('queues/listed?columns=arguments.x-max-length,nothing');
    assert.deepEqual(selected[0], { arguments: { 'x-max-length': 99 } });
    const wrong = ['page=0', 'page=x', 'page=1&page_size=501', 'page=9', 'page=1&name=(&use_regex=true'];
    for (const query of wrong) assert.equal((await ask('GET', `queues/listed?${query}`)).status, 400, query);
    const { body } = await ask('GET', 'queues/listed?page=9');
    assert.deepEqual(body, {
      error: 'page_out_of_range',
      reason: 'Page out of range, page: 9 page size: 100, len: 25',
    });
    const exchanges = await get<Listed>('exchanges/listed?page=1&page_size=2&columns=name');
    assert.deepEqual(exchanges.items, [{ name: '' }, { name: 'amq.direct' }]);
    assert.deepEqual((await get<Listed>('vhosts?page=1&columns=name')).items, [{ name: '/' }, { name: 'listed' }]);
    assert.equal((await get<Entry[]>('bindings/listed')).length, 25);
    await client.close();
    await ask('DELETE', 'vhosts/listed');
  });

  it('sends long lists to whoever takes them, and goes on when somebody leaves in the middle', async () => {
    await ask('PUT', 'vhosts/long', {});
    const queues = Array.from({ length: 3000 }, (_, i) => ({ vhost: 'long', name: `queue ${i}`, durable: true }));
    assert.equal((await ask('POST', 'definitions', { queues })).status, 204);
    const { hostname, port } = new URL(broker.httpUrl);
    const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
    const paths = ['queues/long', 'definitions', 'bindings/long?columns=destination', 'queues/long?sort=messages'];
    const leave = async (path: string, bytesMax: number): Promise<void> => {
      const socket = createConnection({ host: hostname, port: Number(port) });
      socket.on('error', () => {});
      socket.write(`GET /api/${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
      for await (const _ of socket) if (socket.bytesRead > bytesMax) break;
      socket.destroy();
    };
    // More than may be sent at a time: each must make room when it is left.
    for (const bytesMax of [1, 20_000, 50_000, 100_000, 300_000, 1])
      await Promise.all(paths.map((path) => leave(path, bytesMax)));
    assert.equal((await get<Entry[]>('queues/long')).length, 3000);
    const head = await fetch(`${broker.httpUrl}/api/queues/long`, { method: 'HEAD', headers: { authorization } });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    await ask('DELETE', 'vhosts/long');
  });

  it('has the fields that RabbitMQ has', async () => {
    await ask('PUT', 'queues/%2F/with%20fields', { durable: true });
    const wanted: Record<string, string> = {
      queues:
        'arguments auto_delete consumers durable effective_policy_definition exclusive messages messages_ready messages_unacknowledged name node operator_policy policy state type vhost',
      exchanges: 'arguments auto_delete durable internal name type vhost',
      bindings: 'arguments destination destination_type properties_key routing_key source vhost',
      nodes: 'disk_free_alarm mem_alarm name os_pid partitions running type',
    };
    for (const [path, fields] of Object.entries(wanted)) {
      const [one] = await get<Entry[]>(path);
      for (const field of fields.split(' ')) assert.ok(Object.hasOwn(one!, field), `${path} without ${field}`);
    }
    const overview = await get<Entry>('overview');
    const general = 'cluster_name exchange_types listeners management_version node object_totals rabbitmq_version';
    for (const field of general.split(' ')) assert.ok(Object.hasOwn(overview, field), `overview without ${field}`);
    assert.equal((overview['object_totals'] as Entry)['exchanges'], 7);
    assert.equal((await ask('PUT', 'cluster-name', { name: 'the cluster' })).status, 204);
    assert.deepEqual(await get('cluster-name'), { name: 'the cluster' });
    assert.equal((await get<Entry>('overview'))['cluster_name'], 'the cluster');
    assert.deepEqual(await get('global-parameters'), [{ name: 'cluster_name', value: 'the cluster' }]);
    assert.equal((await ask('DELETE', 'queues/%2F/with%20fields')).status, 204);
  });

  it('is allowed what permissions allow, and to look into vhosts that one may enter', async () => {
    const permissions = { configure: '^own\\.', write: '^own\\.', read: '^own\\.' };
    await ask('PUT', 'users/ann', { password: 'a', tags: 'management' });
    const as = 'ann:a';
    assert.equal((await ask('GET', 'queues/%2F', undefined, as)).status, 401);
    await ask('PUT', 'permissions/%2F/ann', permissions);
    await ask('PUT', 'vhosts/other', {});
    await ask('PUT', 'permissions/other/guest', { configure: '.*', write: '.*', read: '.*' });
    await ask('PUT', 'queues/other/hidden', {});
    await ask('PUT', 'queues/%2F/foreign', {});
    await ask('PUT', 'exchanges/%2F/own.x', { type: 'topic' });
    const topics = { exchange: 'own.x', write: '', read: '^a' };
    await ask('PUT', 'topic-permissions/%2F/ann', topics);
    const cases: [method: string, path: string, body: unknown, status: number][] = [
      ['PUT', 'queues/%2F/own.q', {}, 201],
      ['PUT', 'queues/%2F/foreign2', {}, 401],
      ['PUT', 'queues/%2F/own.dead', { arguments: { 'x-dead-letter-exchange': 'foreign' } }, 401],
      ['PUT', 'exchanges/%2F/own.y', { arguments: { 'alternate-exchange': 'foreign' } }, 401],
      ['PUT', 'exchanges/%2F/foreign', {}, 401],
      ['PUT', 'queues/other/own.q', {}, 401],
      ['GET', 'queues/other/hidden', undefined, 401],
      ['DELETE', 'queues/%2F/foreign', undefined, 401],
      ['DELETE', 'queues/%2F/foreign/contents', undefined, 401],
      ['POST', 'bindings/%2F/e/own.x/q/own.q', { routing_key: 'a' }, 201],
      ['POST', 'bindings/%2F/e/own.x/q/own.q', { routing_key: 'b' }, 401],
      ['POST', 'bindings/%2F/e/own.x/q/foreign', { routing_key: 'a' }, 401],
      ['POST', 'bindings/%2F/e/amq.topic/q/own.q', { routing_key: 'a' }, 401],
      ['DELETE', 'bindings/%2F/e/own.x/q/own.q/a', undefined, 204],
      ['GET', 'nodes', undefined, 401],
      ['GET', 'overview', undefined, 200],
      ['GET', 'global-parameters', undefined, 401],
      ['DELETE', 'queues/%2F/own.q', undefined, 204],
    ];
    for (const [method, path, body, status] of cases)
      assert.equal((await ask(method, path, body, as)).status, status, `${method} ${path}`);
    const seen = await get<Entry[]>('queues', as);
    assert.deepEqual([...new Set(seen.map(({ vhost }) => vhost))], ['/']);
    await ask('PUT', 'users/ann', { password: 'a', tags: '' });
    for (const path of ['queues', 'exchanges', 'bindings', 'queues/%2F/foreign', 'overview', 'health/checks/alarms'])
      assert.equal((await ask('GET', path, undefined, as)).status, 401, path);
    await ask('DELETE', 'vhosts/other');
    for (const path of ['queues/%2F/foreign', 'exchanges/%2F/own.x', 'users/ann']) await ask('DELETE', path);
  });

  it('is healthy', async () => {
    const { port } = new URL(broker.amqpUrl);
    const single = { status: 'ok', reason: 'single node cluster' };
    const checks: Record<string, object> = {
      'health/checks/alarms': { status: 'ok' },
      'health/checks/local-alarms': { status: 'ok' },
      'health/checks/virtual-hosts': { status: 'ok' },
      'health/checks/node-is-quorum-critical': single,
      'health/checks/node-is-mirror-sync-critical': single,
      [`health/checks/port-listener/${port}`]: { status: 'ok', port: Number(port) },
      'health/checks/protocol-listener/amqp': { status: 'ok', protocol: 'amqp' },
      'aliveness-test/%2F': { status: 'ok' },
    };
    for (const [path, body] of Object.entries(checks)) {
      const answer = await ask('GET', path);
      assert.deepEqual([answer.status, answer.body], [200, body], path);
    }
    const missing = await ask('GET', 'health/checks/protocol-listener/stomp');
    assert.equal(missing.status, 503);
    assert.deepEqual(missing.body, {
      status: 'failed',
      reason: 'No active listener',
      missing: 'stomp',
      protocols: ['amqp', 'http'],
    });
    assert.equal((await ask('GET', 'health/checks/port-listener/1')).status, 503);
    assert.equal((await ask('GET', 'health/checks/port-listener/x')).status, 400);
    assert.equal((await ask('GET', 'aliveness-test/nowhere')).status, 404);
  });

  it('gives queues the type that is the default of their vhost', async () => {
    assert.equal((await ask('PUT', 'vhosts/safe', { default_queue_type: 'quorum' })).status, 201);
    assert.equal((await ask('PUT', 'vhosts/safe', { default_queue_type: 'nope' })).status, 400);
    assert.equal((await ask('PUT', 'vhosts/safe', { description: 'd' })).status, 204);
    const vhost = await get<Entry>('vhosts/safe');
    assert.equal(vhost['default_queue_type'], 'quorum');
    assert.deepEqual(vhost['metadata'], { description: 'd', tags: [], default_queue_type: 'quorum' });
    await ask('PUT', 'permissions/safe/guest', { configure: '.*', write: '.*', read: '.*' });
    const quorum = { 'x-queue-type': 'quorum' };
    const queues: [name: string, declared: object, table: object][] = [
      ['a', { durable: true }, quorum],
      ['b', { durable: true, arguments: { 'x-max-length': 5 } }, { ...quorum, 'x-max-length': 5 }],
      ['c', { durable: true, auto_delete: true }, {}],
      ['d', { durable: false }, {}],
      ['e', { durable: true, arguments: { 'x-queue-type': 'classic' } }, { 'x-queue-type': 'classic' }],
    ];
    for (const [name, declared, table] of queues) {
      assert.equal((await ask('PUT', `queues/safe/${name}`, declared)).status, 201);
      assert.equal((await ask('PUT', `queues/safe/${name}`, declared)).status, 204);
      const queue = await get<Entry>(`queues/safe/${name}`);
      assert.deepEqual(queue['arguments'], table);
      assert.equal(queue['type'], (table as Entry)['x-queue-type'] ?? 'classic');
    }
    const client = await amqp.connect(`${broker.amqpUrl.replace(/\/$/, '')}/safe`);
    const channel = await client.createChannel();
    await channel.assertQueue('a', { durable: true });
    await channel.assertQueue('', { exclusive: true });
    await channel.assertQueue('of a client', { durable: true });
    await client.close();
    assert.deepEqual((await get<Entry>('queues/safe/of%20a%20client'))['arguments'], quorum);
    await ask('DELETE', 'vhosts/safe');
  });
});

describe('queues and exchanges of a cluster', () => {
  it('are changed through any node, on all of them', async () => {
    await withCluster([], async (cluster) => {
      const status = async (node: number, method: string, path: string, body?: unknown): Promise<number> =>
        (await request(`${cluster.nodes[node]!.httpUrl.origin}/api/${path}`, { method, body })).status;
      const client = await amqp.connect(cluster.nodes[0]!.amqpUrl);
      const channel = await client.createConfirmChannel();
      assert.equal(await status(0, 'PUT', 'queues/%2F/q', { durable: true }), 201);
      assert.equal(await status(1, 'PUT', 'queues/%2F/q', { durable: true }), 204);
      assert.equal(await status(1, 'PUT', 'exchanges/%2F/x', { type: 'topic', durable: true }), 201);
      assert.equal(await status(2, 'POST', 'bindings/%2F/e/x/q/q', { routing_key: 'a.#' }), 201);
      for (let i = 0; i < 5; i++) channel.publish('x', 'a.b', Buffer.from('x'), { persistent: true });
      await channel.waitForConfirms();
      assert.equal((await channel.checkQueue('q')).messageCount, 5);
      assert.equal(await status(2, 'DELETE', 'queues/%2F/q/contents'), 204);
      assert.equal((await channel.checkQueue('q')).messageCount, 0);
      assert.equal(await status(0, 'DELETE', `bindings/%2F/e/x/q/q/a.%2523`), 204);
      assert.equal(await status(2, 'DELETE', 'exchanges/%2F/x?if-unused=true'), 204);
      assert.equal(await status(1, 'DELETE', 'queues/%2F/q?if-empty=true'), 204);
      for (const node of [0, 1, 2]) {
        assert.equal(await status(node, 'GET', 'queues/%2F/q'), 404);
        assert.equal(await status(node, 'GET', 'exchanges/%2F/x'), 404);
      }
      await client.close();
    });
  });
});

describe('lists of a cluster', () => {
  it('have what is in queues that other nodes lead, and say of those that nobody leads that they are down', async () => {
    await withCluster([], async (cluster) => {
      const [first, second, third] = cluster.nodes;
      const api = async (node: number, method: string, path: string, body?: unknown): Promise<unknown> => {
        const answer = await request(`${cluster.nodes[node]!.httpUrl.origin}/api/${path}`, { method, body });
        assert.ok(answer.status < 300, JSON.stringify(answer.body));
        return answer.body;
      };
      for (const [node, { amqpUrl }] of [first!, second!].entries()) {
        const client = await amqp.connect(amqpUrl);
        const channel = await client.createConfirmChannel();
        for (let i = 0; i < 10; i++) {
          const table = i === 0 && node === 1 ? { 'x-replicate': 'none' } : {};
          await api(node, 'PUT', `queues/%2F/q${node}.${i}`, { durable: true, arguments: table });
          for (let n = 0; n < i; n++) channel.sendToQueue(`q${node}.${i}`, Buffer.from('x'), { persistent: true });
        }
        await channel.waitForConfirms();
        await client.close();
      }
      const listed = (await api(2, 'GET', 'queues/%2F?sort=messages')) as Entry[];
      assert.deepEqual(
        listed.map(({ name, messages, state }) => [Number(String(name).slice(3)), messages, state]),
        Array.from({ length: 20 }, (_, i) => [i >> 1, i >> 1, 'running']),
      );
      assert.ok(new Set(listed.map(({ leader }) => leader)).size > 1, 'several nodes lead them');
      const nodes = (await api(2, 'GET', 'nodes')) as Entry[];
      assert.deepEqual(
        nodes.map(({ name, running }) => [name, running]),
        [first!, second!, third!].map(({ name }) => [name, true]),
      );
      const critical = await request(`${third!.httpUrl.origin}/api/health/checks/node-is-quorum-critical`);
      assert.equal(critical.status, 200);
      await second!.kill();
      const one = (await api(0, 'GET', 'queues/%2F/q1.0')) as Entry;
      assert.deepEqual([one['state'], one['messages']], ['down', undefined]);
      const page = (await api(0, 'GET', 'queues/%2F?page=1&sort=name')) as Listed;
      const down = page.items.filter(({ state }) => state === 'down').map(({ name }) => name);
      assert.deepEqual(down, ['q1.0']);
      assert.equal(page['total_count'], 20);
    });
  });
});
