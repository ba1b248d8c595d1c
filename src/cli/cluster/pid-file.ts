import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodePlan } from './plan.js';

export async function writePid(plan: NodePlan, pid: number): Promise<void> {
  await writeFile(join(plan.folder, 'pid'), `${pid}\n`);
}

export async function removePid(plan: NodePlan): Promise<void> {
  await rm(join(plan.folder, 'pid'), { force: true });
}

/** Somebody has started the node, and nobody has ended it with `--stop`; it may have ended by itself. */
export async function hasPid(plan: NodePlan): Promise<boolean> {
  return access(join(plan.folder, 'pid')).then(
    () => true,
    () => false,
  );
}

/** The process of a node, if it runs; 0 if not. A number that the system has given to another program since is not taken for it. */
export async function runningPid(plan: NodePlan): Promise<number> {
  const pid = Number(await readFile(join(plan.folder, 'pid'), 'utf8').catch(() => ''));
  if (!(Number.isInteger(pid) && pid > 0) || !isAlive(pid)) return 0;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return process.platform === 'linux' ? 0 : pid;
  const isZombie = stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return !isZombie && command.split('\0').includes(plan.folder) ? pid : 0;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
