/** What a program got wrong it is told at once, as the command line tells. All throw RangeError. */
import type { EmbeddedBrokerOptions } from './broker.js';
import type { EmbeddedClusterOptions } from './cluster.js';
import type { CommonOptions } from './options.js';

const memoryBytesMin = 16 * 1024 * 1024;
const replicasMax = 31;
const groupsMax = 1024;

export function checkBroker(options: EmbeddedBrokerOptions): void {
  const { node = 'n1' } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(node))
    throw new RangeError(`node: "${node}" is no node name: letters, digits, and _ . - after the first`);
  checkCommon(options);
}

/** @param names of the cluster's nodes. */
export function checkCluster(options: EmbeddedClusterOptions, names: readonly string[]): void {
  const { replicas = 3, minInSync = 1, groups = 16, followers = [] } = options;
  checkWhole('replicas', replicas, 1, replicasMax);
  checkWhole('minInSync', minInSync, 1, Math.min(replicas, names.length));
  checkWhole('groups', groups, 1, groupsMax);
  const stranger = followers.find((name) => !names.includes(name));
  if (stranger !== undefined) throw new RangeError(`followers: there is no node ${stranger}: ${names.join(', ')}`);
  checkCommon(options);
}

export function checkWhole(name: string, value: number, least: number, most: number): void {
  if (!(Number.isInteger(value) && value >= least && value <= most))
    throw new RangeError(`${name}: ${value} is no whole number from ${least} to ${most}`);
}

function checkCommon({ memoryBytes = memoryBytesMin }: CommonOptions): void {
  if (!(memoryBytes >= memoryBytesMin)) throw new RangeError(`memoryBytes: ${memoryBytes} is less than 16 MiB`);
}
