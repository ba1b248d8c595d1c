import type { GroupClientContext } from './group-client-context.js';

/** Whether what this node passes on of queues that move into a group may have been passed on by another node meanwhile. */
export class PassedOn {
  private readonly context: Pick<GroupClientContext, 'clock' | 'leaseMs'>;
  private hasBegun = false;
  /** When a publish was confirmed, or began to wait for that when nothing else did. */
  private progressAt = 0;

  constructor(context: Pick<GroupClientContext, 'clock' | 'leaseMs'>) {
    this.context = context;
  }

  /** A message is passed on; @param outstanding publishes that wait to be confirmed */
  began(outstanding: number): void {
    this.hasBegun = true;
    if (outstanding === 0) this.progressAt = this.context.clock.now();
  }

  confirmed(): void {
    if (this.hasBegun) this.progressAt = this.context.clock.now();
  }

  /**
   * For so long nothing was confirmed that this node may have lost its lease meanwhile: what it was passing on was given back then, and
   * another node passes it on.
   */
  get mayBeTwice(): boolean {
    return this.hasBegun && this.context.clock.now() >= this.progressAt + 0.75 * this.context.leaseMs;
  }
}
