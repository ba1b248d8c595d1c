import type { Lsn } from '../../log/lsn.js';

/**
 * Queues whose publishers are to wait, of all groups, as their primaries have said. What the last primary of a group has said holds
 * until the next one has told its list.
 */
export class FlowStops {
  /** Told when publishers to the queue may go on. */
  onResumed: (incarnation: Lsn) => void = () => {};
  /** Group by queue. */
  private readonly groups = new Map<Lsn, number>();

  /** Some queue is. */
  isAny = false;

  get size(): number {
    return this.groups.size;
  }

  has(incarnation: Lsn): boolean {
    return this.groups.has(incarnation);
  }

  *of(group: number): Generator<Lsn, void> {
    for (const [incarnation, other] of this.groups) if (other === group) yield incarnation;
  }

  /** As `GroupClientPort.flow` says. */
  told(group: number, incarnations: readonly Lsn[], isStopped: boolean, isWhole: boolean): void {
    const over = isStopped ? [] : [...incarnations];
    if (isWhole) {
      const named = new Set(incarnations);
      for (const incarnation of this.of(group)) if (!named.has(incarnation)) over.push(incarnation);
    }
    if (isStopped) for (const incarnation of incarnations) this.groups.set(incarnation, group);
    this.isAny = this.groups.size > 0;
    this.resume(over);
  }

  /** The group is gone for ever. */
  forget(group: number): void {
    this.resume([...this.of(group)]);
  }

  private resume(incarnations: readonly Lsn[]): void {
    const over = incarnations.filter((incarnation) => this.groups.delete(incarnation));
    this.isAny = this.groups.size > 0;
    for (const incarnation of over) this.onResumed(incarnation);
  }
}
