/** The `local` engine between processes that are killed and frozen at any moment. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from './contract.js';
import { openLocal } from './ports.js';

const script = fileURLToPath(new URL('./local-child.js', import.meta.url));
/** Kills, and freezes: 100 in the long run, fewer in the short one. */
const rounds = process.env['UNDERSTUDY_LONG_TESTS'] ? 100 : 15;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs `body` with a folder and the processes that it starts in it. */
async function withCounters(body: (folder: string, start: (key: string) => Counter) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'understudy-local-'));
  const counters: Counter[] = [];
  const start = (key: string): Counter => {
    const counter = new Counter(folder, key);
    counters.push(counter);
    return counter;
  };
  try {
    await body(folder, start);
  } finally {
    await Promise.all(counters.map((counter) => counter.kill()));
    await rm(folder, { recursive: true });
  }
}

/** A process that counts. */
class Counter {
  readonly key: string;
  /** Its count as it last said. */
  count = 0;
  /** Of all its swaps, ms. */
  readonly latencies: number[] = [];
  private readonly process: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(folder: string, key: string) {
    this.key = key;
    this.process = spawn(process.execPath, [script, folder, key], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.closed = once(this.process, 'close');
    createInterface({ input: this.process.stdout! }).on('line', (line) => {
      const [count, latency] = line.split(' ').map(Number) as [number, number];
      this.count = count;
      this.latencies.push(latency);
    });
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** What it said before it died has been read when this resolves. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.closed;
  }
}

test(`${rounds} processes killed at random moments: no swap lost, none made by half, the others go on`, (context) =>
  withCounters(async (folder, start) => {
    const counters: Counter[] = [];
    const next = (): number => counters.push(start(`own/${counters.length}`));
    for (let i = 0; i < 4; i++) next();
    for (let round = 0; round < rounds; round++) {
      const victim = counters[round]!;
      await eventually(`${victim.key} counts`, () => victim.count > 0, 20_000);
      await sleep(Math.random() * 10);
      next();
      await victim.kill();
    }
    await Promise.all(counters.map((counter) => counter.kill()));
    const observer = await openLocal(folder);
    let sum = 0;
    for (const { key, value } of await observer.read('own/')) {
      const said = counters.find((counter) => counter.key === key)!.count;
      const count = Number(value);
      assert.ok(count === said || count === said + 1, `${key} said ${said}, has ${count}`);
      sum += count;
    }
    assert.equal((await observer.read('sum'))[0]!.value, String(sum));
    context.diagnostic(`${sum} swaps`);
    await observer.close();
  }));

test(`processes frozen ${rounds} times at random moments: the others go on meanwhile`, (context) =>
  withCounters(async (folder, start) => {
    const counters = [0, 1, 2].map((i) => start(`own/${i}`));
    for (const counter of counters) await eventually(`${counter.key} counts`, () => counter.count > 0, 20_000);
    let slowest = 0;
    for (let round = 0; round < rounds; round++) {
      const victim = counters[round % 3]!;
      const others = counters.filter((counter) => counter !== victim);
      await sleep(Math.random() * 20);
      victim.signal('SIGSTOP');
      await sleep(10); // what it had said is read
      const before = others.map((counter) => counter.count);
      const began = performance.now();
      await eventually(
        'both others count on',
        () => others.every((counter, i) => counter.count > before[i]! + 1),
        5000,
      );
      slowest = Math.max(slowest, performance.now() - began);
      victim.signal('SIGCONT');
    }
    await Promise.all(counters.map((counter) => counter.kill()));
    const observer = await openLocal(folder);
    const total = (await observer.read('own/')).reduce((sum, { value }) => sum + Number(value), 0);
    assert.equal((await observer.read('sum'))[0]!.value, String(total));
    await observer.close();
    const latencies = counters.flatMap((counter) => counter.latencies).sort((a, b) => a - b);
    const at = (share: number): string => latencies[Math.floor(latencies.length * share)]!.toFixed(2);
    context.diagnostic(`two swaps of each other process took at most ${slowest.toFixed(0)} ms beside a frozen one`);
    context.diagnostic(`${total} swaps by 3 processes: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (freezes included)`);
  }));
