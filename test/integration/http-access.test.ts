/** Users, vhosts, permissions and limits over HTTP and by the command line, at one broker. Statuses and texts are those of RabbitMQ 3.10. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { Broker } from '../../src/index.js';
import { finished } from './support/command.js';
import { request } from './support/http.js';

const all = { configure: '.*', write: '.*', read: '.*' };

/** As RabbitMQ 3.10 answers, for the names of fields. */
const examples = {
  whoami: { name: 'guest', tags: ['administrator'] },
  users: [
    {
      name: 'guest',
      password_hash: 'D9XVyV5PbTQjDEtlejFJEGd1IQfCnTPGQvXRHTKtoX3zKoBf',
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: ['administrator'],
      limits: {},
    },
  ],
  permissions: [{ user: 'guest', vhost: '/', configure: '.*', write: '.*', read: '.*' }],
  vhosts: [
    {
      cluster_state: { 'rabbit@localhost': 'running' },
      default_queue_type: 'undefined',
      description: 'Default virtual host',
      metadata: { description: 'Default virtual host', tags: [] },
      name: '/',
      tags: [],
      tracing: false,
    },
  ],
};

describe('access over HTTP', () => {
  let broker: Broker;
  before(async () => {
    broker = await Broker.start({ http: {} });
    // Changes are possible from the moment in which the first users are there.
    assert.equal(await status('PUT', 'users/ann', { password: 'a', tags: '' }), 201);
  });
  after(() => broker.stop());

  async function ask(path: string, credentials = 'guest:guest'): Promise<unknown> {
    return (await request(`${broker.httpUrl}/api/${path}`, { credentials })).body;
  }
  async function status(method: string, path: string, body?: unknown, credentials = 'guest:guest'): Promise<number> {
    return (await request(`${broker.httpUrl}/api/${path}`, { method, credentials, body })).status;
  }
  const command = (args: string[], input?: string): ReturnType<typeof finished> =>
    finished([...args, '--url', broker.httpUrl], input);

  it('has the fields that RabbitMQ has', async () => {
    for (const [path, example] of Object.entries(examples)) {
      const [ours] = [await ask(path)].flat() as Record<string, unknown>[];
      const [theirs] = [example].flat() as Record<string, unknown>[];
      const found = await ask(path);
      const guest = Array.isArray(found) ? (found as Record<string, unknown>[]).find(isAbout) : (found as typeof ours);
      for (const key of Object.keys(theirs!)) assert.ok(Object.hasOwn(guest ?? ours!, key), `${path} has no ${key}`);
    }
    assert.deepEqual(await ask('whoami'), examples.whoami);
  });

  it('answers changes as RabbitMQ does', async () => {
    const cases: [method: string, path: string, body: unknown, status: number][] = [
      ['GET', 'users/nobody', undefined, 404],
      ['DELETE', 'users/nobody', undefined, 404],
      ['PUT', 'users/bob', { password: 'x' }, 400],
      ['PUT', 'users/bob', { tags: 'x' }, 201],
      ['PUT', 'users/bob', { tags: 'x', password_hash: 'zz' }, 400],
      ['PUT', 'users/bob', { tags: 'x', password: 'a', password_hash: 'b' }, 400],
      ['PUT', 'users/bob', { tags: ['x', 'y'], password: 'b' }, 204],
      ['PUT', 'permissions/%2F/nobody', all, 400],
      ['PUT', 'permissions/nowhere/bob', all, 400],
      ['PUT', 'permissions/%2F/bob', { ...all, write: '(' }, 400],
      ['PUT', 'permissions/%2F/bob', { write: '', read: '' }, 400],
      ['PUT', 'permissions/%2F/bob', all, 201],
      ['PUT', 'permissions/%2F/bob', all, 204],
      ['GET', 'permissions/%2F/bob', undefined, 200],
      ['GET', 'permissions/%2F/nobody', undefined, 404],
      ['DELETE', 'permissions/%2F/bob', undefined, 204],
      ['DELETE', 'permissions/%2F/bob', undefined, 404],
      ['GET', 'topic-permissions/%2F/bob', undefined, 404],
      ['PUT', 'topic-permissions/%2F/bob', { exchange: 'x', write: '(', read: '' }, 400],
      ['PUT', 'topic-permissions/%2F/bob', { exchange: 'x', write: '^a', read: '' }, 201],
      ['GET', 'topic-permissions/%2F/bob', undefined, 200],
      ['DELETE', 'topic-permissions/%2F/bob', undefined, 204],
      ['DELETE', 'topic-permissions/%2F/bob', undefined, 404],
      ['PUT', 'vhosts/v2', { description: 'd', tags: 'x,y' }, 201],
      ['PUT', 'vhosts/v2', { description: 'd2' }, 204],
      ['GET', 'vhosts/v2/permissions', undefined, 200],
      ['DELETE', 'vhosts/v2', undefined, 204],
      ['DELETE', 'vhosts/v2', undefined, 404],
      ['GET', 'vhosts/v2/permissions', undefined, 404],
      ['PUT', 'vhost-limits/nowhere/max-queues', { value: 1 }, 404],
      ['PUT', 'vhost-limits/%2F/max-queues', { value: 'x' }, 400],
      ['PUT', 'vhost-limits/%2F/nonsense', { value: 1 }, 400],
      ['PUT', 'vhost-limits/%2F/max-queues', { value: 100 }, 204],
      ['DELETE', 'vhost-limits/%2F/max-queues', undefined, 204],
      ['GET', 'vhost-limits/nowhere', undefined, 404],
      ['PUT', 'user-limits/bob/max-channels', { value: 1 }, 204],
      ['GET', 'user-limits/nobody', undefined, 404],
      ['POST', 'users/bulk-delete', { users: ['bob', 'nobody'] }, 400],
      ['POST', 'users/bulk-delete', {}, 400],
      ['POST', 'users/bulk-delete', { users: ['bob'] }, 204],
      ['GET', 'users/bob/permissions', undefined, 404],
    ];
    for (const [method, path, body, expected] of cases)
      assert.equal(await status(method, path, body), expected, `${method} ${path} ${JSON.stringify(body)}`);
    assert.deepEqual(await ask('user-limits'), []);
  });

  it('is given by tags', async () => {
    const refusals: Record<string, string[]> = {};
    const policy = { pattern: 'x', definition: { 'message-ttl': 1000 } };
    for (const tag of ['', 'management', 'policymaker', 'monitoring', 'administrator']) {
      await status('PUT', 'users/tagged', { password: 'a', tags: tag });
      await status('PUT', 'permissions/%2F/tagged', all);
      const refused: string[] = [];
      const as = 'tagged:a';
      for (const path of [
        'whoami',
        'vhosts',
        'policies/%2F',
        'vhost-limits/%2F',
        'cluster',
        'users',
        'vhosts/%2F',
        'permissions',
      ])
        if ((await status('GET', path, undefined, as)) === 401) refused.push(path);
      if ((await status('PUT', 'policies/%2F/p', policy, as)) === 401) refused.push('set a policy');
      if ((await status('GET', 'operator-policies/%2F', undefined, as)) === 401) refused.push('operator policies');
      if ((await status('PUT', 'operator-policies/%2F/p', policy, as)) === 401) refused.push('set one');
      refusals[tag] = refused;
    }
    const forAdministrators = ['users', 'vhosts/%2F', 'permissions'];
    const none = ['whoami', 'vhosts', 'policies/%2F', 'vhost-limits/%2F', 'cluster', ...forAdministrators];
    assert.deepEqual(refusals, {
      '': [...none, 'set a policy', 'operator policies', 'set one'],
      management: ['cluster', ...forAdministrators, 'set a policy', 'set one'],
      policymaker: ['cluster', ...forAdministrators, 'set one'],
      monitoring: [...forAdministrators, 'set a policy', 'set one'],
      administrator: [],
    });
    await status('PUT', 'users/tagged', { password: 'a', tags: 'policymaker' });
    await status('DELETE', 'permissions/%2F/tagged');
    assert.deepEqual(await ask('vhosts', 'tagged:a'), []);
    assert.equal(await status('PUT', 'policies/%2F/p', policy, 'tagged:a'), 401);
    assert.equal(await status('DELETE', 'policies/%2F/p'), 204);
    assert.equal(await status('DELETE', 'operator-policies/%2F/p'), 204);
  });

  it('takes users over from RabbitMQ by their hashes', async () => {
    const { password_hash, hashing_algorithm } = examples.users[0]!;
    assert.equal(await status('PUT', 'users/old', { password_hash, hashing_algorithm, tags: '' }), 201);
    await status('PUT', 'permissions/%2F/old', all);
    await (await amqp.connect(broker.amqpUrl.replace('guest:guest', 'old:guest'))).close();
    await assert.rejects(amqp.connect(broker.amqpUrl.replace('guest:guest', 'old:Guest')), /403/);
    const { scram_sha_256: keys, ...ann } = (await ask('users/ann')) as Record<string, string>;
    assert.match(keys!, /^4096\$/);
    assert.equal(await status('PUT', 'users/copy', { ...ann, tags: '', scram_sha_256: keys }), 201);
    assert.equal(((await ask('users/copy')) as Record<string, string>)['scram_sha_256'], keys);
    assert.equal(await status('PUT', 'users/copy', { ...ann, tags: '', scram_sha_256: 'x' }), 400);
  });

  it('is changed by commands', async () => {
    const said = async (args: string[], input?: string): Promise<string> => {
      const { code, stdout, stderr } = await command(args, input);
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      return stdout;
    };
    await said(['user', 'add', 'eve', '--tags', 'monitoring,management'], 'secret\n');
    await said(['user', 'tags', 'eve', 'management']);
    assert.deepEqual(await ask('whoami', 'eve:secret'), { name: 'eve', tags: ['management'] });
    await said(['vhost', 'add', 'side', '--description', 'for eve']);
    assert.match(await said(['vhost', 'list']), /^side\s+for eve$/m);
    await said(['permissions', 'set', 'eve', '^a', '.*', '', '--vhost', 'side']);
    await said(['permissions', 'set-topic', 'eve', 'amq.topic', '^eve', '.*', '--vhost', 'side']);
    const listed = await said(['permissions', 'list']);
    assert.match(listed, /^eve\s+side\s+\^a\s+\.\*$/m);
    assert.match(listed, /^eve\s+side\s+amq\.topic\s+\^eve\s+\.\*$/m);
    await said(['user', 'limits', 'eve', 'max-connections=2', 'max-channels=7']);
    await said(['user', 'limits', 'eve', 'max-connections=none']);
    assert.match(await said(['user', 'limits', 'eve']), /^limit\s+value\nmax-channels\s+7\n$/);
    await said(['vhost', 'limits', 'side', 'max-queues=1']);
    await said(['permissions', 'clear-topic', 'eve', '--vhost', 'side']);
    await said(['permissions', 'clear', 'eve', '--vhost', 'side']);
    await said(['vhost', 'delete', 'side']);
    await said(['user', 'delete', 'eve']);
    const failures: [args: string[], input: string, code: number, text: RegExp][] = [
      [['user', 'add', 'ann'], 'x', 1, /there is a user 'ann' already: see user password/],
      [['user', 'add', 'new'], '', 2, /the password is empty/],
      [['user', 'password', 'nobody'], 'x', 1, /there is no user 'nobody'/],
      [['user', 'delete', 'nobody'], '', 1, /there is no user 'nobody'/],
      [['user', 'limits', 'ann', 'max-channels=x'], '', 2, /a limit is name=number, or name=none/],
      [['user', 'limits', 'ann', 'nonsense=1'], '', 1, /'nonsense' is no limit of a user/],
      [['permissions', 'set', 'ann', '(', '', ''], '', 1, /'configure' is no regular expression/],
      [['vhost', 'delete', 'nowhere'], '', 1, /there is no vhost 'nowhere'/],
    ];
    const check = async ([args, input, code, text]: (typeof failures)[number]): Promise<void> => {
      const result = await command(args, input);
      assert.equal(result.code, code, args.join(' '));
      assert.match(result.stderr, text);
      assert.equal(result.stderr.trim().split('\n').length, 1);
    };
    await Promise.all(failures.map(check));
  });
});

function isAbout({ name, user }: Record<string, unknown>): boolean {
  return name === 'guest' || user === 'guest' || name === '/';
}
