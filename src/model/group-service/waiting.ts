import { Ring } from '../../base/ring.js';
import type { Lsn } from '../../log/lsn.js';

const operationsMax = 65_536;
const bytesMax = 64 * 1024 * 1024;

class WaitingOperation {
  readonly version: Lsn;
  readonly run: () => void;
  /** The encoded enqueue, if it is a publish. */
  readonly record: Uint8Array | undefined;

  constructor(version: Lsn, run: () => void, record: Uint8Array | undefined) {
    this.version = version;
    this.run = run;
    this.record = record;
  }
}

/**
 * Operations of an attachment that came before the wiring they were routed with (rule 15), and all that came after them, in
 * order. Rare and short: a node that knows newer wiring than the primary.
 */
export class WaitingOperations {
  private readonly ring = new Ring<WaitingOperation>();
  private bytes = 0;

  get isEmpty(): boolean {
    return this.ring.length === 0;
  }

  /** Returns false if there are too many: nothing was added. */
  push(version: Lsn, run: () => void, record?: Uint8Array): boolean {
    const bytes = record?.length ?? 0;
    if (this.ring.length >= operationsMax || this.bytes + bytes > bytesMax) return false;
    this.ring.push(new WaitingOperation(version, run, record));
    this.bytes += bytes;
    return true;
  }

  /** Runs, in order, what waited for a wiring version up to `version`. */
  release(version: Lsn): void {
    while (this.releaseOne(version));
  }

  /** Runs the first, if it waited for a wiring version up to `version`. False: there is none. */
  releaseOne(version: Lsn): boolean {
    const next = this.ring.peek();
    if (next === undefined || next.version > version) return false;
    this.ring.shift();
    this.bytes -= next.record?.length ?? 0;
    next.run();
    return true;
  }

  forEachPublish(visit: (record: Uint8Array) => void): void {
    for (let i = 0; i < this.ring.length; i++) {
      const record = this.ring.at(i)!.record;
      if (record !== undefined) visit(record);
    }
  }

  clear(): void {
    this.ring.clear();
    this.bytes = 0;
  }
}
