import assert from 'node:assert/strict';
import { ClusterProcesses } from '../../support/cluster-processes.js';
import type { Target } from './target.js';

/** A cluster of three, through the node that is primary of nothing but its clients' exclusive queues. */
export async function startCluster(): Promise<Target> {
  const cluster = await ClusterProcesses.prepare(3);
  const [first, second, proxy] = cluster.nodes;
  try {
    // Whoever comes first founds the cluster, and leads all of it at first.
    await first!.start();
    await Promise.all([second!.start(), proxy!.start({ options: ['--lead', 'false'] })]);
    await cluster.untilComplete();
    const { groups } = await cluster.untilView('groups are there', (view) => view.groups.length > 16);
    assert.ok(groups.every(({ primary }) => primary !== proxy!.name));
  } catch (error) {
    await cluster.close(true);
    throw error;
  }
  return {
    name: 'a cluster of three, through a node that leads nothing',
    port: proxy!.ports.amqp,
    httpPort: proxy!.ports.http,
    isOurs: true,
    [Symbol.asyncDispose]: () => cluster.close(false),
  };
}
