/** A node on real TCP and the real clock. */
import { silentLogger } from '../../../src/base/logger.js';
import { allRules } from '../../../src/base/rules.js';
import { Turn } from '../../../src/base/turn.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { Links } from '../../../src/cluster/link/links.js';
import { TcpTransport } from '../../../src/cluster/link/tcp-transport.js';
import { HeartbeatLiveness } from '../../../src/cluster/liveness/heartbeats.js';
import type { Member } from '../../../src/cluster/map.js';
import { processRandom } from '../../../src/process/random.js';
import { realClock } from '../coordinator/ports.js';

export async function tcpNode(
  name: string,
  boot: number,
  transport: TcpTransport = new TcpTransport(),
): Promise<{ links: Links; liveness: HeartbeatLiveness; member: Member }> {
  const self = { node: name, store: `store-${name}`, boot };
  const links = new Links({
    self: { ...self, cluster: 'c1', ordinal: boot, address: '', amqp: '', http: '' },
    secret: new ClusterSecret('of these nodes'),
    transport,
    clock: realClock,
    turn: new Turn(setImmediate),
    random: processRandom,
    logger: silentLogger,
  });
  const liveness = new HeartbeatLiveness({ self, links, clock: realClock, logger: silentLogger, rules: allRules });
  const address = await links.listen('127.0.0.1:0');
  const member: Member = {
    ...self,
    ordinal: boot,
    address,
    amqp: '',
    http: '',
    pid: process.pid,
    lead: true,
    state: 'ready',
  };
  return { links, liveness, member };
}
