import { ClusterProcesses } from './cluster-processes.js';

/** Runs `body` with a cluster of three processes. Its folder, with the logs, stays if the body fails, or UNDERSTUDY_KEEP is set. */
export async function withCluster(
  options: readonly string[],
  body: (cluster: ClusterProcesses) => Promise<void>,
): Promise<void> {
  const cluster = await ClusterProcesses.start(3, options);
  let failed = true;
  try {
    await body(cluster);
    failed = false;
  } finally {
    await cluster.close(failed || process.env['UNDERSTUDY_KEEP'] !== undefined);
  }
}
