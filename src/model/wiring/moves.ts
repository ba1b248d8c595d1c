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
  /**
   * By the incarnation of the old queue. Two of them where a node comes back with a move that was never committed, and hears of the
   * one that was before it drops its own.
   */
  private readonly targets = new Map<Lsn, QueueObject[]>();
  /** Those of them that are there still: under way. */
  private readonly sources = new Set<Lsn>();
  private readonly stages = new Map<Lsn, MoveObject[]>();

  constructor(queueAt: (incarnation: Lsn) => QueueObject | undefined) {
    this.queueAt = queueAt;
  }

  queueAppeared(queue: QueueObject): void {
    const { position, movesFrom } = queue;
    if (movesFrom !== undefined) {
      add(this.targets, movesFrom, queue);
      if (this.queueAt(movesFrom) !== undefined) this.sources.add(movesFrom);
    }
    if (this.targets.has(position)) this.sources.add(position);
  }

  queueGone({ position, movesFrom }: QueueObject): void {
    this.sources.delete(position);
    if (movesFrom === undefined) return;
    remove(this.targets, movesFrom, position);
    if (!this.targets.has(movesFrom)) this.sources.delete(movesFrom);
  }

  get count(): number {
    return this.sources.size;
  }

  stageAppeared(move: MoveObject): void {
    add(this.stages, move.queue, move);
  }

  stageGone(move: MoveObject): void {
    remove(this.stages, move.queue, move.position);
  }

  /** The move that the queue is part of, at either end; undefined if it stays where it is. */
  of(queue: QueueObject): QueueMove | undefined {
    return this.from(queue.position) ?? (queue.movesFrom === undefined ? undefined : this.from(queue.movesFrom));
  }

  /** The move away from the queue of this incarnation. */
  from(incarnation: Lsn): QueueMove | undefined {
    if (!this.sources.has(incarnation)) return undefined;
    const source = this.queueAt(incarnation)!;
    const target = newest(this.targets.get(incarnation))!;
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

type Placed = QueueObject | MoveObject;

function add<T extends Placed>(lists: Map<Lsn, T[]>, queue: Lsn, object: T): void {
  const list = lists.get(queue);
  if (list === undefined) lists.set(queue, [object]);
  else list.push(object);
}

function remove<T extends Placed>(lists: Map<Lsn, T[]>, queue: Lsn, position: Lsn): void {
  const left = (lists.get(queue) ?? []).filter((other) => other.position !== position);
  if (left.length === 0) lists.delete(queue);
  else lists.set(queue, left);
}

function newest<T extends Placed>(objects: readonly T[] = []): T | undefined {
  let found: T | undefined;
  for (const object of objects) if (found === undefined || object.position > found.position) found = object;
  return found;
}
