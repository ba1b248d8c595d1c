import assert from 'node:assert/strict';
import type { ClusterProcesses } from './cluster-processes.js';
import type { NumberedResult } from './numbered-run.js';

/** Names of the queues that the numbered program uses for that prefix. */
export function queueNames(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}.${i}`);
}

/** Nothing confirmed lost, no unflagged duplicate, no disorder; and everything that was sent is confirmed by now. */
export function assertFaultless(result: NumberedResult, cluster: ClusterProcesses): void {
  const { faultCounts, faults, foreign, sent, confirmed, missing } = result;
  const where = `logs: ${cluster.folder}; ${JSON.stringify(faults)}`;
  assert.deepEqual(faultCounts, { lost: 0, duplicates: 0, disorder: 0, unroutable: 0, misplaced: 0 }, where);
  assert.deepEqual({ foreign, missing, confirmed }, { foreign: 0, missing: 0, confirmed: sent }, where);
}

/** One line of figures. */
export function figures(result: NumberedResult): string {
  const { sent, sentAgain, confirmed, delivered, flagged, faultCounts, longestGapMs } = result;
  const { lost, duplicates } = faultCounts;
  return (
    `sent ${sent} (again ${sentAgain}), confirmed ${confirmed}, delivered ${delivered} (flagged ${flagged}), ` +
    `lost ${lost}, unflagged duplicates ${duplicates}, longest gap ${longestGapMs} ms`
  );
}
