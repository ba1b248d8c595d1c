/** One round: all nodes killed at once under load and started again; then what each replica has is looked at. */
import type { ClusterProcesses } from './cluster-processes.js';
import { join } from 'node:path';
import { type NumberedResult, NumberedRun } from './numbered-run.js';
import { assertFaultless } from './verdict.js';

/**
 * Publishers on four queues, consumers on two of them. After the restart the two other nodes than `survivor` are killed, and
 * everything that was confirmed must come from that one. At the end all nodes run again. Returns the figures, and how long
 * no node served.
 */
export async function killAllRound(
  cluster: ClusterProcesses,
  round: number,
): Promise<{ result: NumberedResult; gapMs: number }> {
  const survivor = cluster.nodes[round % cluster.nodes.length]!;
  const others = cluster.nodes.filter((node) => node !== survivor);
  const ledger = join(cluster.folder, `ledger-${round}.json`);
  const common = ['--prefix', `all${round}`, '--ledger', ledger];
  const run = new NumberedRun(cluster.amqpUrls, ['publish', ...common, '--consumers', '2']);
  try {
    await run.more(500);
    const from = Date.now();
    await cluster.killAll();
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await cluster.untilComplete();
    await run.more(100);
    const gapMs = run.longestGap(from);
    await run.finish();
    await Promise.all(others.map((node) => node.kill()));
    const drain = new NumberedRun([survivor.amqpUrl], ['drain', ...common, '--consumers', '4']);
    const result = await drain.end();
    assertFaultless(result, cluster);
    await Promise.all(others.map((node) => node.start()));
    await cluster.untilComplete();
    return { result, gapMs };
  } finally {
    run.kill();
  }
}
