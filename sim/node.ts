import type { Rules } from '../src/base/rules.js';
import { fullSlices } from '../src/base/slices.js';
import { Turn } from '../src/base/turn.js';
import { protocolVersions, type VersionRange } from '../src/base/versions.js';
import { CoordinatorUnavailableError } from '../src/cluster/coordinator/coordinator.js';
import { SimClock } from './clock.js';
import type { SimCoordinator } from './coordinator.js';
import { MembershipError } from '../src/cluster/membership.js';
import { StoreRefusedError } from '../src/store/refusal.js';
import type { CrashMode } from './disk-file.js';
import { DiskError, SimDisk, type DiskProfile } from './disk.js';
import type { Context, EventLoop } from './event-loop.js';
import type { SimNetwork } from './network.js';
import type { ClusterOptions, ProcessFactory, SimProcess } from './node-ports.js';
import type { SimRandom } from './random.js';
import { smallSlices } from './slices.js';
import { TraceLogger, type Trace } from './trace.js';

/** What all nodes of a cluster share. */
export interface NodeWorld {
  readonly loop: EventLoop;
  readonly network: SimNetwork;
  readonly coordinator: SimCoordinator;
  readonly random: SimRandom;
  readonly trace: Trace;
  readonly rules: Rules;
  readonly options: ClusterOptions;
  readonly diskProfile: DiskProfile;
  readonly createProcess: ProcessFactory;
  /** A promise of the process was rejected where nobody may reject. */
  fault(error: unknown, who: string): void;
}

const retryStartMs = 500;

export interface CrashOptions {
  /** What its disk keeps of what was not synced. */
  disk: CrashMode;
  /** The machine too: no reset, no refusal, just silence. */
  machine: boolean;
}

/** A machine with a disk, on which a broker lives one life after the other. */
export class SimNode {
  readonly name: string;
  readonly disk: SimDisk;
  /** Of the present life, or the last one. */
  context: Context;
  process: SimProcess | undefined;
  /** Clients may connect: `start` has resolved in this life. */
  serving = false;
  lives = 0;
  /** Of the program that its next life runs: what it speaks. */
  versions: VersionRange = protocolVersions;
  /** Told when a life ends: the clients' connections. */
  readonly onDeath: Set<(machineToo: boolean) => void> = new Set();
  private readonly world: NodeWorld;

  constructor(world: NodeWorld, name: string) {
    this.world = world;
    this.name = name;
    this.disk = new SimDisk(world.loop, world.random.fork(`disk ${name}`), { ...world.diskProfile });
    this.context = world.loop.context(name);
    this.context.alive = false;
  }

  get alive(): boolean {
    return this.context.alive;
  }
  get frozen(): boolean {
    return this.context.alive && this.context.frozen;
  }

  /** Begins a new life on the same disk. */
  start(): void {
    if (this.alive) return;
    const { loop, network, coordinator, trace } = this.world;
    this.lives++;
    const life = this.lives;
    const context = loop.context(`${this.name}.${life}`);
    this.context = context;
    const random = this.world.random.fork(`node ${this.name} ${life}`);
    network.machineUp(this.name);
    trace.add(this.name, `starts life ${life}`);
    // Several inputs of about the same time share a turn, as on a busy event loop.
    const later = (run: () => void): void => void loop.after(random.float() * 0.03, context, run);
    const slices = this.world.options.smallSlices
      ? smallSlices(random.fork('slices'), (delayMs, run) => loop.after(delayMs, context, run))
      : fullSlices(later);
    loop.after(0, context, () => {
      const process = this.world.createProcess({
        name: this.name,
        address: `${this.name}:7000`,
        clock: new SimClock(loop, context, 1 + (random.float() - 0.5) * 2e-4, random.float() * 1e6),
        turn: new Turn(later),
        slices,
        random: random.fork('process'),
        disk: this.disk.open(context),
        transport: network.transport(this.name, context),
        coordinator: coordinator.open(this.name, context),
        logger: new TraceLogger(trace, this.name),
        rules: this.world.rules,
        versions: this.versions,
        options: this.world.options,
      });
      this.process = process;
      process.start().then(
        () => {
          if (this.context !== context) return;
          this.serving = true;
          trace.add(this.name, 'serves');
        },
        (error: unknown) => this.startFailed(error, context),
      );
    });
  }

  /**
   * A disk that fails, or a coordinator, may keep a broker from starting: then an operator tries again. Of a program that is too
   * old for the cluster, or for the folder: with a newer one.
   */
  private startFailed(error: unknown, context: Context): void {
    const { loop, trace } = this.world;
    const refused = error instanceof MembershipError || error instanceof StoreRefusedError;
    if (refused && this.versions.max < protocolVersions.max) this.versions = protocolVersions;
    else if (!(error instanceof DiskError || error instanceof CoordinatorUnavailableError)) {
      this.world.fault(error, `start of ${this.name}`);
      return;
    }
    trace.add(this.name, `cannot start: ${(error as Error).message}`);
    loop.after(0, null, () => {
      if (this.context === context) this.crash({ disk: 'all', machine: false });
    });
    loop.after(retryStartMs, null, () => {
      if (this.context === context) this.start();
    });
  }

  crash(options: CrashOptions): void {
    if (!this.alive) return;
    const { loop, network, coordinator, trace } = this.world;
    trace.add(this.name, `crashes (disk keeps ${options.disk}${options.machine ? ', machine is gone' : ''})`);
    loop.kill(this.context);
    this.process = undefined;
    this.serving = false;
    network.processDied(this.name, this.context, options.machine, options.disk === 'all');
    coordinator.forget(this.context);
    this.disk.crash(options.disk);
    for (const died of [...this.onDeath]) died(options.machine);
    this.onDeath.clear();
  }

  freeze(): void {
    if (!this.alive) return;
    this.world.trace.add(this.name, 'freezes');
    this.world.loop.freeze(this.context);
  }

  thaw(): void {
    if (!this.frozen) return;
    this.world.trace.add(this.name, 'thaws');
    this.world.loop.thaw(this.context);
  }
}
