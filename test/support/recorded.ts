/** What is recorded in the coordinator of a cluster of processes, which its nodes tell only as far as they are up. */
import { join } from 'node:path';
import { silentLogger } from '../../src/base/logger.js';
import { LocalCoordinator } from '../../src/cluster/coordinator/local.js';
import type { GroupRecord } from '../../src/cluster/map.js';
import { ProcessClock } from '../../src/process/clock.js';
import { processRandom } from '../../src/process/random.js';
import { type ClusterProcesses, sleep } from './cluster-processes.js';

const timeoutMs = 20_000;

/** Waits until the node alone is in all in-sync sets. */
export async function untilRecordedAlone(cluster: ClusterProcesses, node: string): Promise<void> {
  const folder = join(cluster.folder, 'coordinator');
  const options = { folder, clock: new ProcessClock(), random: processRandom, logger: silentLogger };
  const coordinator = await LocalCoordinator.open(options);
  try {
    for (const deadline = performance.now() + timeoutMs; ; await sleep(50)) {
      const records = (await coordinator.read('groups/')).map(({ value }) => JSON.parse(value) as GroupRecord);
      const others = records.filter(({ inSync }) => inSync.some((member) => member.node !== node));
      if (others.length === 0) return;
      if (performance.now() > deadline) throw new Error(`not alone: ${JSON.stringify(others)}`);
    }
  } finally {
    await coordinator.close();
  }
}
