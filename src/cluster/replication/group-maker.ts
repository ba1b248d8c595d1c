/**
 * Makes groups with another number of replicas than the cluster's, when a queue asks for one: one for each number and node that
 * declares such queues. Their records say how many (`GroupRecord.size`).
 */
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { ClusterMap } from '../cluster-map.js';
import type { GroupRecord } from '../map.js';

/** As many as a cluster may be founded with. */
const groupsMax = 1024;

export class GroupMaker {
  private readonly map: ClusterMap;
  private readonly logger: Logger;
  private underWay = false;

  constructor(map: ClusterMap, logger: Logger) {
    this.map = map;
    this.logger = logger;
  }

  /**
   * Sees to it that there will be a group of `size` replicas whose first one is on `node`. It is in the map soon, or it is to be
   * asked for again.
   * @throws RefusedError if there cannot be.
   */
  want(size: number, node: string): void {
    const { groups } = this.map;
    if (groups.size >= groupsMax)
      throw new RefusedError(
        Refusal.preconditionFailed,
        `there are ${groupsMax} groups, and none of ${size} replicas on ${node}; use the cluster's number of replicas`,
      );
    if (this.underWay) return;
    this.underWay = true;
    void this.make(size, node).finally(() => {
      this.underWay = false;
    });
  }

  private async make(size: number, node: string): Promise<void> {
    const member = this.map.members.get(node)?.value;
    if (member === undefined) return;
    const first = { node, store: member.store, boot: member.boot };
    const group = Math.max(...this.map.groups.keys()) + 1;
    const record: GroupRecord = { group, epoch: 1, primary: first, inSync: [first], replicas: [node], size };
    const outcome = await this.map.swapGroup(record, 0);
    if (outcome.kind === 'done') this.logger.info('a group was made for queues that ask for it', { group, size, node });
  }
}
