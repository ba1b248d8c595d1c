/** Brokers as real processes on a real etcd of three members. */
import { ClusterProcesses } from './cluster-processes.js';
import { EtcdProcesses } from './etcd-processes.js';

export interface EtcdCluster {
  etcd: EtcdProcesses;
  cluster: ClusterProcesses;
  /** Ends all processes. The folder with the logs stays unless all is `well`, or if UNDERSTUDY_KEEP is set. */
  close(well: boolean): Promise<void>;
}

/** @param options more of `understudy serve`'s @param start false: the nodes are not started yet */
export async function startEtcdCluster(nodes = 3, options: readonly string[] = [], start = true): Promise<EtcdCluster> {
  const etcd = await EtcdProcesses.start();
  try {
    const all = ['--coordinator', etcd.setting, ...options];
    const cluster = await (start ? ClusterProcesses.start(nodes, all) : ClusterProcesses.prepare(nodes, all));
    const close = async (well: boolean): Promise<void> => {
      await cluster.close(!well || process.env['UNDERSTUDY_KEEP'] !== undefined);
      await etcd[Symbol.asyncDispose]();
    };
    return { etcd, cluster, close };
  } catch (error) {
    await etcd[Symbol.asyncDispose]();
    throw error;
  }
}
