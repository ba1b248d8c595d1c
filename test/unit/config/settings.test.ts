import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readSettingsFile } from '../../../src/config/file.js';
import { ConfigError, readSettings } from '../../../src/config/settings.js';

describe('settings', () => {
  it('have defaults', () => {
    assert.deepEqual(readSettings({}), {
      node: 'n1',
      data: './understudy-data',
      amqp: { host: '127.0.0.1', port: 5672 },
      http: { host: '127.0.0.1', port: 15_672 },
      amqps: null,
      https: null,
      tls: null,
      cluster: { host: '127.0.0.1', port: 25_672 },
      coordinator: null,
      links: null,
      replicas: 3,
      minInSync: 1,
      groups: 16,
      clients: 'any',
      placement: 'spread',
      replicate: 'all',
      memoryBytes: 256 * 1024 * 1024,
      memoryHighWatermark: null,
      diskAlarm: 'node',
      diskFreeBytesMin: 50 * 1024 * 1024,
      product: 'understudy',
      lead: true,
      protocol: 3,
      reReplicateAfterMs: 600_000,
      timeShareMs: 10_000,
      loopbackUsers: ['guest'],
      loadDefinitions: null,
      anonymousUser: '',
      websocketOrigins: [],
      leaseMs: 2000,
      logLevel: 'info',
    });
  });

  it('know origins of pages', () => {
    const asked = { 'websocket-origins': 'https://Shop.example, http://localhost:8080' };
    assert.deepEqual(readSettings(asked).websocketOrigins, ['https://shop.example', 'http://localhost:8080']);
    assert.deepEqual(readSettings({ 'websocket-origins': '*' }).websocketOrigins, ['*']);
  });

  it('of earlier layers go before those of later ones', () => {
    const settings = readSettings({ memory: '1GiB' }, { memory: '2GiB', node: 'n7', lead: false, replicas: 5 });
    assert.equal(settings.memoryBytes, 1024 ** 3);
    assert.equal(settings.node, 'n7');
    assert.equal(settings.lead, false);
    assert.equal(settings.replicas, 5);
  });

  for (const [name, value] of [
    ['node', ''],
    ['node', 'a b'],
    ['data', ''],
    ['amqp', '127.0.0.1:65536'],
    ['amqp', ':'],
    ['websocket-origins', 'shop.example'],
    ['websocket-origins', 'https://shop.example/page'],
    ['replicas', '0'],
    ['replicas', '2.5'],
    ['min-in-sync', 'all'],
    ['memory', '10'],
    ['memory', 'lots'],
    ['lead', 'maybe'],
    ['re-replicate-after', '10 fortnights'],
    ['product', 'QPid'],
    ['lease', '1ms'],
    ['log-level', 'loud'],
    ['clients', 'some'],
    ['placement', 'anywhere'],
    ['replicate', 'some'],
    ['coordinator', 'local:'],
    ['coordinator', 'zookeeper:a:1'],
    ['coordinator', 'etcd:a:2379,b'],
    ['coordinator', 'etcd:a:0'],
    ['etcd-ca', ''],
    ['etcd-tls', 'perhaps'],
    ['amqp', ['127.0.0.1:1']],
    ['amqps', 'yes'],
    ['tls-clients', 'perhaps'],
    ['tls-login-from', 'serial'],
    ['memory-high-watermark', '1.5'],
    ['memory-high-watermark', '130%'],
    ['memory-high-watermark', 'much'],
    ['disk-alarm', 'none'],
  ] as const) {
    it(`refuse ${name}: ${JSON.stringify(value)} by name`, () => {
      assert.throws(
        () => readSettings({ [name]: value }),
        (error) => error instanceof ConfigError && error.message.startsWith(`${name}: `),
      );
    });
  }

  it('refuse what is none', () => {
    assert.throws(() => readSettings({ colour: 'red' }), {
      name: 'ConfigError',
      message: 'there is no setting "colour"',
    });
  });
});

describe('the coordinator', () => {
  const etcd = { coordinator: 'etcd:a:2379,[::1]:2380' };

  it('is a folder, or the members of an etcd', () => {
    assert.deepEqual(readSettings({ coordinator: 'local:/x:y' }).coordinator, { kind: 'local', folder: '/x:y' });
    assert.deepEqual(readSettings(etcd).coordinator, {
      kind: 'etcd',
      endpoints: [
        { host: 'a', port: 2379 },
        { host: '::1', port: 2380 },
      ],
      prefix: '/understudy',
      user: null,
      tls: null,
    });
  });

  it('etcd may ask for a user and for certificates', () => {
    const files = { 'etcd-ca': 'ca.pem', 'etcd-certificate': 'n1.pem', 'etcd-key': 'n1.key' };
    const access = { 'etcd-user': 'u', 'etcd-password': 123, 'etcd-prefix': '/a/b' };
    assert.deepEqual(readSettings({ ...etcd, ...files, ...access }).coordinator, {
      ...readSettings(etcd).coordinator,
      prefix: '/a/b',
      user: { name: 'u', password: '123' },
      tls: { ca: 'ca.pem', certificate: 'n1.pem', key: 'n1.key' },
    });
    const { coordinator } = readSettings({ ...etcd, 'etcd-tls': true });
    assert.deepEqual(coordinator, {
      ...readSettings(etcd).coordinator,
      tls: { ca: undefined, certificate: undefined, key: undefined },
    });
  });

  for (const [what, raw] of [
    ['etcd-user', { ...etcd, 'etcd-user': 'u' }],
    ['etcd-certificate', { ...etcd, 'etcd-key': 'k' }],
    ['etcd-tls', { ...etcd, 'etcd-ca': 'c', 'etcd-tls': false }],
    ['etcd-prefix', { ...etcd, 'etcd-prefix': 'a/' }],
    ['etcd-ca', { coordinator: 'local:x', 'etcd-ca': 'c' }],
    ['groups', { ...etcd, groups: 127 }],
  ] as const) {
    it(`settings that do not fit together are refused: ${what}`, () => {
      assert.throws(
        () => readSettings(raw),
        (error) => error instanceof ConfigError && error.message.startsWith(`${what}: `),
      );
    });
  }
});

describe('a settings file', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'understudy-config-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function file(text: string): string {
    const path = join(folder, 'c.yaml');
    writeFileSync(path, text);
    return path;
  }

  it('is YAML, or JSON', async () => {
    assert.deepEqual(await readSettingsFile(file('node: n1\nreplicas: 2 # two\n')), { node: 'n1', replicas: 2 });
    assert.deepEqual(await readSettingsFile(file('{"node": "n1"}')), { node: 'n1' });
    assert.deepEqual(await readSettingsFile(file('')), {});
  });

  for (const [what, text, message] of [
    ['an unknown name', 'ampq: 1', /there is no setting "ampq"; known: node, data/],
    ['a list', '- a', /expected lines such as/],
    ['no YAML', 'a: [', /c\.yaml: .* at line 1, column 5$/],
  ] as const) {
    it(`with ${what} is refused`, async () => {
      await assert.rejects(readSettingsFile(file(text)), { name: 'ConfigError', message });
    });
  }
});

describe('links between brokers', () => {
  const etcd = { coordinator: 'etcd:a:2379' };
  const secret = '0123456789abcdef';

  it('are not there for a broker that is alone, and then nothing may be said of them', () => {
    assert.equal(readSettings({}).links, null);
    for (const raw of [{ 'cluster-secret': secret }, { 'cluster-secret-file': 'x' }, { 'cluster-insecure': true }])
      assert.throws(() => readSettings(raw), { name: 'ConfigError', message: /^cluster-\S+: there is no coordinator/ });
  });

  it('with a local coordinator share a secret by themselves, or have the one that is given', () => {
    const local = { coordinator: 'local:/x' };
    assert.deepEqual(readSettings(local).links, { secret: { kind: 'folder', path: '/x' }, tls: null });
    assert.deepEqual(readSettings({ ...local, 'cluster-secret-file': 'f' }).links?.secret, { kind: 'file', path: 'f' });
  });

  it('with an etcd need a secret, unless only this machine reaches them, or it is said that they do without', () => {
    for (const cluster of ['10.0.0.1:1', '0.0.0.0:1', '[::]:1', 'broker-1:1', '[fe80::1]:1'])
      assert.throws(() => readSettings({ ...etcd, cluster }), {
        name: 'ConfigError',
        message: /^cluster-secret-file: .*openssl rand -hex 32; or say cluster-insecure: true/,
      });
    for (const cluster of ['127.0.0.1:1', '127.1.2.3:1', '[::1]:1', 'localhost:1'])
      assert.deepEqual(readSettings({ ...etcd, cluster }).links?.secret, { kind: 'none', accepted: false });
    const open = readSettings({ ...etcd, cluster: '10.0.0.1:1', 'cluster-insecure': true });
    assert.deepEqual(open.links?.secret, { kind: 'none', accepted: true });
    const given = readSettings({ ...etcd, cluster: '10.0.0.1:1', 'cluster-secret': ` ${secret}\n` });
    assert.deepEqual(given.links?.secret, { kind: 'given', secret });
  });

  it('may be encrypted, by three files', () => {
    const tls = { ca: 'ca.pem', certificate: 'n1.pem', key: 'n1.key' };
    assert.deepEqual(readSettings({ ...etcd, 'cluster-tls': tls }).links?.tls, tls);
    for (const wrong of [{ ca: 'ca.pem' }, 'ca.pem', true, { ...tls, passphrase: 'x' }])
      assert.throws(() => readSettings({ ...etcd, 'cluster-tls': wrong }), { message: /^cluster-tls: / });
  });

  for (const [what, raw] of [
    ['cluster-secret-file', { ...etcd, 'cluster-secret': secret, 'cluster-secret-file': 'f' }],
    ['cluster-insecure', { ...etcd, 'cluster-secret': secret, 'cluster-insecure': true }],
    ['cluster-insecure', { coordinator: 'local:x', 'cluster-insecure': true }],
    ['cluster-secret', { ...etcd, 'cluster-secret': '0123456789abcde' }],
    ['cluster-secret', { ...etcd, 'cluster-secret': 1234567890123456 }],
    ['cluster-secret', { ...etcd, 'cluster-secret': 'x'.repeat(1025) }],
  ] as const) {
    it(`settings that do not fit are refused, and no secret is shown: ${what}`, () => {
      assert.throws(
        () => readSettings(raw),
        (error: Error) => error.message.startsWith(`${what}: `) && !/0123456789|1234567890|xxx/.test(error.message),
      );
    });
  }
});
