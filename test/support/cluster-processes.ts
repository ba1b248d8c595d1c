/** A cluster of real processes on this machine, with its files in a temporary folder that stays if the test fails. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterView, fetchCluster, isComplete } from '../../src/cli/api-client.js';
import { freePorts } from './free-ports.js';
import type { Host } from './hosts.js';
import { type NodeLife, type NodePorts, NodeProcess } from './node-process.js';

const firstPort = 26_000;
const pollMs = 50;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class ClusterProcesses {
  readonly folder: string;
  readonly nodes: readonly NodeProcess[];

  private constructor(folder: string, nodes: readonly NodeProcess[]) {
    this.folder = folder;
    this.nodes = nodes;
  }

  /**
   * Resolves when `count` nodes serve and every group has its replicas. `options`: more for each `understudy serve`; `life`: for their
   * first start only.
   */
  static async start(count: number, options: readonly string[] = [], life: NodeLife = {}): Promise<ClusterProcesses> {
    const cluster = await ClusterProcesses.prepare(count, options);
    try {
      await Promise.all(cluster.nodes.map((node) => node.start(life)));
      await cluster.untilComplete();
    } catch (error) {
      await cluster.killAll();
      throw error;
    }
    return cluster;
  }

  /** A cluster of which no node was started yet. `hosts`: where each runs, if not here. */
  static async prepare(
    count: number,
    options: readonly string[] = [],
    hosts: readonly Host[] = [],
  ): Promise<ClusterProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'understudy-crash-'));
    const free = await freePorts(firstPort, 3 * count);
    const nodes = Array.from({ length: count }, (_, i) => {
      const own: NodePorts = { amqp: free[i]!, http: free[count + i]!, cluster: free[2 * count + i]! };
      return new NodeProcess(`n${i + 1}`, folder, own, options, hosts[i]);
    });
    return new ClusterProcesses(folder, nodes);
  }

  get amqpUrls(): string[] {
    return this.nodes.map((node) => node.amqpUrl);
  }

  /** Nodes that run and are not frozen. */
  get awake(): NodeProcess[] {
    return this.nodes.filter((node) => node.pid !== 0 && !node.isFrozen);
  }

  node(name: string): NodeProcess {
    const node = this.nodes.find((candidate) => candidate.name === name);
    if (node === undefined) throw new Error(`there is no node "${name}"`);
    return node;
  }

  /** The primary of a queue, as the awake nodes see it; undefined while none of them can tell. */
  async leaderOf(queue: string): Promise<NodeProcess | undefined> {
    const leader = (await this.queueDetails(queue))?.leader;
    return leader === undefined ? undefined : this.node(leader);
  }

  /** The node that leads all, waited for. */
  async primary(): Promise<NodeProcess> {
    const { groups } = await this.untilView(
      'one node leads all',
      (view) => new Set(view.groups.map((group) => group.primary)).size === 1,
    );
    return this.node(groups[0]!.primary);
  }

  /** Waits until exactly these nodes are in sync for a queue. */
  async untilOnline(queue: string, nodes: readonly NodeProcess[], timeoutMs = 30_000): Promise<void> {
    const names = nodes.map(({ name }) => name).sort();
    let online: string[] | undefined;
    for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(pollMs)) {
      online = (await this.queueDetails(queue))?.online;
      if (online !== undefined && [...online].sort().join() === names.join()) return;
    }
    throw new Error(`not within ${timeoutMs} ms: ${queue} on ${names.join(', ')}, but ${online?.join(', ')}`);
  }

  private async queueDetails(queue: string): Promise<{ leader: string; online: string[] } | undefined> {
    for (const node of this.awake) {
      const url = new URL(`/api/queues/%2F/${encodeURIComponent(queue)}`, node.httpUrl);
      const headers = { authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` };
      try {
        const response = await fetch(url, { headers, signal: AbortSignal.timeout(1000) });
        const details = (await response.json()) as { leader?: string; online: string[] };
        if (response.ok && details.leader) return { leader: details.leader, online: details.online };
      } catch {
        // It cannot tell now; another may.
      }
    }
    return undefined;
  }

  /** Waits until another node than `old` is the queue's primary. Returns the milliseconds that it took. */
  async untilReplaced(queue: string, old: NodeProcess, timeoutMs = 15_000): Promise<number> {
    const from = performance.now();
    for (;;) {
      const leader = await this.leaderOf(queue);
      if (leader !== undefined && leader !== old) return performance.now() - from;
      if (performance.now() - from > timeoutMs)
        throw new Error(`${old.name} is still primary of ${queue} after ${timeoutMs} ms`);
      await sleep(pollMs);
    }
  }

  /** Waits until all nodes run and each says of the present processes that they are ready and every group has its replicas. */
  async untilComplete(timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (const node of this.nodes) {
      for (;;) {
        const view = await fetchCluster(node.httpUrl, 1000).catch(() => undefined);
        if (view !== undefined && isComplete(view) && this.isPresent(view)) break;
        if (performance.now() > deadline)
          throw new Error(
            `not complete after ${timeoutMs} ms, says ${node.name} (see ${this.folder}): ${summary(view)}`,
          );
        await sleep(pollMs);
      }
    }
  }

  /** Waits until what a node says of the cluster holds; by default, one that is awake. Returns what it said then. */
  async untilView(
    what: string,
    holds: (view: ClusterView) => boolean,
    { asked, timeoutMs = 30_000 }: { asked?: NodeProcess; timeoutMs?: number } = {},
  ): Promise<ClusterView> {
    for (const deadline = performance.now() + timeoutMs; ; await sleep(pollMs)) {
      const node = asked ?? this.awake[0]!;
      const view = await fetchCluster(node.httpUrl, 1000).catch(() => undefined);
      if (view !== undefined && holds(view)) return view;
      if (performance.now() > deadline)
        throw new Error(
          `not within ${timeoutMs} ms: ${what}, says ${node.name} (see ${this.folder}): ${JSON.stringify(view)}`,
        );
    }
  }

  /** Waits until every group has exactly these nodes in its in-sync set, as one of them sees it. */
  async untilInSync(nodes: readonly NodeProcess[]): Promise<void> {
    const names = nodes.map(({ name }) => name).sort();
    await this.untilView(
      `only ${names.join(', ')} in sync`,
      ({ groups }) => groups.length > 0 && groups.every(({ inSync }) => [...inSync].sort().join() === names.join()),
      { asked: nodes[0]! },
    );
  }

  /** Waits until a node leads every group, as it sees that itself. */
  async untilLeads(node: NodeProcess): Promise<void> {
    await this.untilView(
      `${node.name} leads all`,
      ({ groups }) => groups.length > 0 && groups.every(({ primary }) => primary === node.name),
      { asked: node },
    );
  }

  /** Each node in turn is the only one that runs: what there is then is what it has. At the end all run and are in sync. */
  async aloneInTurn(body: (node: NodeProcess) => Promise<void>): Promise<void> {
    for (const node of this.nodes) {
      const others = this.nodes.filter((other) => other !== node);
      await Promise.all(others.map((other) => other.kill()));
      await this.untilLeads(node);
      await body(node);
      await Promise.all(others.map((other) => other.start()));
      await this.untilComplete();
    }
  }

  /** The node listens elsewhere from its next start on. */
  async move(node: NodeProcess): Promise<void> {
    const [amqp, http, port] = (await freePorts(firstPort, 3)) as [number, number, number];
    node.ports = { amqp, http, cluster: port };
  }

  private isPresent(view: ClusterView): boolean {
    return (
      view.members.length === this.nodes.length && view.members.every(({ name, pid }) => this.node(name).pid === pid)
    );
  }

  async killAll(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }

  /** Ends all nodes; the folder goes unless `keep`. */
  async close(keep: boolean): Promise<void> {
    await this.killAll();
    if (!keep) await rm(this.folder, { recursive: true });
  }
}

function summary(view: ClusterView | undefined): string {
  if (view === undefined) return 'no answer';
  const members = view.members.map(({ name, state, pid }) => `${name} ${state} ${pid}`);
  const groups = view.groups.filter((group) => group.inSync.length < view.replicas);
  return JSON.stringify({ members, groups });
}
