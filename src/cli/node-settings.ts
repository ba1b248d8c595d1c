import { readFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { protocolVersions } from '../base/versions.js';
import type { Logger } from '../base/logger.js';
import type { Coordinator } from '../cluster/coordinator/coordinator.js';
import { heartbeatTimesFor } from '../cluster/liveness/heartbeats.js';
import type { CoordinatorSettings, EtcdSettings } from '../config/coordinator.js';
import { formatEndpoint } from '../config/endpoint.js';
import { ConfigError, type NodeSettings } from '../config/settings.js';
import { watermarkBytes } from '../config/watermark.js';
import type { ClusterPlace, NodeOptions } from '../node.js';
import { ProcessClock } from '../process/clock.js';
import { machineMemoryBytes } from '../process/memory.js';
import { processRandom } from '../process/random.js';
import { linkSecurity } from './link-security.js';

/** What settings mean to a node. Opens the coordinator, if there is one; the node closes it. */
export async function nodeOptions(settings: NodeSettings, logger: Logger): Promise<NodeOptions> {
  const cluster = await clusterPlace(settings, logger);
  return {
    node: settings.node,
    amqp: settings.amqp,
    http: settings.http,
    amqps: settings.amqps,
    https: settings.https,
    tls: settings.tls,
    data: settings.data,
    cluster,
    logger,
    product: settings.product,
    users: undefined,
    loopbackUsers: settings.loopbackUsers,
    definitions: settings.loadDefinitions,
    anonymousUser: settings.anonymousUser,
    websocketOrigins: settings.websocketOrigins,
    broker: {
      groups: settings.groups,
      replicas: cluster === null ? 1 : settings.replicas,
      minInSync: cluster === null ? 1 : settings.minInSync,
      clients: settings.clients,
      placement: settings.placement,
      replicate: settings.replicate,
      lead: settings.lead,
      versions: { min: protocolVersions.min, max: settings.protocol },
      memoryBytes: settings.memoryBytes,
      memoryHighBytes: watermarkBytes(settings.memoryHighWatermark, settings.memoryBytes, machineMemoryBytes()),
      diskAlarm: settings.diskAlarm,
      diskFreeBytesMin: settings.diskFreeBytesMin,
      times: heartbeatTimesFor(settings.leaseMs),
      limits: { reReplicateAfterMs: settings.reReplicateAfterMs, timeShareMs: settings.timeShareMs },
    },
  };
}

async function clusterPlace(settings: NodeSettings, logger: Logger): Promise<ClusterPlace | null> {
  const { coordinator, links, cluster: listen } = settings;
  if (coordinator === null || links === null) return null;
  // Before the coordinator: it would have to be closed again.
  const security = await linkSecurity(links, listen, logger);
  return { listen, ...security, coordinator: await openCoordinator(coordinator, new ProcessClock(), logger) };
}

/** Only the engine that is asked for is loaded. */
async function openCoordinator(settings: CoordinatorSettings, clock: Clock, logger: Logger): Promise<Coordinator> {
  if (settings.kind === 'local') {
    const { LocalCoordinator } = await import('../cluster/coordinator/local.js');
    return await LocalCoordinator.open({ folder: settings.folder, clock, random: processRandom, logger });
  }
  const { EtcdCoordinator } = await import('../cluster/coordinator/etcd/etcd.js');
  const { prefix, user } = settings;
  const endpoints = settings.endpoints.map(formatEndpoint);
  const tls = settings.tls && (await readTlsFiles(settings.tls));
  return new EtcdCoordinator({ endpoints, prefix, user, tls, clock, random: processRandom, logger });
}

/** PEM texts for names of files. */
async function readTlsFiles(tls: NonNullable<EtcdSettings['tls']>): Promise<NonNullable<EtcdSettings['tls']>> {
  const read = async (setting: string, path: string | undefined): Promise<string | undefined> => {
    if (path === undefined) return undefined;
    return await readFile(path, 'utf8').catch((error: Error) => {
      throw new ConfigError(`${setting}: ${error.message}`);
    });
  };
  return {
    ca: await read('etcd-ca', tls.ca),
    certificate: await read('etcd-certificate', tls.certificate),
    key: await read('etcd-key', tls.key),
  };
}
