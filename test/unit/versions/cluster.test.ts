/** A cluster whose nodes speak different versions: which one it speaks, and who is let in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstVersions, judgeVersions, protocolVersions, type VersionRange } from '../../../src/base/versions.js';
import type { BrokerNode } from '../../../src/broker-node.js';
import { MemoryCoordinator } from '../../../src/cluster/coordinator/memory.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { judgeHello } from '../../../src/cluster/link/hello.js';
import { TcpTransport } from '../../../src/cluster/link/tcp-transport.js';
import { MapKey } from '../../../src/cluster/map.js';
import { MembershipError } from '../../../src/cluster/membership.js';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { makeNode } from '../broker-node/support.js';

const both = { min: 1, max: 2 };

async function until(what: string, condition: () => boolean, timeoutMs = 10_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

class MixedCluster {
  readonly coordinator = new MemoryCoordinator('test');
  readonly nodes = new Map<string, BrokerNode>();
  private readonly disks = new Map<string, MemoryDisk>();

  make(node: string, versions: VersionRange, disk = this.disks.get(node) ?? new MemoryDisk()): BrokerNode {
    this.disks.set(node, disk);
    const coordinator = this.coordinator.handle();
    return makeNode(
      { node, address: '127.0.0.1:0', groups: 2, versions },
      { disk, cluster: { coordinator, transport: new TcpTransport(), secret: ClusterSecret.none } },
    );
  }

  async start(node: string, versions: VersionRange): Promise<BrokerNode> {
    await this.nodes.get(node)?.stop();
    const made = this.make(node, versions);
    this.nodes.set(node, made);
    await made.start();
    return made;
  }

  async untilComplete(): Promise<void> {
    await until('complete', () => [...this.nodes.values()].every((node) => node.report.isComplete()));
  }

  get versions(): number[] {
    return [...this.nodes.values()].map((node) => node.map.config.version);
  }

  async written(key: string): Promise<Record<string, unknown>> {
    const [entry] = await this.coordinator.handle().read(key);
    return JSON.parse(entry!.value) as Record<string, unknown>;
  }

  async stop(): Promise<void> {
    for (const node of this.nodes.values()) await node.stop();
  }
}

describe('the version of a cluster', () => {
  it('is that of its founder, and a node that speaks less is refused, with both ranges and advice', async () => {
    const cluster = new MixedCluster();
    const n1 = await cluster.start('n1', both);
    assert.equal(n1.map.config.version, 2);
    const n2 = cluster.make('n2', firstVersions);
    await assert.rejects(
      n2.start(),
      (error: Error) =>
        error instanceof MembershipError &&
        /node n2 speaks protocol version 1, the cluster 2 and no older one any more: start it with/.test(error.message),
    );
    await n2.stop();
    await cluster.stop();
  });

  it('rises with the last member that is brought to a newer one, and not before; what a version 1 node writes is as it was', async () => {
    const cluster = new MixedCluster();
    for (const node of ['n1', 'n2', 'n3']) await cluster.start(node, firstVersions);
    await cluster.untilComplete();
    assert.deepEqual(Object.keys(await cluster.written(MapKey.cluster)).sort(), [
      'clients',
      'groups',
      'id',
      'minInSync',
      'placement',
      'replicas',
    ]);
    assert.ok(!('versions' in (await cluster.written(MapKey.member('n1')))));
    for (const node of ['n1', 'n2']) {
      await cluster.start(node, both);
      await cluster.untilComplete();
    }
    // Somebody goes back: nothing of version 2 was used.
    await cluster.start('n2', firstVersions);
    await cluster.untilComplete();
    await cluster.start('n2', both);
    await cluster.untilComplete();
    assert.deepEqual(cluster.versions, [1, 1, 1]);
    const n3 = await cluster.start('n3', both);
    await until('version 2', () => cluster.versions.every((version) => version === 2));
    assert.equal(n3.store.identity.format, 2);
    const report = n3.report.members().map((member) => member.protocol);
    assert.deepEqual(report, [
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    await cluster.stop();
  });

  it('is held back by a member that is down', async () => {
    const cluster = new MixedCluster();
    const n1 = await cluster.start('n1', firstVersions);
    await cluster.start('n2', firstVersions);
    await cluster.untilComplete();
    await cluster.nodes.get('n2')!.stop();
    cluster.nodes.delete('n2');
    await n1.stop();
    const again = await cluster.start('n1', both);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    assert.equal(again.map.config.version, 1);
    await cluster.stop();
  });
});

describe('hellos', () => {
  const self = { cluster: 'c', node: 'n1', store: 's', boot: 1, ordinal: 1, address: '', amqp: '', http: '' };
  const judge = (versionMin: number, versionMax: number, version: number): string =>
    judgeHello(self, both, { version, versionFloor: version }, { ...self, node: 'n2', versionMin, versionMax });

  it('of who speaks the cluster version are accepted', () => {
    for (const version of [1, 2]) assert.equal(judge(1, 2, version), '');
    assert.equal(judge(1, 1, 1), '');
    assert.equal(judge(1, 9, 2), '');
  });

  it('of others are refused: both ranges, and what to do', () => {
    assert.match(judge(1, 1, 2), /n2 speaks protocol version 1, the cluster 2 and no older one any more: start it/);
    assert.match(judge(2, 3, 1), /n2 speaks protocol version 2 to 3, the cluster 1: bring all nodes to a program/);
    assert.match(judge(3, 4, 2), /n2 speaks protocol version 3 to 4, n1 1 to 2: bring both to programs/);
  });

  it('this program speaks its own newest version', () => {
    assert.equal(judgeVersions('n1', protocolVersions, { version: 2, versionFloor: 2 }), '');
  });
});
