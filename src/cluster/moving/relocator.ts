/**
 * Where this node leads the system group it has queues moved that are elsewhere than their policy wants them by now: whenever the
 * policies have changed all queues are looked at, in slices.
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { SlicedWalk, type Slices } from '../../base/slices.js';
import { Feature } from '../../base/versions.js';
import { MoveStage } from '../../model/wiring/objects.js';
import { isElsewhere } from '../../model/wiring/plan-move.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { ClusterMap } from '../cluster-map.js';
import type { WiringClient } from '../wiring/wiring-client.js';

const lookMs = 100;
/** Names matched with patterns in one turn: some milliseconds' work. */
const walkSlice = 1024;
/** Between two looks at all queues. */
const walkMs = 1000;
/** Queues that are passed on at a time; and on their way in all, most of which wait for clients or for a node. */
const busyMax = 8;
const movesMax = 256;
/** A queue whose new group is not ready makes way for others after this time; and is tried again. */
const readyMs = 5000;
const againMs = 10_000;

export interface RelocatorOptions {
  tables: WiringTables;
  map: ClusterMap;
  wiring: WiringClient;
  /** This node leads the system group. */
  leads(): boolean;
  slices: Slices;
  clock: Clock;
  logger: Logger;
}

export class Relocator {
  private readonly options: RelocatorOptions;
  private readonly timer: Timer;
  private walk: SlicedWalk | undefined;
  /** Of the policies, when all queues were looked at last; -1: they are to be looked at. */
  private version = -1;
  /** Incarnations of queues that are to move. */
  private due: number[] = [];
  private saying = 0;
  private nextWalkAt = 0;
  /** Queues on their way, when that was looked at last. */
  private moving = 0;

  constructor(options: RelocatorOptions) {
    this.options = options;
    this.timer = options.clock.every(lookMs, () => this.look());
  }

  close(): void {
    this.timer.cancel();
    this.walk?.stop();
  }

  private look(): void {
    const { leads, map, tables } = this.options;
    if (!leads() || map.config.version < Feature.queueMoves) {
      this.walk?.stop();
      this.walk = undefined;
      this.version = -1;
      this.due = [];
      return;
    }
    if (this.walk?.isOver === false) return;
    if (this.due.length > 0) return this.moveSome();
    // What has arrived may have to go back: its policy has changed on the way.
    const { count } = tables.moves;
    if (count < this.moving) this.version = -1;
    this.moving = count;
    const now = this.options.clock.now();
    if (this.version === tables.policies.version || now < this.nextWalkAt) return;
    this.nextWalkAt = now + walkMs;
    this.begin();
  }

  private begin(): void {
    const { tables, slices } = this.options;
    const { version } = tables.policies;
    this.walk = new SlicedWalk(this.search(1 + tables.count('policy')), walkSlice, slices, () => {
      this.version = version;
    });
  }

  /** @param work for each queue: all patterns may be tried */
  private *search(work: number): Generator<number, void> {
    const { tables, map } = this.options;
    for (const object of tables.objects()) {
      const isQueue = object.kind === 'queue';
      if (isQueue && isElsewhere(object, tables, map.config.replicas)) this.due.push(object.position);
      yield isQueue ? work : 1;
    }
  }

  /** Those that take something from others while they move. */
  private get busy(): number {
    let busy = this.saying;
    for (const { stage } of this.options.tables.moves.all())
      if (stage === MoveStage.draining || stage === MoveStage.closing) busy++;
    return busy;
  }

  private moveSome(): void {
    const { tables, map, wiring, logger } = this.options;
    for (let { busy } = this; this.due.length > 0 && busy < busyMax; busy++) {
      if (tables.moves.count + this.saying >= movesMax) return;
      const incarnation = this.due.pop()!;
      const queue = tables.queueAt(incarnation);
      if (queue === undefined) continue;
      this.saying++;
      wiring
        .run({ op: 'moveQueue', incarnation, node: map.groups.get(queue.group)?.value.primary.node ?? '' }, readyMs)
        .catch((error: Error) => {
          this.version = -1;
          this.nextWalkAt = this.options.clock.now() + againMs;
          const { vhost, name } = queue;
          logger.warn('a queue cannot be moved to where it is to be', { vhost, queue: name, reason: error.message });
        })
        .finally(() => {
          this.saying--;
        });
    }
  }
}
