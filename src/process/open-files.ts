import { readFileSync } from 'node:fs';

/**
 * Files and sockets that this process may have open at once: Node raises the soft limit to the hard one when it starts.
 * Infinity where the system does not tell (it has no /proc).
 */
export function openFilesMax(): number {
  try {
    return parseOpenFiles(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The soft limit in the text of /proc/PID/limits. */
export function parseOpenFiles(limits: string): number {
  const written = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return written === undefined ? Number.POSITIVE_INFINITY : Number(written);
}
