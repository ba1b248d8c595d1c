/** Planning of changes of users, vhosts, permissions and limits. All may be said again: what is so already changes nothing. */
import { Feature } from '../../base/versions.js';
import { nameKey } from '../wiring/footprint.js';
import { NotYet, type Planner } from '../wiring/planner.js';
import { olderNodes } from './checks.js';
import type { AccessOperation } from './operations.js';
import { planClearLimit, planSetLimit } from './plan-limits.js';
import {
  planClearPermission,
  planClearTopicPermission,
  planSetPermission,
  planSetTopicPermission,
} from './plan-permissions.js';
import { planDeleteUser, planFound, planSetUser } from './plan-users.js';
import { planDeleteVhost, planSetVhost, planVhostGone } from './plan-vhosts.js';

export function planAccess(planner: Planner, operation: AccessOperation): void {
  if (operation.op === 'found') return planFound(planner, operation);
  checkFounded(planner);
  switch (operation.op) {
    case 'setVhost':
      return planSetVhost(planner, operation);
    case 'deleteVhost':
      return planDeleteVhost(planner, operation);
    case 'vhostGone':
      return planVhostGone(planner, operation);
    case 'setUser':
      return planSetUser(planner, operation);
    case 'deleteUser':
      return planDeleteUser(planner, operation);
    case 'setPermission':
      return planSetPermission(planner, operation);
    case 'clearPermission':
      return planClearPermission(planner, operation);
    case 'setTopicPermission':
      return planSetTopicPermission(planner, operation);
    case 'clearTopicPermission':
      return planClearTopicPermission(planner, operation);
    case 'setLimit':
      return planSetLimit(planner, operation);
    case 'clearLimit':
      return planClearLimit(planner, operation);
  }
}

/** @throws RefusedError precondition-failed while there are nodes that would not understand, NotYet before the first users are there */
function checkFounded({ context, tables, footprint }: Planner): void {
  const version = context.version();
  if (version < Feature.access) throw olderNodes(version);
  footprint.reads(nameKey.founded);
  if (!tables.access.isFounded) throw new NotYet('the first users are being made');
}
