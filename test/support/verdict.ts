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
  const counts = { ...faultCounts, duplicates: faultCounts.duplicates - latePackets(result, cluster) };
  assert.deepEqual(counts, { lost: 0, duplicates: 0, disorder: 0, unroutable: 0, misplaced: 0 }, where);
  assert.deepEqual({ foreign, missing, confirmed }, { foreign: 0, missing: 0, confirmed: sent }, where);
}

/** A packet that was to be written when its node was frozen arrives so soon after the node thaws. */
const latePacketMs = 250;

/**
 * A node looks at its lease right before each write to a client. If it is frozen between the two, some microseconds, that
 * write, and no other, happens when it thaws: like a packet that was late. Nothing can close that gap. So one consumer of a
 * node may get such deliveries each time it thaws, and at once. Returns how many duplicates are of that kind.
 */
export function latePackets(result: NumberedResult, cluster: ClusterProcesses): number {
  const allowed = new Map<number, number>();
  return result.faults.duplicates.filter(({ at, consumer, node }) => {
    const thawedAt = cluster.nodes[node!]!.thawedAt.findLast((time) => time <= at);
    if (thawedAt === undefined || at - thawedAt > latePacketMs) return false;
    if (!allowed.has(thawedAt)) allowed.set(thawedAt, consumer!);
    return allowed.get(thawedAt) === consumer;
  }).length;
}

/** One line of figures. */
export function figures(result: NumberedResult): string {
  const { sent, sentAgain, confirmed, delivered, flagged, crossed, faultCounts, longestGapMs } = result;
  const { lost, duplicates } = faultCounts;
  return (
    `sent ${sent} (again ${sentAgain}), confirmed ${confirmed}, delivered ${delivered} (flagged ${flagged}, crossed ${crossed}), ` +
    `lost ${lost}, unflagged duplicates ${duplicates}, longest gap ${longestGapMs} ms`
  );
}
