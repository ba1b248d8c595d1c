/**
 * Planning: what an operation does to the committed wiring, or why it is refused. It changes nothing; the sequencer
 * logs the plan, and every node's tables change when that is committed.
 */
import { RefusedError } from '../../base/errors.js';
import { planAccess } from '../access/plan-access.js';
import type { Footprint } from './footprint.js';
import type { WiringObject } from './objects.js';
import type { WiringAnswer, WiringOperation } from './operations.js';
import { planBind, planUnbind } from './plan-binding.js';
import { planDeclareExchange, planDeleteExchange } from './plan-exchange.js';
import { planMoveOn, planMoveQueue } from './plan-move.js';
import { planNodeGone } from './plan-node.js';
import { planClearGlobalParameter, planSetGlobalParameter } from './plan-parameter.js';
import { planClearPolicy, planSetPolicy } from './plan-policy.js';
import {
  planConnectionClosed,
  planDeclareQueue,
  planDeleteQueue,
  planQueueUnused,
  planQueueUsed,
} from './plan-queue.js';
import { NotYet, type PlanContext, Planner } from './planner.js';

export interface Plan {
  /** In this order; the answer is about the last one. */
  readonly creates: readonly WiringObject[];
  /** Bindings before what they connect. */
  readonly deletes: readonly WiringObject[];
  /** As of now if nothing is created or deleted; else its version (and a new object's position) come with the log. */
  readonly answer: WiringAnswer;
  readonly footprint: Footprint;
}

/** Plans an operation against the committed wiring. Never throws for what a client may get wrong: see `answer`. */
export function plan(context: PlanContext, operation: WiringOperation): Plan {
  const planner = new Planner(context);
  try {
    dispatch(planner, operation);
  } catch (error) {
    if (error instanceof NotYet) {
      const answer = { result: 'retry', reason: error.message } as const;
      return { creates: [], deletes: [], answer, footprint: planner.footprint };
    }
    if (!(error instanceof RefusedError)) throw error;
    return {
      creates: [],
      deletes: [],
      answer: { result: 'refused', kind: error.kind, text: error.message },
      footprint: planner.footprint,
    };
  }
  return {
    creates: planner.creates,
    deletes: planner.removal.objects(),
    answer: {
      result: 'done',
      version: context.tables.version,
      position: planner.position,
      group: planner.group,
    },
    footprint: planner.footprint,
  };
}

function dispatch(planner: Planner, operation: WiringOperation): void {
  switch (operation.op) {
    case 'declareExchange':
      planDeclareExchange(planner, operation);
      break;
    case 'deleteExchange':
      planDeleteExchange(planner, operation);
      break;
    case 'declareQueue':
      planDeclareQueue(planner, operation);
      break;
    case 'deleteQueue':
      planDeleteQueue(planner, operation);
      break;
    case 'bind':
      planBind(planner, operation);
      break;
    case 'unbind':
      planUnbind(planner, operation);
      break;
    case 'connectionClosed':
      planConnectionClosed(planner, operation);
      break;
    case 'nodeGone':
      planNodeGone(planner, operation);
      break;
    case 'queueUsed':
      planQueueUsed(planner, operation);
      break;
    case 'queueUnused':
      planQueueUnused(planner, operation);
      break;
    case 'moveQueue':
      planMoveQueue(planner, operation);
      break;
    case 'moveOn':
      planMoveOn(planner, operation);
      break;
    case 'setPolicy':
    case 'setOperatorPolicy':
      planSetPolicy(planner, operation);
      break;
    case 'clearPolicy':
    case 'clearOperatorPolicy':
      planClearPolicy(planner, operation);
      break;
    case 'setGlobalParameter':
      planSetGlobalParameter(planner, operation);
      break;
    case 'clearGlobalParameter':
      planClearGlobalParameter(planner, operation);
      break;
    default:
      planAccess(planner, operation);
  }
}
