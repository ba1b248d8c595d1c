import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Occupancy } from '../../../src/security/occupancy.js';
import { Permissions } from '../../../src/security/permissions.js';
import { realmOf, TestTables } from './support.js';

function permitted(patterns: { configure?: string; write?: string; read?: string }): [TestTables, Permissions] {
  const tables = new TestTables();
  tables.person('ann');
  tables.set({
    kind: 'permission',
    position: 0,
    user: 'ann',
    vhost: '/',
    configure: '',
    write: '',
    read: '',
    ...patterns,
  });
  return [tables, new Permissions(realmOf(tables), 'ann', '/')];
}

describe('permissions', () => {
  it('are patterns that are found in a name; the empty one fits nothing', () => {
    const cases: [pattern: string, name: string, fits: boolean][] = [
      ['.*', 'anything', true],
      ['', 'anything', false],
      ['^a', 'abc', true],
      ['^a', 'cba', false],
      ['b', 'abc', true],
      ['^(amq\\.gen.*|amq\\.default)$', 'amq.gen-xyz', true],
      ['^(amq\\.gen.*|amq\\.default)$', '', true],
      ['^$', 'a', false],
    ];
    for (const [write, name, fits] of cases) {
      const [, permissions] = permitted({ write });
      const ask = (): void => permissions.require('write', 'exchange', name);
      if (fits) ask();
      else assert.throws(ask, { kind: 'access-refused' }, `${write} ${name}`);
    }
  });

  it('are refused by naming what was asked', () => {
    const [, permissions] = permitted({});
    const text = (run: () => void): string => {
      try {
        run();
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.equal(
      text(() => permissions.require('configure', 'queue', 'q')),
      "configure access to queue 'q' in vhost '/' refused for user 'ann'",
    );
    assert.equal(
      text(() => permissions.requireWrite('')),
      "write access to exchange 'amq.default' in vhost '/' refused for user 'ann'",
    );
  });

  it('count from the moment of their change', () => {
    const [tables, permissions] = permitted({ write: '.*' });
    assert.equal(permissions.requireWrite('x'), false);
    assert.equal(permissions.requireWrite('x'), false);
    const topics = { kind: 'topicPermission', position: 0, user: 'ann', vhost: '/', exchange: 'x' } as const;
    tables.set({ ...topics, write: '^{username}\\.{vhost}\\.', read: '^$' });
    assert.equal(permissions.requireWrite('x'), true);
    permissions.requireTopic('write', 'x', 'ann./.k');
    permissions.requireTopic('write', 'other', 'k');
    assert.throws(
      () => permissions.requireTopic('write', 'x', 'annx/xk'),
      /write access to topic 'annx\/xk' in exchange 'x'/,
    );
    tables.remove(tables.permission('ann', '/')!);
    assert.throws(() => permissions.requireWrite('x'), { kind: 'access-refused' });
  });

  it('are not looked at of whom the program has named', () => {
    const permissions = new Permissions(realmOf(new TestTables(), { own: new Map([['own', 'x']]) }), 'own', 'any');
    permissions.require('configure', 'queue', 'q');
    permissions.requireWrite('x');
  });
});

describe('a realm', () => {
  it('has the first users until the cluster has some, who may only look until that is known', () => {
    const tables = new TestTables();
    tables.remove(tables.founding);
    let settled = false;
    const realm = realmOf(tables, { first: new Map([['guest', 'guest']]), isSettled: () => settled });
    assert.deepEqual(realm.find('guest')?.tags, ['monitoring']);
    settled = true;
    assert.deepEqual(realm.find('guest')?.tags, ['administrator']);
    assert.equal(realm.mayEnter('guest', '/'), true);
    tables.set({ kind: 'founded', position: 0 });
    assert.equal(realm.find('guest'), undefined);
    assert.equal(realm.mayEnter('guest', '/'), false);
  });

  it('has those that the journal knows, until the wiring is known', () => {
    const earlier = new TestTables();
    earlier.person('ann', { tags: ['administrator'] });
    const tables = new TestTables();
    tables.remove(tables.founding);
    const realm = realmOf(tables, {
      first: new Map([['guest', 'guest']]),
      isSettled: () => false,
      earlier: () => earlier,
    });
    assert.deepEqual(realm.find('ann')?.tags, ['administrator']);
    assert.equal(realm.find('guest'), undefined);
  });
});

describe('occupancy', () => {
  it('is limited by vhost and by user', () => {
    const tables = new TestTables();
    const occupancy = new Occupancy(realmOf(tables));
    assert.equal(occupancy.enter('ann', '/'), '');
    tables.set({ kind: 'limits', position: 0, of: 'vhost', name: '/', limits: { 'max-connections': 2 } });
    tables.set({
      kind: 'limits',
      position: 0,
      of: 'user',
      name: 'ann',
      limits: { 'max-connections': 1, 'max-channels': 1 },
    });
    assert.equal(
      occupancy.enter('ann', '/'),
      "Connection refused for user 'ann': user connection limit (1) is reached",
    );
    assert.equal(occupancy.enter('bob', '/'), '');
    assert.equal(
      occupancy.enter('bob', '/'),
      "access to vhost '/' refused for user 'bob': connection limit (2) is reached",
    );
    assert.equal(occupancy.enter('bob', 'side'), '');
    occupancy.leave('ann', '/');
    assert.equal(occupancy.enter('ann', '/'), '');
    assert.equal(occupancy.openChannel('ann'), '');
    assert.match(occupancy.openChannel('ann'), /number of channels opened for user 'ann' has reached .* \(1\)/);
    occupancy.closeChannel('ann');
    assert.equal(occupancy.openChannel('ann'), '');
  });
});
