/** Processes that tests start: none outlives its test, however that ends. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { within } from './within.js';

const killedMsMax = 10_000;

const running: Set<ChildProcess> = new Set();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
// So the runner ends a test that takes too long; without a listener, no exit event would follow.
process.once('SIGTERM', () => process.exit(143));

/** From now until it has ended, the child is killed when this process ends. */
export function endWithTest(child: ChildProcess): void {
  running.add(child);
  child.once('close', () => running.delete(child));
}

/** Resolves when a process is gone that has been killed; rejects if the system does not let it go, with the state that it is in. */
export function untilKilled(child: ChildProcess, what: string, ended: Promise<unknown>): Promise<unknown> {
  return within(killedMsMax, () => `${what} (pid ${child.pid}, ${stateOf(child.pid)}) ends after SIGKILL`, ended);
}

/** As the system has it: `S (sleeping)`, `D (disk sleep)`, `Z (zombie)`, ... */
function stateOf(pid: number | undefined): string {
  try {
    return /^State:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 'state unknown';
  } catch {
    return 'gone';
  }
}
