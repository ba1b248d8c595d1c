import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AlarmKind, Alarms } from '../../../src/cluster/alarms/alarms.js';
import type { ClusterMap, MapListener } from '../../../src/cluster/cluster-map.js';
import type { Frame, FrameHandler } from '../../../src/cluster/link/frame.js';
import type { Link } from '../../../src/cluster/link/link.js';
import type { Links, LinksListener } from '../../../src/cluster/link/links.js';

/** A node with alarms, and its ends of the links to others: what is sent over them arrives at once. */
class TestNode {
  readonly name: string;
  readonly alarms: Alarms;
  /** What its publishers were told, '' = they go on. */
  readonly reasons: string[] = [];
  version = 3;
  private handler: FrameHandler | undefined;
  private linkListener: LinksListener = {};
  private mapListener: Partial<MapListener> = {};
  private readonly peers: Map<TestNode, Link> = new Map();

  constructor(name: string, alone = false) {
    this.name = name;
    const links = {
      handle: (_type: number, handler: FrameHandler) => {
        this.handler = handler;
      },
      observe: (listener: LinksListener) => {
        this.linkListener = listener;
      },
      all: () => this.peers.values(),
    };
    const config = (): { version: number } => ({ version: this.version });
    const map = {
      get config() {
        return config();
      },
      listen: (listener: MapListener) => {
        this.mapListener = listener;
      },
    };
    this.alarms = new Alarms({
      node: name,
      map: map as unknown as ClusterMap,
      links: alone ? undefined : (links as unknown as Links),
      changed: () => this.reasons.push(this.alarms.reason()),
    });
  }

  connect(other: TestNode): void {
    for (const [near, far] of [
      [this, other],
      [other, this],
    ] as const)
      near.peers.set(far, near.linkTo(far));
    for (const [near, far] of [
      [this, other],
      [other, this],
    ] as const)
      near.linkListener.up?.(near.peers.get(far)!);
  }

  disconnect(other: TestNode): void {
    const mine = this.peers.get(other)!;
    const theirs = other.peers.get(this)!;
    this.peers.delete(other);
    other.peers.delete(this);
    this.linkListener.down?.(mine, 'closed');
    other.linkListener.down?.(theirs, 'closed');
  }

  goOver(version: number): void {
    this.version = version;
    this.mapListener.configChanged?.({ version } as never);
  }

  hear(from: TestNode, text: string): void {
    const bytes = Buffer.from(text);
    this.handler?.(this.peers.get(from)!, { bytes, start: 0, end: bytes.length } as unknown as Frame);
  }

  private linkTo(far: TestNode): Link {
    return {
      peer: { node: far.name },
      beginFrame: (_type: number, _group: number, length: number) => {
        const bytes = new Uint8Array(length);
        queueMicrotask(() => far.hear(this, Buffer.from(bytes).toString()));
        return { bytes, offset: 0 };
      },
    } as unknown as Link;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function cluster(): Promise<[TestNode, TestNode, TestNode]> {
  const [n1, n2, n3] = ['n1', 'n2', 'n3'].map((name) => new TestNode(name)) as [TestNode, TestNode, TestNode];
  n1.connect(n2);
  n1.connect(n3);
  n2.connect(n3);
  await settled();
  return [n1, n2, n3];
}

describe('alarms', () => {
  it('of one node are known to all, with its name, until they are over', async () => {
    const nodes = await cluster();
    const [, n2] = nodes;
    n2.alarms.set('memory', true);
    await settled();
    for (const node of nodes) assert.equal(node.alarms.reason(), 'low on memory: node n2');
    assert.deepEqual(nodes[2].alarms.of('n2'), ['memory'] satisfies AlarmKind[]);
    n2.alarms.set('memory', false);
    await settled();
    for (const node of nodes) assert.deepEqual(node.reasons, ['low on memory: node n2', '']);
  });

  it('of several nodes are over with the last one', async () => {
    const [n1, n2, n3] = await cluster();
    n3.alarms.set('disk', true);
    n2.alarms.set('disk', true);
    n2.alarms.set('memory', true);
    await settled();
    assert.equal(n1.alarms.reason(), 'low on memory: node n2');
    n2.alarms.set('memory', false);
    await settled();
    assert.equal(n1.alarms.reason(), 'low on disk: nodes n2, n3');
    n3.alarms.set('disk', false);
    n2.alarms.set('disk', false);
    await settled();
    assert.equal(n1.alarms.reason(), '');
  });

  it('are told to whoever comes, and are over with whoever goes', async () => {
    const [n1, n2, n3] = await cluster();
    n2.alarms.set('memory', true);
    await settled();
    n1.disconnect(n2);
    assert.equal(n1.alarms.reason(), '');
    assert.equal(n3.alarms.reason(), 'low on memory: node n2');
    n1.connect(n2);
    await settled();
    assert.equal(n1.alarms.reason(), 'low on memory: node n2');
  });

  it('are a node’s own affair while others do not know of them, and are told when they do', async () => {
    const [n1, n2] = await cluster();
    n2.version = 2;
    n2.alarms.set('memory', true);
    await settled();
    assert.equal(n2.alarms.reason(), 'low on memory: node n2');
    assert.equal(n1.alarms.reason(), '');
    n2.goOver(3);
    await settled();
    assert.equal(n1.alarms.reason(), 'low on memory: node n2');
  });

  it('of kinds that are not known mean nothing', async () => {
    const [n1, n2] = await cluster();
    n1.hear(n2, '["files","memory"]');
    assert.deepEqual(n1.alarms.of('n2'), ['memory']);
    n1.hear(n2, '{}');
    assert.deepEqual(n1.alarms.of('n2'), []);
  });

  it('of a broker that is alone are its own', () => {
    const lone = new TestNode('n1', true);
    lone.alarms.set('memory', true);
    lone.alarms.set('memory', true);
    assert.deepEqual(lone.reasons, ['low on memory: node n1']);
  });
});
