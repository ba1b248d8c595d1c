/**
 * Memory of the brokers during a soak. Two things are asked of it:
 * - no process ever has more resident memory, looked at once a second, than its setting `memory` and the 256 MiB that docs/operations.md
 *   tells to count on;
 * - what the broker that is never ended holds after a collection of all garbage does not grow: in a run of ten minutes or more the
 *   median of the last quarter is at most a tenth and 8 MiB above that of the second (in the first it warms up). Others start anew
 *   too often for that.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { NodeProcess } from '../node-process.js';
import type { HeapLook } from './heap-probe.js';
import type { SoakWorld } from './world.js';

const mebibyte = 1024 * 1024;
const besidesBytes = 256 * mebibyte;
const flatMsMin = 10 * 60_000;
const growthBytesMax = 8 * mebibyte;
const growthMax = 1.1;
const everyMs = 1000;
/** A collection stops the broker for some tens of milliseconds. */
const looksPerQuarter = 5;

export class MemoryWatch {
  /** The most that each had, by its name. */
  private readonly most = new Map<string, number>();
  private readonly timers: NodeJS.Timeout[];
  private readonly world: SoakWorld;
  private readonly forMs: number;

  /** @param forMs for how long the soak goes on */
  constructor(world: SoakWorld, forMs: number) {
    this.world = world;
    this.forMs = forMs;
    this.timers = [setInterval(() => this.sample(), everyMs)];
    if (this.isLong) this.timers.push(setInterval(() => this.look(), forMs / (4 * looksPerQuarter)));
  }

  private get isLong(): boolean {
    return this.forMs >= flatMsMin;
  }

  private sample(): void {
    for (const node of this.world.nodes)
      this.most.set(node.name, Math.max(this.most.get(node.name) ?? 0, residentBytes(node)));
  }

  private look(): void {
    const { pid } = this.world.elder;
    if (pid > 0) process.kill(pid, 'SIGUSR2');
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  /** Most of each, and how the elder went on. */
  describe(): string {
    const { elder } = this.world;
    const most = [...this.most].map(([name, bytes]) => `${name} ${mib(bytes)}`).join(', ');
    const quarters = (of: keyof HeapLook): string =>
      [0, 1, 2, 3].map((quarter) => mib(this.median(of, quarter))).join(', ');
    const looks = this.isLong
      ? `; ${elder.name}, never ended, by quarters of the run: held ${quarters('held')} MiB, resident before collections ${quarters('residentBefore')}, after them ${quarters('residentAfter')} MiB`
      : '';
    return `most memory: ${most} MiB${looks}`;
  }

  /** @param memoryBytes the setting `memory` */
  assertFlat(memoryBytes: number): void {
    for (const [name, most] of this.most)
      assert.ok(most <= memoryBytes + besidesBytes, `${name} had ${mib(most)} MiB of memory`);
    if (!this.isLong) return;
    const [early, late] = [this.median('held', 1), this.median('held', 3)];
    assert.ok(early > 0 && late > 0, 'the broker that is never ended was looked at');
    const grown = `${this.world.elder.name} grew from ${mib(early)} to ${mib(late)} MiB`;
    assert.ok(late <= early * growthMax + growthBytesMax, grown);
  }

  /** 0 if there was no look in that quarter of them. */
  private median(of: keyof HeapLook, quarter: number): number {
    const { looks } = this.world;
    const lines = existsSync(looks) ? readFileSync(looks, 'utf8').trimEnd().split('\n') : [];
    const part = lines
      .slice((lines.length * quarter) / 4, (lines.length * (quarter + 1)) / 4)
      .map((line) => (JSON.parse(line) as HeapLook)[of])
      .sort((a, b) => a - b);
    return part[part.length >> 1] ?? 0;
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / mebibyte);
}

/** 0 if the process does not run. */
function residentBytes(node: NodeProcess): number {
  try {
    return node.rssBytes;
  } catch {
    return 0;
  }
}
