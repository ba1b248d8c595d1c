import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../fail.js';
import { runningPid, writePid } from './pid-file.js';
import type { NodePlan } from './plan.js';

const main: string = fileURLToPath(new URL('../main.js', import.meta.url));
/** A log that is larger when its node starts becomes `log.1`. */
const logBytesMax = 16 * 1024 * 1024;
const tailBytes = 4096;

/** One `understudy serve` in a process session of its own: what ends us does not end it. */
export class NodeProcess {
  readonly plan: NodePlan;
  readonly pid: number;
  /** Resolves when it serves; rejects with the reason if it ends before. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended, to how: `exit 1`, `SIGKILL`. */
  readonly exited: Promise<string>;
  hasExited = false;
  private readonly child: ChildProcess;

  private constructor(plan: NodePlan, child: ChildProcess) {
    this.plan = plan;
    this.child = child;
    this.pid = child.pid!;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.hasExited = true;
        resolve(signal ?? `exit ${code}`);
      });
    });
    this.ready = this.untilReady();
    this.ready.catch(() => {});
  }

  /** Starts the node. Throws CommandError if it runs already or cannot be started. */
  static async start(plan: NodePlan): Promise<NodeProcess> {
    await mkdir(plan.folder, { recursive: true });
    const running = await runningPid(plan);
    if (running > 0) throw new CommandError(`${plan.name} is running already (pid ${running})`);
    const log = await openLog(plan);
    try {
      const child = spawn(process.execPath, [main, 'serve', ...plan.arguments], {
        detached: true,
        stdio: ['ignore', 'pipe', log.fd],
      });
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', (error) => reject(new CommandError(`${plan.name} cannot be started: ${error.message}`)));
      });
      await writePid(plan, child.pid!);
      return new NodeProcess(plan, child);
    } finally {
      await log.close();
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Lets us end while the node goes on. */
  release(): void {
    this.child.stdout?.destroy();
    this.child.unref();
  }

  private untilReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      let said = '';
      this.child.stdout!.on('data', (bytes: Buffer) => {
        said = (said + bytes.toString()).slice(-tailBytes);
        if (/^ready/m.test(said)) resolve();
      });
      void this.exited.then(async (how) => {
        reject(new CommandError(`${this.plan.name} did not start (${how}): ${await lastWords(this.plan)}`));
      });
    });
  }
}

async function openLog(plan: NodePlan): Promise<Awaited<ReturnType<typeof open>>> {
  const path = join(plan.folder, 'log');
  const size = await stat(path).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > logBytesMax) await rename(path, `${path}.1`);
  return open(path, 'a');
}

/** The last line of a node's log: what it ended with. */
async function lastWords(plan: NodePlan): Promise<string> {
  const path = join(plan.folder, 'log');
  const log = await open(path, 'r').catch(() => undefined);
  if (log === undefined) return `see ${path}`;
  try {
    const { size } = await log.stat();
    const { buffer, bytesRead } = await log.read(Buffer.alloc(tailBytes), 0, tailBytes, Math.max(0, size - tailBytes));
    const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n');
    return lines.at(-1)!.replace(/^understudy: /, '') || `see ${path}`;
  } finally {
    await log.close();
  }
}
