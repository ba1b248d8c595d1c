import { totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { MemoryMeter } from '../base/memory-meter.js';

type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void> | void;

/**
 * What JavaScript's heap and the buffers outside of it hold. Not resident memory, which stays at what was once needed, free or not: publishers
 * that wait for it to fall would wait for ever.
 */
export class ProcessMemory implements MemoryMeter {
  private gc: Collect | undefined;

  usedBytes(): number {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  }

  collect(): void {
    this.gc ??= exposedCollector();
    void this.gc({ type: 'major', execution: 'async' });
  }
}

function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}

/** Of the machine, or what its container may have of it. */
export function machineMemoryBytes(): number {
  const constrained = process.constrainedMemory() ?? 0;
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
