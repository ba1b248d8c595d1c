/** What brokers say while a soak goes on: every line at level error must be of a kind that is known here, with its reason. */
import { readFileSync } from 'node:fs';
import type { NodeProcess } from '../node-process.js';

const warnLevel = 40;

/** Lines at level error, and what a node says that does not start, as the faults of a soak explain them. A full disk is a warning: it is waited for. */
const known: readonly { message: RegExp; why: string }[] = [
  {
    message: /^understudy: the cluster has forgotten node \w+ with this data folder/,
    why: 'it was started with the data that it had when it was forgotten',
  },
];

interface Line {
  level: number;
  msg: string;
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
    for (const text of loggedErrors) {
      const message = text.startsWith('{') ? (JSON.parse(text) as Line).msg : text;
      if (!known.some((kind) => kind.message.test(message))) unexplained.push(`${name}: ${text}`);
    }
    for (const text of readFileSync(log, 'utf8').split('\n')) {
      if (!text.startsWith('{')) continue;
      const { level, msg } = JSON.parse(text) as Line;
      if (level >= warnLevel) counts.set(msg, (counts.get(msg) ?? 0) + 1);
    }
  }
  return { unexplained, counts };
}
