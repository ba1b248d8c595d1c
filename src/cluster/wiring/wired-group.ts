import { isOwnQueue } from '../../model/queue/outbox.js';
import type { GroupReplica } from '../replication/group-replica.js';
import type { WiredGroup } from './ports.js';

/** A replica that leads its group, as what the wiring means for it is written to its log. */
export function wiredGroup({ group, state, primary }: GroupReplica): WiredGroup {
  const leading = primary!;
  return {
    group,
    appender: leading,
    wiringVersion: state.wiringVersion,
    openQueues: () => wired(state.incarnations()),
    advanceWiring: (version, after) => leading.service?.advanceWiring(version, after),
  };
}

/** Without those of which the wiring does not know. */
function* wired(incarnations: Iterable<number>): Generator<number, void> {
  for (const incarnation of incarnations) if (!isOwnQueue(incarnation)) yield incarnation;
}
