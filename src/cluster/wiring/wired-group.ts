import type { GroupReplica } from '../replication/group-replica.js';
import type { WiredGroup } from './ports.js';

/** A replica that leads its group, as what the wiring means for it is written to its log. */
export function wiredGroup({ group, state, primary }: GroupReplica): WiredGroup {
  const leading = primary!;
  return {
    group,
    appender: leading,
    wiringVersion: state.wiringVersion,
    openQueues: () => state.incarnations(),
    advanceWiring: (version, after) => leading.service?.advanceWiring(version, after),
  };
}
