/**
 * What the system group's primary does in the wiring without being asked: it deletes what goes with boots that are over and what is
 * in vhosts that are gone, and gives the cluster its first users.
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { Feature } from '../../base/versions.js';
import type { UserDescription } from '../../model/access/operations.js';
import type { WiringAnswer, WiringOperation } from '../../model/wiring/operations.js';
import { goneMax } from '../../model/wiring/plan-node.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { BootLives } from './ports.js';

export interface LeaderChoresOptions {
  tables: WiringTables;
  lives: BootLives;
  /** The protocol version in use. */
  version(): number;
  /** The users of a cluster that had none yet; undefined: it gets none from this node. */
  firstUsers?: (() => Promise<readonly UserDescription[]>) | undefined;
  clock: Clock;
  logger: Logger;
}

/** How often a leader looks for what is to be done. */
const periodMs = 250;

/** For as long as one node leads, in one epoch. */
export class LeaderChores {
  private readonly options: LeaderChoresOptions;
  private readonly submit: (operation: WiringOperation, answered: (answer: WiringAnswer) => void) => void;
  private readonly timer: Timer;
  /** Boots and vhosts for which an operation is on its way. */
  private readonly boots = new Set<number>();
  private readonly vhosts = new Set<string>();
  private founding = false;
  private closed = false;

  constructor(options: LeaderChoresOptions, submit: LeaderChores['submit']) {
    this.options = options;
    this.submit = submit;
    this.timer = options.clock.every(periodMs, () => this.look());
  }

  close(): void {
    this.closed = true;
    this.timer.cancel();
  }

  private look(): void {
    this.reportBoots();
    this.reportVhosts();
    if (!this.options.tables.access.isFounded && this.options.version() >= Feature.access) void this.found();
  }

  /** Deletes what goes with boots that are over; if that is much, one operation after the other. */
  private reportBoots(): void {
    for (const { node, boot, objects } of this.options.tables.boots.all()) {
      if (this.boots.has(boot) || !this.options.lives.isOver(node, boot)) continue;
      this.boots.add(boot);
      const isMany = objects.size > goneMax;
      this.submit({ op: 'nodeGone', node, boot }, ({ result }) => {
        this.boots.delete(boot);
        if (result === 'done' && isMany) this.soon(() => this.reportBoots());
      });
    }
  }

  /** The same for vhosts, until nothing is left of them. */
  private reportVhosts(): void {
    for (const vhost of this.options.tables.ghostVhosts()) {
      if (this.vhosts.has(vhost)) continue;
      this.vhosts.add(vhost);
      this.submit({ op: 'vhostGone', vhost }, ({ result }) => {
        this.vhosts.delete(vhost);
        if (result === 'done') this.soon(() => this.reportVhosts());
      });
    }
  }

  private soon(run: () => void): void {
    this.options.clock.after(0, () => {
      if (!this.closed) run();
    });
  }

  private async found(): Promise<void> {
    const { firstUsers, logger } = this.options;
    if (this.founding || firstUsers === undefined) return;
    this.founding = true;
    try {
      const users = await firstUsers();
      if (this.closed) return;
      this.submit({ op: 'found', users }, (answer) => {
        this.founding = false;
        if (answer.result === 'done')
          logger.info('the cluster has its first users', { users: users.map(({ name }) => name).join() });
      });
    } catch (error) {
      this.founding = false;
      logger.error('the first users cannot be made', { error: String(error) });
    }
  }
}
