/** Who may be a broker of a cluster: real processes, with and without its secret, and with certificates. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fetchCluster } from '../../src/cli/api-client.js';
import { ClusterSecret } from '../../src/cluster/link/cluster-secret.js';
import { frameHeaderBytes } from '../../src/cluster/link/frame.js';
import { FrameType } from '../../src/cluster/link/frame-types.js';
import { Handshake } from '../../src/cluster/link/handshake.js';
import { Authority } from '../support/certificates.js';
import { sleep } from '../support/cluster-processes.js';
import { EtcdProcesses } from '../support/etcd-processes.js';
import { freePorts } from '../support/free-ports.js';
import { type NodePorts, NodeProcess } from '../support/node-process.js';
import { finished, TemporaryFolder } from './support/command.js';

const firstPort = 27_500;
const secretText = 'correct horse battery staple';

/** Nodes n1, n2, ...; nothing is started. `options`: of each node. */
async function nodesIn(folder: string, options: readonly (readonly string[])[]): Promise<NodeProcess[]> {
  const free = await freePorts(firstPort, 3 * options.length);
  return options.map((own, i) => {
    const [amqp, http, cluster] = free.slice(3 * i, 3 * i + 3) as [number, number, number];
    return new NodeProcess(`n${i + 1}`, folder, { amqp, http, cluster } satisfies NodePorts, own);
  });
}

async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `not within ${timeoutMs} ms: ${what}`);
    await sleep(50);
  }
}

/** All nodes are members, ready, and every group has them all. */
async function isWhole(nodes: readonly NodeProcess[]): Promise<boolean> {
  const views = await Promise.all(nodes.map((node) => fetchCluster(node.httpUrl, 1000).catch(() => undefined)));
  return views.every(
    (view) =>
      view?.members.length === nodes.length &&
      view.members.every(({ state }) => state === 'ready') &&
      view.groups.every(({ inSync }) => inSync.length === nodes.length),
  );
}

const logOf = (node: NodeProcess): string => readFileSync(node.log, 'utf8');

const killAll = (nodes: readonly NodeProcess[]): Promise<unknown> => Promise.all(nodes.map((node) => node.kill()));

/** A settings file for one node. */
function settingsFile(folder: string, name: string, settings: object): string[] {
  const path = join(folder, name);
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(settings), { mode: 0o600 });
  return ['--config', path];
}

function secretFile(folder: string, name: string, secret: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return path;
}

/** Everything that the port for brokers says to `say`, which is given what it said first. */
async function heard(port: number, say: (first: Buffer) => Uint8Array): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  const parts: Buffer[] = [];
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    if (parts.push(bytes) === 1) socket.write(say(bytes));
  });
  await once(socket, 'close');
  return Buffer.concat(parts);
}

function frame(type: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(frameHeaderBytes + payload.length);
  bytes.writeUInt32LE(bytes.length);
  bytes[4] = type;
  bytes[5] = 1;
  bytes.set(payload, frameHeaderBytes);
  return bytes;
}

describe('links between brokers', { concurrency: 2 }, () => {
  it('have a secret of their own on one machine; who has another one hears a nonce, and the cluster goes on', async () => {
    await using folder = await TemporaryFolder.make();
    const nodes = await nodesIn(folder.path, [[], []]);
    try {
      await Promise.all(nodes.map((node) => node.start()));
      await eventually('the cluster is whole', () => isWhole(nodes));
      const path = join(folder.path, 'coordinator', 'secret');
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const port = nodes[0]!.ports.cluster;
      const hello = Buffer.from(JSON.stringify({ cluster: 'c', node: 'n3', boot: 9, versionMin: 1, versionMax: 1 }));
      for (const say of [
        () => frame(FrameType.hello, hello),
        () => Buffer.from('GET / HTTP/1.1\r\n\r\n'),
        (first: Buffer) => {
          const liar = new Handshake(new ClusterSecret(secretText), true, Buffer.alloc(32, 7));
          const said = liar.take(FrameType.challenge, first.subarray(frameHeaderBytes))!;
          return Buffer.concat([frame(said.type, said.payload), frame(FrameType.hello, liar.seal(hello))]);
        },
      ]) {
        const all = await heard(port, say);
        assert.equal(all.length, frameHeaderBytes + 2 + 32);
        assert.equal(all[4], FrameType.challenge);
      }
      const lines = logOf(nodes[0]!)
        .split('\n')
        .filter((line) => line.includes('a stranger was turned away'));
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(
        lines[0]!,
        /"remote":"127\.0\.0\.1:\d+","reason":"frame type 1 before the cluster secret was proved"/,
      );
      assert.ok(await isWhole(nodes));
      for (const node of nodes) {
        assert.ok(!logOf(node).includes('link down'), logOf(node));
        assert.ok(!logOf(node).includes(readFileSync(path, 'utf8').trim()), 'the secret is in no log');
      }
    } finally {
      await killAll(nodes);
    }
  });

  it('do not come up between different secrets, and both ends say why', async () => {
    await using folder = await TemporaryFolder.make();
    await using etcd = await EtcdProcesses.start(1);
    const ours = secretFile(folder.path, 'ours', secretText);
    const theirs = secretFile(folder.path, 'theirs', `${secretText}!`);
    const nodes = await nodesIn(
      folder.path,
      [ours, theirs].map((file) => ['--coordinator', etcd.setting, '--cluster-secret-file', file]),
    );
    const [n1, n2] = nodes as [NodeProcess, NodeProcess];
    try {
      await n1.start();
      const never = n2.start().catch(() => {});
      const [turnedAway, noLink] = [
        /"reason":"its proof of the cluster secret is wrong/,
        /proof of the cluster secret: it has/,
      ];
      await eventually('n1, which calls, says why', () => noLink.test(logOf(n1)));
      await eventually('n2 says why', () => turnedAway.test(logOf(n2)));
      const { members } = await fetchCluster(n1.httpUrl, 1000);
      assert.equal(members.find(({ name }) => name === 'n1')?.state, 'ready');
      assert.notEqual(members.find(({ name }) => name === 'n2')?.state, 'ready');
      await n2.kill();
      await never;
      for (const node of nodes) assert.ok(!logOf(node).includes(secretText), 'the secret is in no log');
    } finally {
      await killAll(nodes);
    }
  });

  it('over TLS: certificates of one authority make a cluster; who has none of it gets no link', async () => {
    await using folder = await TemporaryFolder.make();
    using authority = new Authority();
    using other = new Authority();
    const files = [authority.issue('n1'), authority.issue('n2'), { ...other.issue('n3'), ca: authority.issue('x').ca }];
    const options = files.map((tls, i) => settingsFile(folder.path, `n${i + 1}.yaml`, { 'cluster-tls': tls }));
    const nodes = await nodesIn(folder.path, options);
    const [n1, n2, n3] = nodes as [NodeProcess, NodeProcess, NodeProcess];
    try {
      await Promise.all([n1.start(), n2.start()]);
      await eventually('the cluster is whole', () => isWhole([n1, n2]));
      const never = n3.start().catch(() => {});
      await eventually('n3 has no link to n1, and n1 says why', () => /"node":"n3".*certificate/.test(logOf(n1)));
      await n3.kill();
      await never;
      assert.ok(!logOf(n1).includes('link down'), logOf(n1));
    } finally {
      await killAll(nodes);
    }
  });

  it('without a secret are refused at the start where others can reach them, with what to do', async () => {
    await using folder = await TemporaryFolder.make();
    const at = ['serve', '--coordinator', 'etcd:127.0.0.1:1', '--cluster', '0.0.0.0:0', '--data', folder.path];
    const refused = await finished(at);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /^understudy: cluster-secret-file: there is no cluster secret.*0\.0\.0\.0:0.*openssl rand/,
    );
    const short = await finished([...at, '--cluster-secret-file', secretFile(folder.path, 'short', 'tooshort')]);
    assert.equal(short.code, 2);
    assert.match(short.stderr, /^understudy: cluster-secret-file: .*at least 16 characters/);
    assert.ok(!short.stderr.includes('tooshort'));
    const missing = await finished([...at, '--cluster-secret-file', join(folder.path, 'nowhere')]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /^understudy: cluster-secret-file: .*ENOENT/);
  });
});
