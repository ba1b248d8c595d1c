/**
 * Loaded into a broker ahead of its program (node --expose-gc --import 'heap-probe.js?to=FILE'): at SIGUSR2 it collects all garbage, and
 * appends what is used then as one line of JSON to the file. What is left is what somebody holds; resident memory tells as well how
 * long the collector has taken its time.
 */
import { appendFileSync } from 'node:fs';

/** What one look saw, bytes. */
export interface HeapLook {
  /** Objects, and buffers outside of the heap, after the collection. */
  held: number;
  residentBefore: number;
  residentAfter: number;
}

/** Arguments of Node.js that load this file. @param to where looks are written */
export function heapProbe(to: string): string[] {
  return ['--expose-gc', '--import', `${import.meta.url}?to=${encodeURIComponent(to)}`];
}

function look(to: string): void {
  const residentBefore = process.memoryUsage.rss();
  globalThis.gc!();
  const { heapUsed, external, rss } = process.memoryUsage();
  const seen: HeapLook = { held: heapUsed + external, residentBefore, residentAfter: rss };
  appendFileSync(to, `${JSON.stringify(seen)}\n`);
}

const to = new URL(import.meta.url).searchParams.get('to');
if (to !== null) process.on('SIGUSR2', () => look(to));
