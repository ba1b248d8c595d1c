/**
 * This node's part in the moves of queues: it takes its consumers along, says when nothing more comes from it, and moves the queues
 * whose old group it leads.
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Rules } from '../../base/rules.js';
import type { Slices } from '../../base/slices.js';
import { nobody } from '../../model/broker.js';
import { MoveStage, type QueueObject } from '../../model/wiring/objects.js';
import type { QueueMove } from '../../model/wiring/moves.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { GroupClients } from '../client/group-clients.js';
import type { GroupDirectory } from '../client/ports.js';
import type { ClusterMap } from '../cluster-map.js';
import { systemGroup } from '../map.js';
import type { SystemGroup } from '../wiring/ports.js';
import type { WiringClient } from '../wiring/wiring-client.js';
import { marker } from './marker.js';
import { type MovingNodes, QueueMover } from './queue-mover.js';
import { Relocator } from './relocator.js';

/** Leadership of groups is looked at this often. */
const lookMs = 100;
/** Whoever leads the old group from now on leaves a mover of before this time to go on. */
const succeedMs = 500;
/** Words are said again after this time, while publishes wait for them, and later: they are not kept over a failover. */
const markerMs = 1000;
const lateMarkerMs = 5000;

export interface QueueMovesOptions {
  tables: WiringTables;
  /** Tells when `tables` have reached a new version, and whether this node leads the system group. */
  system: { onVersion(listener: () => void): void } & Pick<SystemGroup, 'leader'>;
  map: ClusterMap;
  clients: GroupClients;
  /** Who leads which group, and which boots are dead for good. */
  replication: Pick<GroupDirectory, 'led'> & { isDead(boot: number): boolean };
  wiring: WiringClient;
  leaseMs: number;
  rules: Rules;
  slices: Slices;
  clock: Clock;
  logger: Logger;
}

export class QueueMoves implements MovingNodes {
  private readonly options: QueueMovesOptions;
  /** By the old queue's incarnation. */
  private readonly movers = new Map<number, QueueMover>();
  /** Since when this node leads the old groups of moves that others have begun, as far as it knows. */
  private readonly ledSince = new Map<number, number>();
  /** When this node last said, of which queue, that nothing more comes. */
  private readonly said = new Map<number, number>();
  /** Queues that move, of which this node has heard and whose consumers have not been told yet. */
  private fresh: QueueObject[] = [];
  private readonly timer: Timer;
  private readonly relocator: Relocator;

  constructor(options: QueueMovesOptions) {
    this.options = options;
    options.tables.observe({ queueAppeared: (queue) => this.queueAppeared(queue), queueGone: () => {} });
    options.system.onVersion(() => this.advanced());
    const leads = (): boolean => options.system.leader()?.appender.mayAct() === true;
    this.relocator = new Relocator({ ...options, leads });
    this.timer = options.clock.every(lookMs, () => this.look());
  }

  close(): void {
    this.timer.cancel();
    this.relocator.close();
    for (const mover of this.movers.values()) mover.close();
  }

  routersHave(seen: ReadonlySet<number>): boolean {
    const routers = this.options.map.groups.get(systemGroup)?.value.inSync ?? [];
    return routers.every(({ boot }) => this.isDone(boot, seen));
  }

  allHave(seen: ReadonlySet<number>): boolean {
    for (const { value } of this.options.map.members.values()) if (!this.isDone(value.boot, seen)) return false;
    return true;
  }

  private isDone(boot: number, seen: ReadonlySet<number>): boolean {
    return seen.has(boot) || this.options.replication.isDead(boot);
  }

  private queueAppeared(queue: QueueObject): void {
    if (this.options.tables.moves.of(queue) !== undefined) this.fresh.push(queue);
  }

  /**
   * Not before the tables have their new version: the new queue's group is to wait for that. Both queues are there by now, unless it
   * moves no more, or never did.
   */
  private advanced(): void {
    for (const queue of this.fresh.splice(0)) {
      const move = this.options.tables.moves.of(queue);
      if (move === undefined) continue;
      this.options.clients.queueMoved(move.source, move.target);
      if (this.leads(move)) this.begin(move);
    }
    this.look();
  }

  private look(): void {
    const { tables, clock } = this.options;
    // What a restart has left of the wiring may have moves that never were, or stages: nothing is said of them, and nothing passed on.
    if (tables.version === 0 || (tables.moves.count === 0 && this.movers.size === 0)) return;
    for (const move of tables.moves.all()) {
      this.succeed(move, clock.now());
      const isAsked = move.stage === MoveStage.closing || move.stage === MoveStage.late;
      if (isAsked) this.sayDone(move, clock.now());
    }
    for (const [incarnation, mover] of this.movers) if (mover.isOver) this.movers.delete(incarnation);
    for (const times of [this.said, this.ledSince])
      for (const incarnation of times.keys())
        if (tables.moves.from(incarnation) === undefined) times.delete(incarnation);
  }

  /** Whoever has begun goes on, whoever leads: two would come in each other's way. So who leads from now on takes its time. */
  private succeed(move: QueueMove, now: number): void {
    const { position } = move.source;
    if (!this.leads(move)) {
      this.ledSince.delete(position);
      return;
    }
    const since = this.ledSince.get(position) ?? now;
    this.ledSince.set(position, since);
    if (now >= since + succeedMs) this.begin(move);
  }

  private begin(move: QueueMove): void {
    if (this.movers.has(move.source.position)) return;
    const { clients, tables, wiring, leaseMs, rules, clock, logger } = this.options;
    this.movers.set(
      move.source.position,
      new QueueMover({
        move,
        clients,
        tables,
        wiring,
        nodes: this,
        leads: () => this.leads(move),
        patienceMs: rules.moveMarkers ? 4 * leaseMs : 0,
        rules,
        clock,
        logger,
      }),
    );
  }

  private leads({ source }: QueueMove): boolean {
    return this.options.replication.led(source.group) !== undefined;
  }

  /** Behind everything that this node has published to the queue. */
  private sayDone({ source, stage }: QueueMove, now: number): void {
    const last = this.said.get(source.position);
    const againMs = stage === MoveStage.closing ? markerMs : lateMarkerMs;
    if (last !== undefined && now < last + againMs) return;
    this.said.set(source.position, now);
    this.options.clients.client(source.group).publish(marker(), [source.position], false, nobody, 0);
  }
}
