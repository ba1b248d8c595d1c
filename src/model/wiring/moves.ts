import type { Lsn } from '../../log/lsn.js';
import { type MoveObject, MoveStage, type QueueObject } from './objects.js';

/** A queue on its way to another group. */
export interface QueueMove {
  /** Has its messages still, and no name. */
  readonly source: QueueObject;
  /** Has its name already. */
  readonly target: QueueObject;
  readonly stage: MoveStage;
}

/** Which queues move, and how far they are. Objects may come and go in any order. */
export class Moves {
  private readonly queueAt: (incarnation: Lsn) => QueueObject | undefined;
  /** By the incarnation of the old queue. */
  private readonly targets = new Map<Lsn, QueueObject>();
  /** Those of them that are there still: under way. */
  private readonly sources = new Set<Lsn>();
  private readonly stages = new Map<Lsn, MoveObject[]>();

  constructor(queueAt: (incarnation: Lsn) => QueueObject | undefined) {
    this.queueAt = queueAt;
  }

  queueAppeared(queue: QueueObject): void {
    const { position, movesFrom } = queue;
    if (movesFrom !== undefined) {
      this.targets.set(movesFrom, queue);
      if (this.queueAt(movesFrom) !== undefined) this.sources.add(movesFrom);
    }
    if (this.targets.has(position)) this.sources.add(position);
  }

  queueGone({ position, movesFrom }: QueueObject): void {
    this.sources.delete(position);
    if (movesFrom === undefined) return;
    this.sources.delete(movesFrom);
    this.targets.delete(movesFrom);
  }

  get count(): number {
    return this.sources.size;
  }

  stageAppeared(move: MoveObject): void {
    const stages = this.stages.get(move.queue);
    if (stages === undefined) this.stages.set(move.queue, [move]);
    else stages.push(move);
  }

  stageGone(move: MoveObject): void {
    const left = (this.stages.get(move.queue) ?? []).filter((other) => other !== move);
    if (left.length === 0) this.stages.delete(move.queue);
    else this.stages.set(move.queue, left);
  }

  /** The move that the queue is part of, at either end; undefined if it stays where it is. */
  of(queue: QueueObject): QueueMove | undefined {
    return this.from(queue.position) ?? (queue.movesFrom === undefined ? undefined : this.from(queue.movesFrom));
  }

  /** The move away from the queue of this incarnation. */
  from(incarnation: Lsn): QueueMove | undefined {
    if (!this.sources.has(incarnation)) return undefined;
    const source = this.queueAt(incarnation)!;
    const target = this.targets.get(incarnation)!;
    return { source, target, stage: newest(this.stages.get(incarnation))?.stage ?? MoveStage.draining };
  }

  /** What says how far that queue is; more than one while one replaces another. */
  stagesOf(incarnation: Lsn): readonly MoveObject[] {
    return this.stages.get(incarnation) ?? [];
  }

  /** All moves under way. */
  *all(): Generator<QueueMove, void> {
    for (const incarnation of this.sources) yield this.from(incarnation)!;
  }
}

function newest(stages: readonly MoveObject[] = []): MoveObject | undefined {
  let found: MoveObject | undefined;
  for (const stage of stages) if (found === undefined || stage.position > found.position) found = stage;
  return found;
}
