/** One broker as a real process: `understudy serve` in a session of its own, to be killed, frozen and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithTest, untilKilled } from './children.js';
import { type Host, thisHost } from './hosts.js';
import { within } from './within.js';

const main: string = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const startMsMax = 60_000;
const stopMsMax = 30_000;

export interface NodePorts {
  amqp: number;
  http: number;
  cluster: number;
}

/** How a process is started, other than the node always is. */
export interface NodeLife {
  options?: readonly string[];
  /** A JavaScript file. */
  program?: string;
  /** Arguments of Node.js itself. */
  flags?: readonly string[];
}

export class NodeProcess {
  readonly name: string;
  ports: NodePorts;
  /** Where its log is. */
  readonly log: string;
  isFrozen = false;
  /** When it was thawed, wall clock. */
  readonly thawedAt: number[] = [];
  readonly host: Host;
  private readonly folder: string;
  private readonly options: readonly string[];
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  /** @param folder of the cluster @param options more of `serve`'s */
  constructor(name: string, folder: string, ports: NodePorts, options: readonly string[], host: Host = thisHost) {
    this.name = name;
    this.host = host;
    this.ports = ports;
    this.log = join(folder, `${name}.log`);
    this.folder = folder;
    this.options = options;
    mkdirSync(folder, { recursive: true });
  }

  private get arguments(): string[] {
    const { name, folder, ports, options } = this;
    const at = (port: number): string => `${this.host.address}:${port}`;
    return [
      ...['--node', name, '--data', join(folder, name), '--coordinator', `local:${join(folder, 'coordinator')}`],
      // Its clients come from another machine, as it looks.
      ...(this.host === thisHost ? [] : ['--loopback-users', 'none']),
      ...['--amqp', at(ports.amqp), '--http', at(ports.http), '--cluster', at(ports.cluster)],
      ...options,
    ];
  }

  /** The process's number; 0 if it does not run. */
  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /** HOST:PORT. */
  get amqpAddress(): string {
    return `${this.host.address}:${this.ports.amqp}`;
  }

  get amqpUrl(): string {
    return `amqp://${this.amqpAddress}`;
  }

  /** Lines of its log at the level of errors, in all its lives so far. */
  get loggedErrors(): string[] {
    const lines = readFileSync(this.log, 'utf8').split('\n');
    return lines.filter((line) => line !== '' && (!line.startsWith('{') || /"level":[56]0/.test(line)));
  }

  /** Resident memory of the process. */
  get rssBytes(): number {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))![1]) * 1024;
  }

  get httpUrl(): URL {
    return new URL(`http://${this.host.address}:${this.ports.http}`);
  }

  /**
   * Resolves when it has said "ready"; rejects if it ends before, or takes too long.
   * @param life more options of this life, or another program
   */
  async start(life: NodeLife = {}): Promise<void> {
    if (this.child !== undefined) throw new Error(`${this.name} runs already`);
    const log = openSync(this.log, 'a');
    const { options = [], program: script = main, flags = [] } = life;
    const command = [...this.host.prefix, process.execPath, ...flags, script, 'serve', ...this.arguments, ...options];
    const [program, ...rest] = command;
    const child = spawn(program!, rest, {
      detached: true,
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    this.child = child;
    endWithTest(child);
    this.ended = new Promise((resolve) => {
      child.once('close', () => {
        if (this.child === child) this.child = undefined;
        resolve();
      });
    });
    await this.untilReady(child);
  }

  private untilReady(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`${this.name} is not ready after ${startMsMax} ms: ${this.log}`)),
        startMsMax,
      );
      child.stdout!.on('data', (bytes: Buffer) => {
        if (!bytes.toString().startsWith('ready')) return;
        clearTimeout(late);
        resolve();
      });
      child.once('close', (code, signal) => {
        clearTimeout(late);
        reject(new Error(`${this.name} ended (${signal ?? code}) before it was ready: ${this.log}`));
      });
    });
  }

  /** kill -9, frozen or not; resolves when it is gone. */
  async kill(): Promise<void> {
    this.isFrozen = false;
    const { child } = this;
    if (child === undefined) return;
    child.kill('SIGKILL');
    await untilKilled(child, this.name, this.ended);
  }

  /** SIGTERM; resolves when it is gone. */
  async stop(): Promise<void> {
    this.child?.kill('SIGTERM');
    await within(stopMsMax, `${this.name} ends after SIGTERM, see ${this.log}`, this.ended);
  }

  /** SIGSTOP. */
  freeze(): void {
    this.isFrozen = this.child?.kill('SIGSTOP') === true;
  }

  /** SIGCONT. */
  thaw(): void {
    this.isFrozen = false;
    this.thawedAt.push(Date.now());
    this.child?.kill('SIGCONT');
  }
}
