/** Definitions over HTTP and by the command line: those of RabbitMQ 3.10, and our own, from one cluster into another. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from 'amqplib';
import { Broker } from '../../src/index.js';
import { withCluster } from '../support/with-cluster.js';
import { finished, freePorts, Run, TemporaryFolder } from './support/command.js';
import { request } from './support/http.js';

type Sections = Record<string, Record<string, unknown>[]>;

const fixture = (name: string): Promise<string> => readFile(`test/fixtures/rabbitmq-3.10/${name}.json`, 'utf8');

/** Its lists, in an order of their own, so that they can be compared. */
function lists(definitions: unknown): Sections {
  const found = Object.entries(definitions as object).filter(([, value]) => Array.isArray(value));
  return Object.fromEntries(found.map(([key, list]) => [key, sortedList(list as Record<string, unknown>[])]));
}

function sortedList(list: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const key = (object: unknown): string => JSON.stringify(sortedKeys(object));
  return [...list].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortedKeys(inner)]));
}

async function withBroker(run: (broker: Broker) => Promise<void>): Promise<void> {
  const broker = await Broker.start({ http: {} });
  try {
    await run(broker);
  } finally {
    await broker.stop();
  }
}

async function exported(broker: Broker, path = 'definitions'): Promise<Record<string, unknown>> {
  const { status, body } = await request(`${broker.httpUrl}/api/${path}`);
  assert.equal(status, 200);
  return body;
}

function imported(broker: Broker, body: unknown, path = 'definitions'): ReturnType<typeof request> {
  return request(`${broker.httpUrl}/api/${path}`, { method: 'POST', body });
}

async function logsIn(broker: Broker, user: string, password: string, vhost: string): Promise<void> {
  const url = broker.amqpUrl.replace('guest:guest', `${user}:${password}`);
  const connection = await connect(`${url.replace(/\/$/, '')}/${encodeURIComponent(vhost)}`);
  await connection.close();
}

describe('definitions of RabbitMQ 3.10', () => {
  it('come in and go out as the same objects, and its users log in', async () => {
    const text = await fixture('definitions');
    await withBroker(async (broker) => {
      assert.deepEqual(await imported(broker, text).then(({ status, body }) => [status, body]), [204, {}]);
      const theirs = lists(JSON.parse(text));
      const out = await exported(broker);
      const { vhosts, ...ours } = lists(out);
      const { vhosts: theirVhosts, ...rest } = theirs;
      assert.deepEqual(ours, rest);
      assert.deepEqual(
        vhosts!.map(({ name }) => name),
        theirVhosts!.map(({ name }) => name),
      );
      await logsIn(broker, 'ann', 'ann-secret', 'shop');
      await logsIn(broker, 'big', 'big-secret', 'shop');
      await assert.rejects(logsIn(broker, 'big', 'small', 'shop'), /403/);
      const queue = (await request(`${broker.httpUrl}/api/queues/shop/short.1`)).body;
      assert.deepEqual([queue['policy'], queue['operator_policy']], ['short', 'most']);
      // Once more: nothing is different.
      assert.equal((await imported(broker, text)).status, 204);
      assert.deepEqual(await exported(broker), out);
    });
  });

  it('of one vhost come into any', async () => {
    const text = await fixture('definitions-of-vhost');
    await withBroker(async (broker) => {
      assert.equal((await imported(broker, text, 'definitions/nowhere')).status, 404);
      await request(`${broker.httpUrl}/api/vhosts/copy`, { method: 'PUT', body: {} });
      assert.equal((await imported(broker, text, 'definitions/copy')).status, 204);
      const copy = await exported(broker, 'definitions/copy');
      assert.deepEqual(lists(copy), lists(JSON.parse(text.replaceAll(/,\s*"vhost": "shop"|"vhost": "shop",/g, ''))));
      const all = await fixture('definitions');
      const { users: _, vhosts: __, permissions: ___, topic_permissions: ____, ...mixed } = JSON.parse(all) as Sections;
      const refused = await imported(broker, { ...mixed, global_parameters: [] }, 'definitions/copy');
      assert.match(
        String(refused.body['reason']),
        /policies\[0\]: it is of vhost '\/', and what comes before it of 'shop'/,
      );
      assert.match(
        String((await imported(broker, all, 'definitions/copy')).body['reason']),
        /users: it is not about one/,
      );
      assert.deepEqual(lists(await exported(broker, 'definitions/%2F'))['queues'], []);
    });
  });
});

describe('our own definitions', () => {
  it('lose nothing on their way into another broker', async () => {
    await withBroker(async (first) => {
      const change = async (method: string, path: string, body: unknown): Promise<void> => {
        const { status, body: said } = await request(`${first.httpUrl}/api/${path}`, { method, body });
        assert.ok(status < 300, `${path}: ${JSON.stringify(said)}`);
      };
      await change('PUT', 'vhosts/v', { description: 'd', tags: 'x,y', default_queue_type: 'quorum' });
      await change('PUT', 'users/eve', { password: 'secret of eve', tags: 'management' });
      await change('PUT', 'user-limits/eve/max-channels', { value: 9 });
      await change('PUT', 'permissions/v/eve', { configure: '.*', write: '.*', read: '.*' });
      await change('PUT', 'permissions/v/guest', { configure: '.*', write: '.*', read: '.*' });
      await change('PUT', 'topic-permissions/v/eve', { exchange: 'amq.topic', write: '^a', read: '' });
      await change('PUT', 'vhost-limits/v/max-queues', { value: 99 });
      await change('PUT', 'policies/v/p', { pattern: 'x', definition: { 'min-in-sync': 1 }, priority: -2 });
      await change('PUT', 'operator-policies/v/o', { pattern: '', definition: { 'max-length': 10 } });
      await change('PUT', 'global-parameters/g', { value: [1, { a: null }] });
      const connection = await connect(`${first.amqpUrl.replace(/\/$/, '')}/v`);
      const channel = await connection.createChannel();
      const table = {
        when: { '!': 'timestamp', value: 1_700_000_000 },
        price: { '!': 'decimal', value: { digits: 314, places: 2 } },
        bytes: Buffer.from([0, 255]),
        many: { '!': 'int64', value: '9007199254740993' },
        deep: { list: [1, 'a', false, { $time: 'no form' }], $odd: true },
      };
      await channel.assertQueue('typed', { durable: true, arguments: { table } as never });
      await channel.assertQueue('mine', { exclusive: true });
      const { queue } = await channel.assertQueue('', { durable: true, exclusive: false });
      await channel.assertExchange('x', 'headers', { arguments: { note: table } as never });
      await channel.bindQueue('typed', 'x', '', { 'x-match': 'any', table } as never);
      await channel.bindQueue('mine', 'amq.direct', 'k');
      await channel.bindExchange('x', 'amq.topic', 'a.#');
      const out = await exported(first);
      const names = (out['queues'] as { name: string }[]).map(({ name }) => name);
      assert.deepEqual(names.sort(), [queue, 'typed'].sort());
      assert.equal((out['bindings'] as unknown[]).length, 2, 'not of the exclusive queue');
      await withBroker(async (second) => {
        const answer = await imported(second, out);
        assert.deepEqual([answer.status, answer.body], [204, {}]);
        assert.deepEqual(await exported(second), out);
        await logsIn(second, 'eve', 'secret of eve', 'v');
        const redeclared = await connect(`${second.amqpUrl.replace(/\/$/, '')}/v`);
        const other = await redeclared.createChannel();
        await other.assertQueue('typed', { durable: true, arguments: { table } as never });
        await redeclared.close();
        assert.equal((await imported(second, out)).status, 204);
        assert.deepEqual(await exported(second), out);
      });
      await connection.close();
    });
  });

  it('are written and read by commands', async () => {
    await using folder = await TemporaryFolder.make();
    const file = join(folder.path, 'definitions.json');
    await withBroker(async (broker) => {
      const command = (...args: string[]): ReturnType<typeof finished> =>
        finished(['definitions', ...args, '--url', broker.httpUrl]);
      const theirs = join(folder.path, 'theirs.json');
      await writeFile(theirs, await fixture('definitions'));
      assert.deepEqual(await command('import', theirs), { code: 0, stdout: '', stderr: '' });
      assert.deepEqual(await command('export', file), { code: 0, stdout: '', stderr: '' });
      const out = await exported(broker);
      assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), out);
      assert.deepEqual(JSON.parse((await command('export')).stdout), out);
      const shop = await command('export', '--vhost', 'shop');
      assert.deepEqual(JSON.parse(shop.stdout), await exported(broker, 'definitions/shop'));
      await writeFile(file, shop.stdout);
      assert.equal((await command('import', file, '--vhost', '/')).code, 0);
      const failures: [args: string[], code: number, text: RegExp][] = [
        [['import', join(folder.path, 'nothing')], 1, /no such file/],
        [['import', file], 1, /nothing was imported\. parameters\[0\]: "vhost" is missing/],
        [['export', '--vhost', 'nowhere'], 1, /there is no vhost 'nowhere'/],
        [['export', join(folder.path, 'no', 'folder')], 1, /no such file/],
        [['import'], 2, /missing required argument/],
      ];
      for (const [args, code, text] of failures) {
        const result = await command(...args);
        assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`);
        assert.match(result.stderr, text);
        assert.equal(result.stderr.trim().split('\n').length, 1);
      }
    });
  });
});

describe('definitions of a cluster', () => {
  it('come in through one node, go out through another, and outlive all nodes', async () => {
    await withCluster([], async (cluster) => {
      const definitions = (node: number): string => `${cluster.nodes[node]!.httpUrl.origin}/api/definitions`;
      const credentials = 'ann:ann-secret';
      const body = await fixture('definitions');
      const answer = await request(definitions(0), { method: 'POST', body });
      assert.deepEqual([answer.status, answer.body], [204, {}]);
      const out = (await request(definitions(1), { credentials })).body;
      assert.deepEqual(lists(out)['bindings'], lists(JSON.parse(body))['bindings']);
      assert.deepEqual((await request(definitions(2), { credentials })).body, out);
      await cluster.killAll();
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      const durable = ({ durable = true }: { durable?: unknown }): boolean => durable === true;
      const left = lists((await request(definitions(2), { credentials })).body);
      const before = lists(out);
      for (const section of ['users', 'vhosts', 'permissions', 'parameters', 'global_parameters', 'policies'])
        assert.deepEqual(left[section], before[section], section);
      for (const section of ['exchanges', 'queues'])
        assert.deepEqual(left[section], before[section]!.filter(durable), section);
      assert.equal((await request(definitions(1), { method: 'POST', body, credentials })).status, 204);
      assert.deepEqual((await request(definitions(0), { credentials })).body, out);
    });
  });
});

describe('a broker that is started with definitions', () => {
  it('has them before it lets clients in, at each start, and no guest if they have users', async () => {
    await using folder = await TemporaryFolder.make();
    const file = join(folder.path, 'definitions.json');
    const { users, ...others } = JSON.parse(await fixture('definitions')) as Sections;
    const theirs = users!.filter(({ name }) => name !== 'guest');
    const isTheirs = ({ user }: Record<string, unknown>): boolean => user !== 'guest';
    const permissions = others['permissions']!.filter(isTheirs);
    await writeFile(file, JSON.stringify({ ...others, permissions, users: theirs }));
    const port = await freePorts(2);
    const address = (offset: number): string => `127.0.0.1:${port + offset}`;
    const options = ['serve', '--data', join(folder.path, 'data'), '--amqp', address(0), '--http', address(1)];
    const connectAs = async (user: string): Promise<void> => {
      const connection = await connect(`amqp://${user}@${address(0)}/shop`);
      await (await connection.createChannel()).checkQueue('orders');
      await connection.close();
    };
    for (let start = 0; start < 2; start++) {
      await using run = new Run([...options, '--load-definitions', file]);
      await run.said(/^ready/m);
      await connectAs('ann:ann-secret');
      await assert.rejects(connectAs('guest:guest'), /403/);
      run.kill('SIGTERM');
      assert.equal(await run.exited, 0);
    }
    await writeFile(file, '{"queues": [{}');
    const wrong = await finished([...options, '--load-definitions', file]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /load-definitions: .*definitions\.json: it is cut off after 14 bytes/);
    await writeFile(file, '{"queues": [{}]}');
    await using run = new Run([...options, '--load-definitions', file]);
    await run.said(/^ready/m);
    assert.match(run.stderr, /nothing was imported\. queues\[0\]: .*is missing.*definitions were not loaded/);
    await connectAs('ann:ann-secret');
  });
});

describe('definitions with something wrong in them', () => {
  let broker: Broker;
  before(async () => {
    broker = await Broker.start({ http: {} });
    const declared = await request(`${broker.httpUrl}/api/definitions`, {
      method: 'POST',
      // A user: the cluster has its first ones then.
      body: { queues: [{ vhost: '/', name: 'there', durable: true }], users: [{ name: 'some' }] },
    });
    assert.equal(declared.status, 204);
  });
  after(() => broker.stop());

  it('are refused with the place of what is wrong, and change nothing', async () => {
    const before = await exported(broker);
    const good = { vhost: '/', name: 'new', durable: true };
    const cases: [body: unknown, status: number, reason: RegExp][] = [
      ['{"queues": [', 400, /cut off after 12 bytes, queues\[0\]/],
      ['{"queues": [{"name": }]}', 400, /^queues\[0\]: it is no JSON/],
      ['{"queues": {}}', 400, /^queues: a list is expected/],
      ['{"queues": [] "x"}', 400, /^at byte 14, at queues: a comma, or the end of the object is expected, not/],
      ['{"queues": [], "queues": []}', 400, /^queues: it is there twice/],
      ['[]', 400, /^at byte 0, at the beginning: an object begins is expected/],
      ['', 400, /cut off after 0 bytes/],
      ['{"shovels": [{}]}', 400, /^shovels: it is not known what that is/],
      [{ queues: [good, 5] }, 400, /queues\[1\]: an object is expected/],
      [{ queues: [good, { name: 'x' }] }, 400, /queues\[1\]: "vhost" is missing/],
      [{ queues: [good, { ...good, vhost: 'nowhere' }] }, 400, /queues\[1\]: there is no vhost 'nowhere'/],
      [{ queues: [good, { ...good, durable: false }] }, 400, /queues\[1\]: inequivalent arg 'durable' for queue 'new'/],
      [{ queues: [good, { ...good, name: 'there', durable: false }] }, 400, /queues\[1\]: inequivalent arg 'durable'/],
      [{ queues: [{ ...good, arguments: { 'x-max-length': 'a' } }] }, 400, /queues\[0\]: invalid arg 'x-max-length'/],
      [{ queues: [{ ...good, arguments: { a: { $time: 'x' } } }] }, 400, /queues\[0\]: "arguments" have a \$time/],
      [{ queues: [{ ...good, exclusive: true }] }, 400, /queues\[0\]: it is exclusive/],
      [{ queues: [{ ...good, durable: 'perhaps' }] }, 400, /queues\[0\]: "durable" must be true or false/],
      [{ exchanges: [{ ...good, type: 'nope' }] }, 400, /exchanges\[0\]: unknown exchange type 'nope'/],
      [{ exchanges: [{ ...good, name: 'amq.mine', type: 'topic' }] }, 400, /exchanges\[0\]: .*reserved prefix/],
      [
        { queues: [good], bindings: [{ vhost: '/', source: 'x', destination: 'new', routing_key: '' }] },
        400,
        /bindings\[0\]: there is no exchange 'x' in vhost '\/'/,
      ],
      [{ users: [{ name: 'a', password_hash: 'zz' }] }, 400, /users\[0\]: "password_hash" cannot be used/],
      [
        { permissions: [{ user: 'a', vhost: '/', configure: '', write: '', read: '' }] },
        400,
        /permissions\[0\]: there is no user 'a'/,
      ],
      [
        { users: [{ name: 'a' }], permissions: [{ user: 'a', vhost: '/', configure: '(', write: '', read: '' }] },
        400,
        /permissions\[0\]: 'configure' is no regular expression/,
      ],
      [
        { policies: [{ vhost: '/', name: 'p', pattern: '', definition: { 'ha-mode': 'all' } }] },
        400,
        /policies\[0\]: .*'ha-mode' is no key of a policy's definition/,
      ],
      [
        { parameters: [{ vhost: '/', component: 'shovel', name: 's', value: {} }] },
        400,
        /parameters\[0\]: parameters of component 'shovel' mean nothing here/,
      ],
      [
        { queues: Array.from({ length: 30 }, () => ({ ...good, vhost: 'nowhere' })) },
        400,
        /queues\[9\]: [^;]*; and 20 others$/,
      ],
    ];
    for (const [body, status, reason] of cases) {
      const answer = await imported(broker, body);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.match(String(answer.body['reason']).replace('nothing was imported. ', ''), reason);
      assert.equal(answer.body['error'], 'bad_request');
    }
    assert.deepEqual(await exported(broker), before);
  });

  it('are for administrators', async () => {
    const user = { method: 'PUT', body: { password: 'x', tags: 'policymaker,monitoring' } };
    await request(`${broker.httpUrl}/api/users/other`, user);
    for (const method of ['GET', 'POST'])
      for (const path of ['definitions', 'definitions/%2F']) {
        const body = method === 'GET' ? {} : { body: {} };
        const { status } = await request(`${broker.httpUrl}/api/${path}`, { method, credentials: 'other:x', ...body });
        assert.equal(status, 401, `${method} ${path}`);
      }
  });

  it('say how much was done if something is refused on the way', async () => {
    await request(`${broker.httpUrl}/api/vhosts/small`, { method: 'PUT', body: {} });
    await request(`${broker.httpUrl}/api/vhost-limits/small/max-queues`, { method: 'PUT', body: { value: 2 } });
    const queues = Array.from({ length: 200 }, (_, i) => ({ vhost: 'small', name: `q${i}`, durable: true }));
    const answer = await imported(broker, { queues });
    assert.equal(answer.status, 400);
    assert.match(
      String(answer.body['reason']),
      /^queues\[2\]: .*queue limit in vhost 'small' \(2\) is reached \(2 of 200 objects were imported before it/,
    );
  });
});
