import type { Logger } from '../base/logger.js';
import { LocalCoordinator } from '../cluster/coordinator/local.js';
import { heartbeatTimesFor } from '../cluster/liveness/heartbeats.js';
import type { NodeSettings } from '../config/settings.js';
import type { NodeOptions } from '../node.js';
import { ProcessClock } from '../process/clock.js';
import { processRandom } from '../process/random.js';

/** What settings mean to a node. Opens the coordinator, if there is one; the node closes it. */
export async function nodeOptions(settings: NodeSettings, logger: Logger): Promise<NodeOptions> {
  const { coordinator: folder } = settings;
  const clock = new ProcessClock();
  const cluster =
    folder === null
      ? null
      : {
          listen: settings.cluster,
          coordinator: await LocalCoordinator.open({ folder, clock, random: processRandom, logger }),
        };
  return {
    node: settings.node,
    amqp: settings.amqp,
    http: settings.http,
    data: settings.data,
    cluster,
    logger,
    users: new Map([['guest', 'guest']]),
    broker: {
      groups: settings.groups,
      replicas: folder === null ? 1 : settings.replicas,
      minInSync: folder === null ? 1 : settings.minInSync,
      lead: settings.lead,
      memoryBytes: settings.memoryBytes,
      diskFreeBytesMin: settings.diskFreeBytesMin,
      times: heartbeatTimesFor(settings.leaseMs),
      limits: { reReplicateAfterMs: settings.reReplicateAfterMs },
    },
  };
}
