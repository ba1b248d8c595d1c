/** One broker as a real process, `understudy serve`, in a temporary folder, with an eye on its memory and its log. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithTest, untilKilled } from './children.js';
import { freePorts } from './free-ports.js';

const main: string = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const startMsMax = 60_000;
const firstPort = 28_000;

export interface LoneBrokerOptions {
  /** More of `serve`'s options. */
  options?: readonly string[];
  /** Files that it may have open (ulimit -n). */
  openFiles?: number;
  /** It is the one node of a cluster, with a port for others. */
  isNode?: boolean;
  /** Default: a folder in its temporary one. */
  data?: string;
}

export class LoneBroker implements AsyncDisposable {
  /** Temporary; removed at the end. */
  readonly folder: string;
  readonly data: string;
  readonly port: number;
  readonly httpPort: number;
  readonly clusterPort: number;
  private readonly settings: LoneBrokerOptions;
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  private constructor(port: number, settings: LoneBrokerOptions) {
    this.settings = settings;
    this.folder = mkdtempSync(join(tmpdir(), 'understudy-hostile-'));
    this.data = settings.data ?? join(this.folder, 'data');
    this.port = port;
    this.httpPort = port + 1;
    this.clusterPort = port + 2;
  }

  /** Resolves when it serves. */
  static async start(settings: LoneBrokerOptions = {}): Promise<LoneBroker> {
    const broker = new LoneBroker((await freePorts(firstPort, 3))[0]!, settings);
    try {
      await broker.start();
    } catch (error) {
      await broker[Symbol.asyncDispose]();
      throw error;
    }
    return broker;
  }

  /** Starts it (again), with the same data. */
  async start(): Promise<void> {
    const { options = [], openFiles, isNode = false } = this.settings;
    const at = (port: number): string => `127.0.0.1:${port}`;
    const command = [process.execPath, main, 'serve', '--data', this.data, '--log-level', 'warn'];
    command.push('--amqp', at(this.port), '--http', at(this.httpPort), '--cluster', at(this.clusterPort), ...options);
    if (isNode) command.push('--coordinator', `local:${join(this.folder, 'coordinator')}`, '--replicas', '1');
    const limited =
      openFiles === undefined ? command : ['bash', '-c', `ulimit -n ${openFiles}; exec "$@"`, '-', ...command];
    const log = openSync(this.logFile, 'a');
    const child = spawn(limited[0]!, limited.slice(1), { stdio: ['ignore', 'pipe', log] });
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
      const late = setTimeout(() => reject(new Error(`not ready after ${startMsMax} ms: ${this.log}`)), startMsMax);
      child.stdout!.on('data', (bytes: Buffer) => {
        clearTimeout(late);
        if (bytes.toString().startsWith('ready')) resolve();
      });
      child.once('close', (code, signal) => {
        clearTimeout(late);
        reject(new Error(`it ended (${signal ?? code}) before it was ready: ${this.log}`));
      });
    });
  }

  get url(): string {
    return `amqp://127.0.0.1:${this.port}`;
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  private get logFile(): string {
    return join(this.folder, 'log');
  }

  /** All that it has logged: warnings and errors, one JSON object a line. */
  get log(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  /** Messages of its log at the level of errors: faults of the broker, never of a client. */
  get loggedErrors(): string[] {
    const entries = this.log.split('\n').filter((line) => line !== '');
    return entries.filter((line) => !line.startsWith('{') || (JSON.parse(line) as { level: number }).level >= 50);
  }

  /** Resident memory of the process. */
  get rssBytes(): number {
    const status = readFileSync(`/proc/${this.child!.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
  }

  /** SIGSTOP, SIGCONT; SIGHUP: certificates were replaced. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGHUP'): void {
    this.child!.kill(signal);
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    child.kill('SIGKILL');
    await untilKilled(child, 'the broker', this.ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
