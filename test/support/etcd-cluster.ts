/** Brokers as real processes on a real etcd of three members. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterProcesses } from './cluster-processes.js';
import { EtcdProcesses } from './etcd-processes.js';
import type { Host } from './hosts.js';

export interface EtcdCluster {
  etcd: EtcdProcesses;
  cluster: ClusterProcesses;
  /** Ends all processes. The folder with the logs stays unless all is `well`, or if UNDERSTUDY_KEEP is set. */
  close(well: boolean): Promise<void>;
}

export interface EtcdClusterOptions {
  /** Default 3. */
  nodes?: number;
  /** More of `understudy serve`'s. */
  options?: readonly string[];
  /** Default true; false: no node is started yet. */
  start?: boolean;
  /** First those of the brokers, then those of etcd's members; default: this one for all. */
  hosts?: readonly Host[];
}

const members = 3;

export async function startEtcdCluster({
  nodes = 3,
  options = [],
  start = true,
  hosts = [],
}: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const etcd = await EtcdProcesses.start(members, undefined, hosts.slice(nodes));
  // Where others than this machine reach them, brokers want a secret.
  const secret = join(etcd.folder, 'secret');
  writeFileSync(secret, randomBytes(32).toString('hex'), { mode: 0o600 });
  const all = ['--coordinator', etcd.setting, '--cluster-secret-file', secret, ...options];
  let cluster: ClusterProcesses | undefined;
  const close = async (well: boolean): Promise<void> => {
    await cluster?.close(!well || process.env['UNDERSTUDY_KEEP'] !== undefined);
    await etcd[Symbol.asyncDispose]();
  };
  try {
    cluster = await ClusterProcesses.prepare(nodes, all, hosts);
    if (start) {
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
    }
  } catch (error) {
    await close(false);
    throw error;
  }
  return { etcd, cluster, close };
}
