/** Liveness of a broker that is alone: nobody else can take anything over, and our own earlier boots are dead. */
import type { Replica } from '../map.js';
import type { Deposal, Liveness, LivenessListener, Tenure } from './liveness.js';

export class SoloLiveness implements Liveness {
  private readonly self: Replica;

  constructor(self: Replica) {
    this.self = self;
  }

  learn(): void {}

  mayDepose(node: string, boot: number): boolean {
    return node !== this.self.node || boot < this.self.boot;
  }

  depose(node: string, boot: number): Deposal | null {
    return this.mayDepose(node, boot) ? { end() {} } : null;
  }

  tenure(): Tenure {
    return { holds: () => true, until: Number.POSITIVE_INFINITY, cover() {}, end() {} };
  }

  promisedUntil(): number {
    return Number.NEGATIVE_INFINITY;
  }

  observe(_listener: LivenessListener): { close(): void } {
    return { close() {} };
  }

  close(): void {}
}
