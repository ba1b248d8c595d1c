import type { TestContext } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import {
  type Coordinator,
  CoordinatorUnavailableError,
  type Entry,
} from '../../src/cluster/coordinator/coordinator.js';
import { EtcdCoordinator, type EtcdOptions } from '../../src/cluster/coordinator/etcd/etcd.js';
import { realClock, realRandom } from '../unit/coordinator/ports.js';

/** A handle of one more broker, on the machine's own clock; closed when the test has ended. */
export function openEtcd(
  test: TestContext,
  endpoints: readonly string[],
  options: Partial<EtcdOptions> = {},
): EtcdCoordinator {
  const ports = { clock: realClock, random: realRandom, logger: silentLogger };
  const handle = new EtcdCoordinator({ endpoints, ...ports, ...options });
  test.after(() => handle.close());
  return handle;
}

/** Of an etcd that was away: whoever asks while it comes back may hear that it is not there. */
export async function readSoon(handle: Coordinator, prefix: string): Promise<Entry[]> {
  for (const deadline = performance.now() + 30_000; ; ) {
    try {
      return await handle.read(prefix);
    } catch (error) {
      if (!(error instanceof CoordinatorUnavailableError) || performance.now() > deadline) throw error;
    }
  }
}
