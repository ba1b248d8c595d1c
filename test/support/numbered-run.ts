/** `examples/numbered.mjs` as a process, and what it says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program: string = fileURLToPath(new URL('../../../examples/numbered.mjs', import.meta.url));

/** What it prints at the end. */
export interface NumberedResult {
  sent: number;
  sentAgain: number;
  confirmed: number;
  delivered: number;
  flagged: number;
  /** Came unflagged after others had it flagged, as the last word of a connection that ended. */
  crossed: number;
  /** Messages that were not of this run. */
  foreign: number;
  /** Confirmed and not received so far. */
  missing: number;
  longestGapMs: number;
  faultCounts: Record<'lost' | 'duplicates' | 'disorder' | 'unroutable' | 'misplaced', number>;
  /** The first of each kind. */
  faults: Record<keyof NumberedResult['faultCounts'], NumberedFault[]>;
}

export interface NumberedFault {
  what: string;
  /** Wall clock. */
  at: number;
  /** Of a delivery: whose, and over which node. */
  consumer?: number;
  node?: number;
}

interface Gap {
  gap: number;
  publisher: number;
  /** Its end, wall clock. */
  at: number;
}

type Said = Partial<Gap> & { progress?: { confirmed: number }; result?: NumberedResult };

export class NumberedRun {
  /** Confirmed so far, as last told. */
  confirmed = 0;
  result: NumberedResult | undefined;
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;
  private readonly gaps: Gap[] = [];
  private errors = '';

  /** @param options of the program, after its phase: `['publish', '--consumers', '0', …]` */
  constructor(urls: readonly string[], options: readonly string[]) {
    this.child = spawn(process.execPath, [program, ...options, '--json', '--urls', urls.join(',')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.closed = once(this.child, 'close');
    this.child.stderr!.on('data', (bytes: Buffer) => {
      this.errors = (this.errors + bytes.toString()).slice(-2000);
    });
    createInterface({ input: this.child.stdout! }).on('line', (line) => this.said(JSON.parse(line) as Said));
    process.once('exit', () => this.child.kill('SIGKILL'));
  }

  private said(line: Said): void {
    if (line.progress !== undefined) this.confirmed = line.progress.confirmed;
    if (line.gap !== undefined) this.gaps.push(line as Gap);
    if (line.result !== undefined) this.result = line.result;
  }

  /** Waits until it has `count` more confirms than now. */
  async more(count: number, timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const wanted = this.confirmed + count;
    while (this.confirmed < wanted) {
      if (this.child.exitCode !== null) throw new Error(`it has ended: ${this.errors}`);
      if (performance.now() > deadline)
        throw new Error(`${this.confirmed} confirms after ${timeoutMs} ms, ${wanted} expected`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The longest time, in milliseconds, in which a publisher got no confirm; of gaps that ended since `from`, wall clock. */
  longestGap(from: number): number {
    return this.gaps.reduce((longest, { gap, at }) => (at >= from ? Math.max(longest, gap) : longest), 0);
  }

  /** No new messages; resolves to the result when it has ended. Rejects if it could not do its work. */
  finish(): Promise<NumberedResult> {
    this.child.kill('SIGINT');
    return this.end();
  }

  /** Resolves to the result when it ends by itself. */
  async end(): Promise<NumberedResult> {
    await this.closed;
    if (this.result === undefined)
      throw new Error(`it could not do its work (exit code ${this.child.exitCode}): ${this.errors}`);
    return this.result;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
