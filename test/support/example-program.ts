/** A program of examples/ as a process, and what it says, line by line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endWithTest, untilKilled } from './children.js';
import { within } from './within.js';

/** Where tools/test/python.mjs puts it. */
const python: string = resolve('node_modules/.cache/understudy/python/python3');
const examples: string = fileURLToPath(new URL('../../../examples', import.meta.url));
const endMsMax = 30_000;

export interface Line {
  text: string;
  /** performance.now() when it came. */
  at: number;
}

/** Where programs connect, in the order in which they try. */
export type Urls = readonly string[];

export class ExampleProgram {
  readonly lines: Line[] = [];
  /** Of the standard error. */
  readonly complaints: Line[] = [];
  private readonly what: string;
  private readonly child: ChildProcess;
  /** Resolves to the exit code; -1 if it was killed. */
  readonly ended: Promise<number>;
  private hasEnded = false;
  private changed: () => void = () => {};

  private constructor(what: string, child: ChildProcess) {
    this.what = what;
    this.child = child;
    endWithTest(child);
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => {
        this.hasEnded = true;
        this.changed();
        resolve(code ?? -1);
      });
    });
    for (const [stream, lines] of [
      [child.stdout!, this.lines],
      [child.stderr!, this.complaints],
    ] as const)
      createInterface({ input: stream }).on('line', (text) => {
        lines.push({ text, at: performance.now() });
        this.changed();
      });
  }

  /** `node examples/amqplib/NAME.mjs` */
  static amqplib(name: string, urls: Urls, args: readonly string[] = []): ExampleProgram {
    return ExampleProgram.run(process.execPath, 'amqplib', [`${name}.mjs`, ...args], urls);
  }

  /** `node examples/rhea/NAME.mjs` */
  static rhea(name: string, urls: Urls, args: readonly string[] = []): ExampleProgram {
    return ExampleProgram.run(process.execPath, 'rhea', [`${name}.mjs`, ...args], urls);
  }

  /** `python3 examples/pika/NAME.py` */
  static pika(name: string, urls: Urls, args: readonly string[] = []): ExampleProgram {
    return ExampleProgram.run(python, 'pika', [`${name}.py`, ...args], urls);
  }

  /** `python3 examples/celery/NAME.py` */
  static python(name: string, urls: Urls, args: readonly string[] = []): ExampleProgram {
    return ExampleProgram.run(python, 'celery', [`${name}.py`, ...args], urls);
  }

  /** `celery --app shop ...` */
  static celery(urls: Urls, args: readonly string[]): ExampleProgram {
    return ExampleProgram.run(python, 'celery', ['-m', 'celery', '--app', 'shop', ...args], urls);
  }

  /** A program of test/clients, run by what tools/test/clients.mjs made. */
  static client(
    interpreter: string,
    file: string,
    urls: Urls,
    args: readonly string[],
    script = 'run',
  ): ExampleProgram {
    const program = resolve('node_modules/.cache/understudy', interpreter, script);
    return ExampleProgram.run(program, '../test/clients', [file, ...args], urls);
  }

  private static run(program: string, folder: string, args: readonly string[], urls: Urls): ExampleProgram {
    if (!existsSync(program)) throw new Error(`there is no ${program}: run node tools/test/python.mjs, or clients.mjs`);
    const child = spawn(program, args, {
      cwd: join(examples, folder),
      env: { ...process.env, AMQP_URLS: urls.join(','), PYTHONDONTWRITEBYTECODE: '1', PYTHONWARNINGS: 'ignore' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new ExampleProgram(`${folder}/${args.join(' ')}`, child);
  }

  /** What matched in its lines. */
  matches(pattern: RegExp): RegExpExecArray[] {
    return this.lines.map(({ text }) => pattern.exec(text)).filter((match) => match !== null);
  }

  /** Waits until `holds`, which is asked whenever the program has said something; rejects when it ends before. */
  async until(what: string, holds: (program: this) => boolean, timeoutMs = 40_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!holds(this)) {
      const rest = deadline - performance.now();
      if (this.hasEnded || rest <= 0) throw new Error(`${this.what}: ${what}? It said ${this.tail()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, rest);
        this.changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Waits for a line that came since `from`. */
  async said(text: string, from: number = 0, timeoutMs?: number): Promise<void> {
    await this.until(
      `"${text}"`,
      ({ lines }) => lines.some((line) => line.at >= from && line.text === text),
      timeoutMs,
    );
  }

  /** Resolves when the program has done its work; rejects if it fails. */
  async done(timeoutMs = 60_000): Promise<void> {
    const code = await within(timeoutMs, () => `${this.what} ends, which said ${this.tail()}`, this.ended);
    if (code !== 0) throw new Error(`${this.what}: exit code ${code}: ${this.tail()}`);
  }

  private tail(): string {
    const last = [...this.lines.slice(-8), ...this.complaints.slice(-12)];
    return last.map(({ text }) => text).join('\n') || 'nothing';
  }

  /** kill -9 */
  async kill(): Promise<void> {
    if (this.hasEnded) return;
    this.child.kill('SIGKILL');
    await untilKilled(this.child, this.what, this.ended);
  }

  /** Ctrl-C, as a user ends it; resolves to the exit code. */
  async interrupt(signal: NodeJS.Signals = 'SIGINT'): Promise<number> {
    this.child.kill(signal);
    return await within(endMsMax, () => `${this.what} ends, which said ${this.tail()}`, this.ended);
  }
}
