/** The way to etcd: broken, encrypted, guarded; and an etcd that is not what it was. */
import assert from 'node:assert/strict';
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import {
  CoordinatorUnavailableError,
  type Entry,
  OutcomeUnknownError,
} from '../../src/cluster/coordinator/coordinator.js';
import { CutProxy } from '../support/cut-proxy.js';
import { EtcdProcesses } from '../support/etcd-processes.js';
import { openEtcd, readSoon } from '../support/open-etcd.js';
import { sleep } from '../support/cluster-processes.js';
import { eventually } from '../unit/coordinator/contract.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const portOf = (endpoint: string): number => Number(endpoint.split(':')[1]);

describe('the way to etcd', { concurrency: 4, timeout: 120_000 }, () => {
  it('was cut: what happened is seen afterwards, even if etcd has forgotten how it came about', async (t) => {
    await using etcd = await EtcdProcesses.start(1);
    await using proxy = await CutProxy.start(portOf(etcd.endpoints[0]!));
    const [near, far] = [openEtcd(t, etcd.endpoints), openEtcd(t, [proxy.endpoint])];
    await Promise.all([near, far].map((handle) => readSoon(handle, '')));
    const seen = new Map<string, Entry>();
    far.watch('', (entries) => {
      for (const entry of entries) seen.set(entry.key, entry);
    });
    const [gone, kept] = (
      await near.swap([
        { key: 'gone', expect: 0, value: '1' },
        { key: 'kept', expect: 0, value: '1' },
      ])
    ).entries;
    await eventually('the watch runs', () => seen.size === 2);

    proxy.cut();
    await assert.rejects(far.read(''), CoordinatorUnavailableError);
    await assert.rejects(far.swap([{ key: 'never', expect: 0, value: '1' }]), CoordinatorUnavailableError);
    let last = (await near.swap([{ key: 'kept', expect: kept!.version, value: '2' }])).entries[0]!;
    proxy.mend();
    await eventually('it goes on where it was', () => seen.get('kept')?.version === last.version);

    proxy.cut();
    await near.swap([{ key: 'gone', expect: gone!.version, value: null }]);
    last = (await near.swap([{ key: 'kept', expect: last.version, value: '3' }])).entries[0]!;
    await etcd.request(0, 'kv/compaction', { revision: last.version });
    proxy.mend();
    await eventually('it reads all again', () => seen.get('kept')?.version === last.version);
    assert.deepEqual(seen.get('gone'), { key: 'gone', value: '', version: 0 });
    assert.deepEqual(await far.read('never'), []);
  });

  it('a swap whose answer is lost has an unknown outcome, whether it was made or not', async (t) => {
    await using etcd = await EtcdProcesses.start(1);
    await using proxy = await CutProxy.start(portOf(etcd.endpoints[0]!));
    const [near, far] = [openEtcd(t, etcd.endpoints), openEtcd(t, [proxy.endpoint])];
    await Promise.all([near, far].map((handle) => readSoon(handle, '')));
    proxy.mute();
    await assert.rejects(far.swap([{ key: 'x', expect: 0, value: '1' }]), OutcomeUnknownError);
    assert.equal((await near.read('x'))[0]!.value, '1');
    assert.equal((await readSoon(far, 'x'))[0]!.value, '1');
    proxy.mute();
    await assert.rejects(far.swap([{ key: 'x', expect: 0, value: '2' }]), OutcomeUnknownError);
    assert.equal((await readSoon(far, 'x'))[0]!.value, '1');
  });

  it('a silent connection is found out without any request, and the watch goes on over another', async (t) => {
    await using etcd = await EtcdProcesses.start(1);
    await using proxy = await CutProxy.start(portOf(etcd.endpoints[0]!));
    const [near, far] = [openEtcd(t, etcd.endpoints), openEtcd(t, [proxy.endpoint])];
    await Promise.all([near, far].map((handle) => readSoon(handle, '')));
    let told = '';
    far.watch('', (entries) => {
      told = entries.at(-1)!.value;
    });
    const [x] = (await near.swap([{ key: 'x', expect: 0, value: '1' }])).entries;
    await eventually('the watch runs', () => told === '1');
    proxy.mute();
    await near.swap([{ key: 'x', expect: x!.version, value: '2' }]);
    await eventually('the change is seen', () => told === '2');
  });

  it('TLS in both directions, and an etcd of another authority is refused', async (t) => {
    const file = (name: string): string => join('test/support/tls', name);
    await using etcd = await EtcdProcesses.start(1, {
      ca: file('ca.pem'),
      certificate: file('node.pem'),
      key: file('node.key'),
    });
    const [ca, certificate, key] = await Promise.all(
      ['ca.pem', 'node.pem', 'node.key'].map((name) => readFile(file(name), 'utf8')),
    );
    const good = openEtcd(t, etcd.endpoints, { tls: { ca, certificate, key } });
    await readSoon(good, '');
    assert.ok((await good.swap([{ key: 'x', expect: 0, value: '1' }])).ok);
    for (const tls of [{ ca, certificate: undefined, key: undefined }, { ca: undefined, certificate, key }, null]) {
      const bad = openEtcd(t, etcd.endpoints, { tls });
      await assert.rejects(bad.read(''), CoordinatorUnavailableError);
    }
  });

  it('user and password: refused without, lasting longer than a token, confined to the prefix', async (t) => {
    await using etcd = await EtcdProcesses.start(1);
    const user = { name: 'broker', password: 'secret' };
    // Before authentication is enabled, they are of no consequence.
    const early = openEtcd(t, etcd.endpoints, { prefix: '/ours', user });
    assert.deepEqual(await readSoon(early, ''), []);
    await enableUsers(etcd, user, '/ours/');
    const handle = openEtcd(t, etcd.endpoints, { prefix: '/ours', user });
    await readSoon(handle, '');
    assert.ok((await handle.swap([{ key: 'x', expect: 0, value: '1' }])).ok);
    assert.match(await handle.identity(), /\S{8,}/);
    assert.equal((await readSoon(early, 'x')).length, 1);
    // A member forgets its tokens when it is started again.
    await etcd.kill(0);
    await etcd.startAll();
    assert.equal((await readSoon(handle, 'x')).length, 1);
    for (const [options, reason] of [
      [{ prefix: '/ours' }, /user name is empty/],
      [{ prefix: '/ours', user: { ...user, password: 'wrong' } }, /authentication failed/],
      [{ prefix: '/theirs', user }, /permission denied/],
    ] as const) {
      const refused = openEtcd(t, etcd.endpoints, options);
      await assert.rejects(refused.read(''), { name: 'CoordinatorUnavailableError', message: reason });
    }
  });

  it('an etcd that was put back to an older state is not trusted by those who saw the newer one', async (t) => {
    await using etcd = await EtcdProcesses.start(1);
    const errors: string[] = [];
    const logger = { ...silentLogger, error: (message: string): unknown => errors.push(message) };
    const handle = openEtcd(t, etcd.endpoints, { logger });
    await readSoon(handle, '');
    assert.ok((await handle.swap([{ key: 'x', expect: 0, value: '1' }])).ok);
    await etcd.kill(0);
    const data = join(etcd.folder, 'e0');
    await cp(data, `${data}.old`, { recursive: true });
    await etcd.startAll();
    await readSoon(handle, '');
    assert.ok((await handle.swap([{ key: 'y', expect: 0, value: '1' }])).ok);
    await etcd.kill(0);
    await rm(data, { recursive: true });
    await cp(`${data}.old`, data, { recursive: true });
    await etcd.startAll();
    const refusal = { name: 'CoordinatorUnavailableError', message: /went back from revision 3 to 2/ };
    // Who does not ask may not hear of it: a handle without requests and watches need not connect again.
    const deadline = performance.now() + 30_000;
    for (let answer = ''; !refusal.message.test(answer); await sleep(20)) {
      assert.ok(performance.now() < deadline, `not refused in time: ${answer}`);
      answer = await handle.read('').then(String, String);
      assert.ok(answer.startsWith(refusal.name), `the old state is shown: ${answer}`);
    }
    assert.match(errors[0]!, refusal.message);
    await assert.rejects(handle.read(''), refusal);
    await assert.rejects(handle.swap([{ key: 'y', expect: 0, value: '2' }]), refusal);
  });

  it('another etcd is not trusted', async (t) => {
    await using etcd = await EtcdProcesses.start(1);
    await using other = await EtcdProcesses.start(1);
    await using proxy = await CutProxy.start(portOf(other.endpoints[0]!));
    proxy.cut();
    const handle = openEtcd(t, [etcd.endpoints[0]!, proxy.endpoint]);
    await readSoon(handle, '');
    proxy.mend();
    await etcd.kill(0);
    await assert.rejects(handle.read(''), { name: 'CoordinatorUnavailableError', message: /the others of/ });
  });
});

async function enableUsers(
  etcd: EtcdProcesses,
  { name, password }: Record<'name' | 'password', string>,
  prefix: string,
) {
  const requests: [path: string, body: object][] = [
    ['user/add', { name: 'root', password: 'root' }],
    ['user/grant', { user: 'root', role: 'root' }],
    ['role/add', { name: 'understudy' }],
    [
      'role/grant',
      {
        name: 'understudy',
        perm: { permType: 'READWRITE', key: base64(prefix), range_end: base64(prefix.replace(/\/$/, '0')) },
      },
    ],
    ['user/add', { name, password }],
    ['user/grant', { user: name, role: 'understudy' }],
    ['enable', {}],
  ];
  for (const [path, body] of requests) await etcd.request(0, `auth/${path}`, body);
}
