/** What brokers say while a soak goes on: every line at level error must be of a kind that is known here, with its reason. */
import { readFileSync } from 'node:fs';
import type { NodeProcess } from '../node-process.js';

const warnLevel = 40;

interface Known {
  message: RegExp;
  /** Of the line's field `error`. */
  error?: RegExp;
  why: string;
}

/** Lines at level error that the faults of a soak explain. */
const known: readonly Known[] = [
  {
    message: /^a segment cannot be compacted; it stays$/,
    error: /ENOSPC|disk/,
    why: 'the disk was full; it is tried again',
  },
];

interface Line {
  level: number;
  msg: string;
  error?: string;
}

export interface LogSummary {
  /** Lines at level error that nothing explains, and those that are no log lines. */
  unexplained: string[];
  /** How often what was said, at levels warn and error. */
  counts: ReadonlyMap<string, number>;
}

export function readLogs(nodes: readonly NodeProcess[]): LogSummary {
  const unexplained: string[] = [];
  const counts = new Map<string, number>();
  for (const { name, log, loggedErrors } of nodes) {
    for (const text of loggedErrors)
      if (!text.startsWith('{') || !isKnown(JSON.parse(text) as Line)) unexplained.push(`${name}: ${text}`);
    for (const text of readFileSync(log, 'utf8').split('\n')) {
      if (!text.startsWith('{')) continue;
      const { level, msg } = JSON.parse(text) as Line;
      if (level >= warnLevel) counts.set(msg, (counts.get(msg) ?? 0) + 1);
    }
  }
  return { unexplained, counts };
}

function isKnown({ msg, error = '' }: Line): boolean {
  return known.some((kind) => kind.message.test(msg) && (kind.error ?? /^/).test(error));
}
