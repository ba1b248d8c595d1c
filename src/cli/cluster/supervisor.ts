/** The processes of a cluster, as its starter sees them: started together, watched, and stopped together. */
import { CommandError } from '../fail.js';
import { NodeProcess } from './node-process.js';
import { hasPid, removePid, runningPid } from './pid-file.js';
import type { NodePlan } from './plan.js';

/** Between the end of a node and its restart; doubled up to the maximum while it ends at once. */
const restartMs = 500;
const restartMsMax = 10_000;
/** A node that does not stop in this time is killed. */
const stopMsMax = 15_000;
const pollMs = 50;
/** Nodes that others have brought back, and `--stop` ends, are no children of this process: it looks after them now and then. */
const lookMs = 500;
const stoppedCleanly = 'exit 0';

export interface SupervisorOptions {
  plans: readonly NodePlan[];
  restart: boolean;
  /** Told what happens to a node. */
  report(node: string, what: string): void;
  /** All nodes were stopped by somebody else: there is nothing left to watch. */
  stopped(): void;
}

/** Throws CommandError if one of the nodes runs. */
export async function refuseRunning(plans: readonly NodePlan[]): Promise<void> {
  for (const plan of plans) {
    const pid = await runningPid(plan);
    if (pid > 0)
      throw new CommandError(`${plan.name} is running already (pid ${pid}): stop it with "understudy cluster --stop"`);
  }
}

export class Supervisor {
  private readonly options: SupervisorOptions;
  private readonly processes: Map<string, NodeProcess> = new Map();
  private stopping = false;
  private look: NodeJS.Timeout | undefined;

  constructor(options: SupervisorOptions) {
    this.options = options;
  }

  /** Starts all nodes; resolves when all serve. If one cannot, the others are stopped and it rejects with the reason. */
  async start(): Promise<void> {
    const { plans } = this.options;
    try {
      // Whoever founds the cluster leads the group of its wiring: no follower.
      for (const leads of [true, false])
        await Promise.all(plans.filter((plan) => plan.leads === leads).map((plan) => this.startNode(plan)));
    } catch (error) {
      await this.stop();
      throw error;
    }
    for (const process of this.processes.values()) this.watch(process, restartMs);
    this.look = setInterval(() => void this.endIfStopped(), lookMs);
  }

  /** Stops all nodes, whoever started them. */
  async stop(): Promise<void> {
    this.end();
    await stopNodes(this.options.plans);
  }

  private async startNode(plan: NodePlan): Promise<NodeProcess> {
    const process = await NodeProcess.start(plan);
    this.processes.set(plan.name, process);
    await process.ready;
    return process;
  }

  private watch(process: NodeProcess, pauseMs: number): void {
    const { plan } = process;
    void process.exited.then(async (how) => {
      if (this.stopping) return;
      this.options.report(plan.name, `has ended (${how})`);
      // It was told to: a node that ends by itself has another exit code.
      if (how === stoppedCleanly) return this.endIfAllAreStopped();
      if (!this.options.restart) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await this.restart(plan, pauseMs);
    });
  }

  /** `--stop` ends all nodes, those too that others have started, not quite at the same time. */
  private async endIfAllAreStopped(): Promise<void> {
    const deadline = performance.now() + stopMsMax;
    while (!this.stopping && performance.now() < deadline) {
      const pids = await Promise.all(this.options.plans.map(runningPid));
      if (pids.every((pid) => pid === 0)) return this.endedElsewhere();
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  /** `--stop` takes what names the nodes' processes away; nodes that end otherwise leave it. */
  private async endIfStopped(): Promise<void> {
    const known = await Promise.all(this.options.plans.map(hasPid));
    if (!known.includes(true)) this.endedElsewhere();
  }

  private endedElsewhere(): void {
    if (this.stopping) return;
    this.end();
    this.options.stopped();
  }

  private end(): void {
    this.stopping = true;
    clearInterval(this.look);
  }

  private async restart(plan: NodePlan, pauseMs: number): Promise<void> {
    if (this.stopping) return;
    try {
      this.watch(await this.startNode(plan), restartMs);
      this.options.report(plan.name, 'was started again');
    } catch (error) {
      if (this.stopping) return;
      this.options.report(plan.name, (error as Error).message);
      const longer = Math.min(pauseMs * 2, restartMsMax);
      await new Promise((resolve) => setTimeout(resolve, longer));
      await this.restart(plan, longer);
    }
  }
}

/** Ends every node that runs: SIGTERM, and SIGKILL for those that do not go. Resolves to the number of nodes ended. */
export async function stopNodes(plans: readonly NodePlan[]): Promise<number> {
  const stopped = await Promise.all(plans.map(stopNode));
  return stopped.filter(Boolean).length;
}

async function stopNode(plan: NodePlan): Promise<boolean> {
  const pid = await runningPid(plan);
  if (pid > 0) {
    signal(pid, 'SIGTERM');
    // A node that was frozen takes no signal but this and SIGKILL.
    signal(pid, 'SIGCONT');
    const deadline = performance.now() + stopMsMax;
    while ((await runningPid(plan)) === pid) {
      if (performance.now() > deadline) signal(pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }
  await removePid(plan);
  return pid > 0;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}
