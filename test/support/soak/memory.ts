/**
 * Memory of the brokers during a soak, sampled once a second. Two things are asked of it:
 * - no process ever has more than its setting `memory` and the 200 MiB that docs/operations.md tells to count on;
 * - the broker that is never ended does not grow: the median of the last quarter of a run of ten minutes or more is at most a tenth and
 *   16 MiB above that of its second quarter (in the first it warms up). Others start anew too often for that.
 */
import assert from 'node:assert/strict';
import type { NodeProcess } from '../node-process.js';

const mebibyte = 1024 * 1024;
const besidesBytes = 200 * mebibyte;
const flatMsMin = 10 * 60_000;
const growthBytesMax = 16 * mebibyte;
const growthMax = 1.1;
const everyMs = 1000;

interface Sample {
  node: string;
  bytes: number;
}

export class MemoryWatch {
  private readonly samples: Sample[] = [];
  private readonly startedAt: number = performance.now();
  private readonly timer: NodeJS.Timeout;
  private readonly nodes: readonly NodeProcess[];

  constructor(nodes: readonly NodeProcess[]) {
    this.nodes = nodes;
    this.timer = setInterval(() => this.sample(), everyMs);
  }

  private sample(): void {
    for (const node of this.nodes) {
      const bytes = residentBytes(node);
      if (bytes !== undefined) this.samples.push({ node: node.name, bytes });
    }
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Most of each, and how the elder went on. */
  describe(elder: NodeProcess): string {
    const most = this.nodes.map(({ name }) => `${name} ${mib(this.most(name))}`).join(', ');
    const quarters = [0, 1, 2, 3].map((quarter) => mib(this.medianOf(elder.name, quarter)));
    return `most memory: ${most} MiB; ${elder.name}, never ended, by quarters of the run: ${quarters.join(', ')} MiB`;
  }

  /** @param memoryBytes the setting `memory` */
  assertFlat(elder: NodeProcess, memoryBytes: number): void {
    for (const { name } of this.nodes) {
      const most = this.most(name);
      assert.ok(most <= memoryBytes + besidesBytes, `${name} had ${mib(most)} MiB of memory`);
    }
    if (performance.now() - this.startedAt < flatMsMin) return;
    const [early, late] = [this.medianOf(elder.name, 1), this.medianOf(elder.name, 3)];
    const grown = `${elder.name} grew from ${mib(early)} to ${mib(late)} MiB`;
    assert.ok(late <= early * growthMax + growthBytesMax, grown);
  }

  private most(node: string): number {
    return this.of(node).reduce((most, bytes) => Math.max(most, bytes), 0);
  }

  private medianOf(node: string, quarter: number): number {
    const all = this.of(node);
    const part = all.slice((all.length * quarter) / 4, (all.length * (quarter + 1)) / 4).sort((a, b) => a - b);
    return part[part.length >> 1] ?? 0;
  }

  private of(node: string): number[] {
    return this.samples.filter((sample) => sample.node === node).map(({ bytes }) => bytes);
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / mebibyte);
}

/** Undefined if the process does not run. */
function residentBytes(node: NodeProcess): number | undefined {
  try {
    return node.rssBytes;
  } catch {
    return undefined;
  }
}
