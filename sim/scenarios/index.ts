import { brokenHandOver } from './broken-hand-over.js';
import { coordinatorRestored } from './coordinator-restored.js';
import { deaths } from './deaths.js';
import { delays } from './delays.js';
import { large } from './large.js';
import { deposedPrimary } from './deposed-primary.js';
import { doubleFailover } from './double-failover.js';
import { earlyRetry } from './early-retry.js';
import { elections } from './elections.js';
import { handOver } from './hand-over.js';
import { handOverPutOff } from './hand-over-put-off.js';
import { flows } from './flows.js';
import { forgotten } from './forgotten.js';
import { boundedQueues, choosing, keyedQueues, notes, sideWays, turns } from './kinds.js';
import { killWhileJoining } from './kill-while-joining.js';
import { lateConfirms } from './late-confirms.js';
import { lostBatch } from './lost-batch.js';
import { oldSegments } from './old-segments.js';
import { moveInterrupted } from './move-interrupted.js';
import { moveNeverCommitted } from './move-never-committed.js';
import { movedAway } from './moved-away.js';
import { outage } from './outage.js';
import { override } from './override.js';
import { powerCut } from './power-cut.js';
import { powerCutRelaxed } from './power-cut-relaxed.js';
import { reattachment } from './reattachment.js';
import { rollingUpgrade } from './rolling-upgrade.js';
import { queueMoves } from './queue-moves.js';
import type { Scenario } from './scenario.js';
import { staleRecords } from './stale-records.js';
import { tooFew } from './too-few.js';
import { tooFewOfAQueue } from './too-few-of-a-queue.js';
import { resumed } from './resumed.js';
import { transactions } from './transactions.js';
import { unansweredShrink } from './unanswered-shrink.js';
import { wiring } from './wiring.js';

/** Every directed scenario. With all rules kept each must be green, like any run. */
export const scenarios: readonly Scenario[] = [
  boundedQueues,
  brokenHandOver,
  choosing,
  coordinatorRestored,
  deaths,
  delays,
  large,
  deposedPrimary,
  doubleFailover,
  earlyRetry,
  elections,
  handOver,
  handOverPutOff,
  flows,
  forgotten,
  keyedQueues,
  killWhileJoining,
  lateConfirms,
  lostBatch,
  notes,
  oldSegments,
  moveInterrupted,
  moveNeverCommitted,
  movedAway,
  outage,
  override,
  powerCut,
  powerCutRelaxed,
  queueMoves,
  reattachment,
  rollingUpgrade,
  sideWays,
  staleRecords,
  tooFew,
  tooFewOfAQueue,
  transactions,
  resumed,
  turns,
  unansweredShrink,
  wiring,
];

export function findScenario(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`no scenario is called ${name}: ${scenarios.map((one) => one.name).join(', ')}`);
  return found;
}
