import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts as portsFrom } from '../../support/free-ports.js';
import { within } from '../../support/within.js';

const main: string = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));

const firstPort = 20_000;
const endMsMax = 60_000;
const stopMsMax = 20_000;

/** The words of a command, for who runs it in another way. */
export function commandLine(args: readonly string[]): string[] {
  return [process.execPath, main, ...args];
}

/** A run of the command line. */
export class Run {
  stdout = '';
  stderr = '';
  /** Resolves to the exit code; -1 if it was killed. */
  readonly exited: Promise<number>;
  private readonly child: ChildProcess;
  private hasExited = false;
  private changed: () => void = () => {};

  /**
   * @param shell what bash runs before it becomes the command: limits of the process, for example.
   * @param input what it reads.
   */
  constructor(args: readonly string[], shell: string = '', input?: string) {
    const command = commandLine(args);
    const [file, ...rest] = shell === '' ? command : ['bash', '-c', `${shell}; exec "$@"`, 'bash', ...command];
    this.child = spawn(file!, rest, { stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
    this.child.stdin?.end(input);
    this.child.stdout!.on('data', (bytes: Buffer) => {
      this.stdout += bytes.toString();
      this.changed();
    });
    this.child.stderr!.on('data', (bytes: Buffer) => {
      this.stderr += bytes.toString();
    });
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code) => {
        this.hasExited = true;
        this.changed();
        resolve(code ?? -1);
      });
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits until standard output matches. Throws if the command ends before. */
  async said(pattern: RegExp, timeoutMs = 30_000): Promise<RegExpExecArray> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match !== null) return match;
      const rest = deadline - performance.now();
      if (this.hasExited || rest <= 0)
        throw new Error(`${pattern} was never said; stdout: ${this.stdout}; stderr: ${this.stderr}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, rest);
        this.changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasExited) this.kill('SIGTERM');
    const timer = setTimeout(() => this.kill('SIGKILL'), stopMsMax);
    await within(2 * stopMsMax, () => `pid ${this.pid} ends`, this.exited).finally(() => clearTimeout(timer));
  }
}

/** Runs a command to its end; rejects if that takes more than a minute. */
export async function finished(
  args: readonly string[],
  input?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  await using run = new Run(args, '', input);
  const code = await within(
    endMsMax,
    () => `${args.join(' ')} ends, which said: ${run.stdout}${run.stderr}`,
    run.exited,
  );
  return { code, stdout: run.stdout, stderr: run.stderr };
}

/** A folder that is removed at the end. */
export class TemporaryFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(tmpdir(), 'understudy-test-')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The first of `count` ports in a row that nobody listens on just now. */
export async function freePorts(count: number): Promise<number> {
  return (await portsFrom(firstPort, count))[0]!;
}
