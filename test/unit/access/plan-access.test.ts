import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan } from '../../../src/model/wiring/plan.js';
import { bind, declareExchange, declareQueue, InstantWiring } from '../model-wiring/support.js';
import { foundedWiring, user } from './support.js';

const all = { configure: '.*', write: '.*', read: '.*' };

test('a cluster begins with its first users, once, and / is there by declaration from then on', () => {
  const wiring = foundedWiring();
  const { access } = wiring.tables;
  assert.deepEqual(access.user('guest')?.tags, ['administrator']);
  assert.equal(access.permission('guest', '/')?.configure, '.*');
  assert.equal(wiring.tables.vhostNamed('/')?.description, 'Default virtual host');
  wiring.done({ op: 'deleteUser', name: 'guest' });
  wiring.done({ op: 'deleteVhost', name: '/' });
  wiring.done({ op: 'found', users: [user('guest')] });
  assert.equal(access.user('guest'), undefined);
  assert.equal(wiring.tables.hasVhost('/'), false);
});

test('what an interrupted beginning has made stays as it is', () => {
  const wiring = new InstantWiring();
  wiring.version = 3;
  const { creates } = plan(wiring.context, { op: 'found', users: [user('guest', { hash: 'first' })] });
  assert.deepEqual(
    creates.map(({ kind }) => kind),
    ['vhost', 'user', 'permission', 'founded'],
  );
  for (const object of creates.slice(0, 2)) wiring.tables.appeared(++wiring.lsn, object);
  assert.equal(wiring.tables.access.isFounded, false);
  wiring.done({ op: 'found', users: [user('guest', { hash: 'second' })] });
  assert.equal(wiring.tables.access.user('guest')?.hash, 'first');
  assert.equal(wiring.tables.count('vhost'), 1);
  assert.equal(wiring.tables.access.isFounded, true);
});

test('nothing changes before the beginning, or while some node would not understand', () => {
  const wiring = new InstantWiring();
  wiring.version = 2;
  const text = /^precondition-failed: users, vhosts and permissions cannot be changed while .* version 2: it takes 3/;
  assert.match(wiring.refused({ op: 'setUser', user: user('ann') }), text);
  assert.match(wiring.refused({ op: 'found', users: [] }), text);
  wiring.version = 3;
  assert.deepEqual(wiring.run({ op: 'setUser', user: user('ann') }), {
    result: 'retry',
    reason: 'the first users are being made',
  });
  assert.equal(wiring.tables.hasVhost('/'), true);
});

test('a user is set, changed and deleted with all that is said of it', () => {
  const wiring = foundedWiring();
  const { access } = wiring.tables;
  const first = wiring.done({ op: 'setUser', user: user('ann', { tags: ['monitoring'] }) });
  assert.equal(wiring.done({ op: 'setUser', user: user('ann', { tags: ['monitoring'] }) }).position, first.position);
  const second = wiring.done({ op: 'setUser', user: user('ann', { tags: [], hash: 'y' }) });
  assert.notEqual(second.position, first.position);
  assert.equal(access.usersNamed('ann').length, 1);
  wiring.done({ op: 'setPermission', permission: { user: 'ann', vhost: '/', ...all } });
  wiring.done({
    op: 'setTopicPermission',
    permission: { user: 'ann', vhost: '/', exchange: 'x', write: 'a', read: 'b' },
  });
  wiring.done({ op: 'setLimit', of: 'user', name: 'ann', limit: 'max-channels', value: 3 });
  const departed: string[] = [];
  access.onDeparture(({ users }) => departed.push(...users));
  wiring.done({ op: 'deleteUser', name: 'ann' });
  assert.equal(wiring.deleted.length, 4);
  assert.deepEqual([...access.ofUser('ann')], []);
  assert.deepEqual(departed, ['ann']);
  wiring.done({ op: 'deleteUser', name: 'ann' });
});

test('what makes no sense is refused', () => {
  const wiring = foundedWiring();
  const set = (fields: Parameters<typeof user>[1], name = 'ann'): string =>
    wiring.refused({ op: 'setUser', user: user(name, fields) });
  assert.match(set({}, ''), /the name of a user is missing/);
  assert.match(set({}, 'a\0b'), /has a NUL in it/);
  assert.match(set({}, 'x'.repeat(256)), /longer than 255 bytes/);
  assert.match(set({ tags: ['a b'] }), /no spaces or commas/);
  assert.match(set({ hashing: 'crc32' as 'rabbit_password_hashing_md5' }), /'crc32' is none of/);
  const permit = (fields: object): string =>
    wiring.refused({ op: 'setPermission', permission: { user: 'guest', vhost: '/', ...all, ...fields } });
  assert.equal(permit({ user: 'nobody' }), "not-found: no user 'nobody'");
  assert.equal(permit({ vhost: 'nowhere' }), "not-found: no vhost 'nowhere'");
  assert.match(permit({ write: '(' }), /precondition-failed: 'write' is no regular expression/);
  const limit = { op: 'setLimit', of: 'vhost', name: '/', limit: 'max-queues', value: 1 } as const;
  assert.match(wiring.refused({ ...limit, limit: 'max-channels' }), /'max-channels' is no limit of a vhost/);
  assert.match(wiring.refused({ ...limit, value: 1.5 }), /a whole number/);
  assert.equal(wiring.refused({ ...limit, name: 'nowhere' }), "not-found: no vhost 'nowhere'");
});

test('permissions are replaced and cleared one by one', () => {
  const wiring = foundedWiring();
  const { access } = wiring.tables;
  const set = { op: 'setPermission', permission: { user: 'guest', vhost: '/', ...all } } as const;
  const before = access.permission('guest', '/')!.position;
  assert.equal(wiring.done(set).position, before);
  wiring.done({ ...set, permission: { ...set.permission, read: '^a' } });
  assert.equal(access.permission('guest', '/')?.read, '^a');
  assert.equal(wiring.tables.count('permission'), 1);
  for (const exchange of ['x', 'y']) {
    const permission = { user: 'guest', vhost: '/', exchange, write: '^a', read: '' };
    wiring.done({ op: 'setTopicPermission', permission });
  }
  wiring.done({ op: 'clearTopicPermission', user: 'guest', vhost: '/', exchange: 'x' });
  assert.equal(access.topicPermission('guest', '/', 'x'), undefined);
  assert.equal(access.topicPermission('guest', '/', 'y')?.write, '^a');
  wiring.done({ op: 'clearTopicPermission', user: 'guest', vhost: '/' });
  wiring.done({ op: 'clearPermission', user: 'guest', vhost: '/' });
  assert.deepEqual([...access.grants.all()], []);
});

test('a vhost has exchanges and names of its own, and goes with all that is in it, some at a time', () => {
  const wiring = foundedWiring();
  const side = { vhost: 'side' };
  assert.equal(wiring.refused(declareQueue('q', side)), "not-found: no vhost 'side'");
  wiring.done({ op: 'setVhost', vhost: { name: 'side', description: '', tags: [] } });
  for (let i = 0; i < 600; i++) wiring.done(declareQueue(`q${i}`, side));
  wiring.done(declareQueue('q0'));
  wiring.done(declareExchange('x', 'fanout', side));
  wiring.done(bind('amq.topic', 'q1', 'k', side));
  wiring.done({ op: 'setPermission', permission: { user: 'guest', vhost: 'side', ...all } });
  wiring.done({ op: 'setLimit', of: 'vhost', name: 'side', limit: 'max-connections', value: 3 });
  const departed: string[] = [];
  wiring.tables.access.onDeparture(({ vhosts }) => departed.push(...vhosts));
  assert.deepEqual([...wiring.tables.ghostVhosts()], []);
  wiring.done({ op: 'deleteVhost', name: 'side' });
  assert.deepEqual(departed, ['side']);
  assert.equal(wiring.tables.hasVhost('side'), false);
  assert.equal(wiring.refused(declareQueue('q1', side)), "not-found: no vhost 'side'");
  const again = wiring.run({ op: 'setVhost', vhost: { name: 'side', description: '', tags: [] } });
  assert.deepEqual(again, { result: 'retry', reason: "what was in vhost 'side' is being deleted" });
  let rounds = 0;
  for (; [...wiring.tables.ghostVhosts()].length > 0; rounds++) {
    wiring.done({ op: 'vhostGone', vhost: 'side' });
    assert.ok(wiring.deleted.length <= 300, `${wiring.deleted.length} in one turn`);
  }
  assert.equal(rounds, 3);
  assert.deepEqual([...wiring.tables.contentsOf('side')], []);
  assert.notEqual(wiring.tables.queue('/', 'q0'), undefined);
  wiring.done({ op: 'setVhost', vhost: { name: 'side', description: '', tags: [] } });
  wiring.done({ op: 'vhostGone', vhost: 'side' });
  assert.equal(wiring.tables.hasVhost('side'), true);
});

test('the default vhost can be deleted, with what was bound to its predeclared exchanges, and made anew', () => {
  const wiring = foundedWiring();
  wiring.done(declareQueue('q'));
  wiring.done(bind('amq.topic', 'q', 'k'));
  wiring.done({ op: 'deleteVhost', name: '/' });
  assert.equal(wiring.refused(declareQueue('q')), "not-found: no vhost '/'");
  while ([...wiring.tables.ghostVhosts()].length > 0) wiring.done({ op: 'vhostGone', vhost: '/' });
  wiring.done({ op: 'setVhost', vhost: { name: '/', description: '', tags: [] } });
  wiring.done(declareQueue('q'));
  assert.deepEqual(wiring.reaches('', 'q'), ['q']);
  assert.deepEqual(wiring.reaches('amq.topic', 'k'), []);
});

test('the number of queues of a vhost is limited', () => {
  const wiring = foundedWiring();
  const limit = { of: 'vhost', name: '/', limit: 'max-queues' } as const;
  wiring.done({ op: 'setLimit', ...limit, value: 2 });
  wiring.done(declareQueue('a'));
  wiring.done(declareQueue('b'));
  wiring.done(declareQueue('b'));
  const text = "precondition-failed: cannot declare queue 'c': queue limit in vhost '/' (2) is reached";
  assert.equal(wiring.refused(declareQueue('c')), text);
  wiring.done({ op: 'setLimit', of: 'vhost', name: '/', limit: 'max-connections', value: 7 });
  assert.equal(wiring.refused(declareQueue('c')), text);
  wiring.done({ op: 'setLimit', ...limit, value: -1 });
  wiring.done(declareQueue('c'));
  wiring.done({ op: 'setLimit', ...limit, value: 0 });
  wiring.done({ op: 'clearLimit', ...limit });
  wiring.done(declareQueue('d'));
  assert.deepEqual(wiring.tables.access.limitsOf('vhost', '/')?.limits, { 'max-connections': 7 });
});

test('declarations that meet at a limit come one after the other', () => {
  const wiring = foundedWiring();
  const footprint = (name: string): Map<string, boolean> => plan(wiring.context, declareQueue(name)).footprint.keys;
  const shared = (): string[] => {
    const other = footprint('b');
    return [...footprint('a')].filter(([key, isWritten]) => isWritten && other.get(key)).map(([key]) => key);
  };
  assert.deepEqual(shared(), []);
  wiring.done({ op: 'setLimit', of: 'vhost', name: '/', limit: 'max-queues', value: 2 });
  assert.equal(shared().length, 1);
});
