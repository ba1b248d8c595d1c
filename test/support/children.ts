/** Processes that tests start: none outlives its test, however that ends. */
import type { ChildProcess } from 'node:child_process';

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
