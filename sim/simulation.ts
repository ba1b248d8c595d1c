/**
 * One run: a cluster is started, clients use it, faults come and go, everything is healed, and in the quiet end all promises are
 * judged. A run is a function of its seed and of the code, of nothing else.
 *
 *   start ─ declare ─ calm load ─ faults under load ─ heal ─ converge ─ compare replicas ─ drain ─ judge
 */
import { allRules, type RuleName, type Rules } from '../src/base/rules.js';
import { chunkBytes } from '../src/log/chunk.js';
import { Placement } from '../src/cluster/map.js';
import type { Checker } from './checkers/checker.js';
import { allCheckers } from './checkers/index.js';
import { FaultDirector } from './faults.js';
import { HistoryTrace } from './history-trace.js';
import type { ProcessFactory } from './node-ports.js';
import { Operator } from './operator.js';
import { SimRandom } from './random.js';
import type { Scenario } from './scenarios/scenario.js';
import { Stage } from './scenarios/stage.js';
import { watchElections } from './survivors.js';
import { Upgrades } from './upgrades.js';
import { Finding, SimWorld } from './world.js';
import { Workload } from './workload.js';
import type { KindName } from './workload/kinds.js';

export interface RunOptions {
  seed: number;
  createProcess: ProcessFactory;
  /** The rule that is broken on purpose. */
  mutant?: RuleName;
  verbose?: boolean;
  /** A script instead of random faults. */
  scenario?: Scenario;
  /** Queues that do something besides, instead of those that the seed says. */
  kinds?: readonly KindName[];
  /** Whether some clients resume their links, whatever the seed says. */
  resumes?: boolean;
}

export interface RunResult {
  seed: number;
  /** Digest of every event: a seed that is run again has the same one. */
  hash: number;
  events: number;
  operations: number;
  faults: number;
  /** Simulated milliseconds. */
  simulatedMs: number;
  finding: Finding | undefined;
  trace: string;
}

/** Operations of clients in every run, at least. */
const operationsMin = 500;
/** Runs with segments that fill, and their sizes. */
const smallSegmentsShare = 0.2;
const smallSegments = [8 * 1024, 32 * 1024, 64 * 1024];
/** Runs in which walks that take one turn otherwise take many. */
const smallSlicesShare = 0.3;
const pollMs = 20;
/** Bounds on simulated time, far above what is needed. */
const startMsMax = 30_000;
const convergeMsMax = 60_000;
const answerMsMax = 60_000;
const drainMsMax = 60_000;
/** So many runs have large messages. */
const largeShare = 0.3;
/** Far above what a run needs: more is a storm, of messages, retries or timers. */
const eventsMax = 400_000;

/** Mostly the usual one: others make groups move all the time. */
function placementOf({ scenario }: RunOptions, random: SimRandom): Placement {
  if (scenario !== undefined || random.chance(0.7)) return Placement.spread;
  return random.pick([Placement.ring, Placement.followConsumers, Placement.timeShared]);
}

/** The simulation is over: a bound was passed. */
class Overdue extends Error {}

export class Simulation {
  readonly world: SimWorld;
  private readonly checkers: Checker[];
  private readonly workload: Workload;
  private readonly director: FaultDirector;
  private readonly upgrades: Upgrades;
  private readonly scenario: Scenario | undefined;
  private readonly shape: SimRandom;
  /** Undefined: nobody wants anything elsewhere in this run. */
  private readonly operator: Operator | undefined;

  constructor(options: RunOptions) {
    this.shape = new SimRandom(options.seed).fork('shape of the run');
    const { scenario } = options;
    const without = [options.mutant, scenario?.without].filter((name) => name !== undefined);
    const rules: Rules = without.reduce((kept, name) => ({ ...kept, [name]: false }), allRules);
    this.scenario = scenario;
    const groups = this.shape.pick([1, 2, 3]);
    this.world = new SimWorld({
      seed: options.seed,
      nodes: scenario === undefined ? this.shape.pick([3, 3, 3, 3, 4, 5]) : (scenario.nodes ?? 3),
      rules,
      verbose: options.verbose ?? false,
      cluster: {
        groups,
        replicas: 3,
        placement: placementOf(options, this.shape.fork('placement')),
        minInSync: scenario?.minInSync ?? this.shape.pick([1, 1, 2]),
        // Every group's open chunk stays in memory; little more is needed.
        memoryBytes: this.shape.pick([groups + 6, 256]) * chunkBytes,
        segmentBytes: scenario?.segmentBytes ?? segmentBytesOf(new SimRandom(options.seed).fork('segments')),
        large:
          scenario === undefined
            ? new SimRandom(options.seed).fork('large messages').chance(largeShare)
            : scenario.large === true,
        smallSlices: new SimRandom(options.seed).fork('slices').chance(smallSlicesShare),
      },
      createProcess: options.createProcess,
    });
    if (options.verbose === true) this.world.history.listen(new HistoryTrace(this.world.trace));
    watchElections(this.world);
    this.checkers = allCheckers(this.world);
    this.workload = new Workload(this.world, {
      messages: scenario?.messages ?? 220,
      durationMs: scenario === undefined ? 6000 : 12_000,
      consumers: scenario?.consumers ?? {},
      recycles: scenario?.recycles ?? false,
      ...(scenario === undefined
        ? {}
        : {
            policies: scenario.policies ?? false,
            relaxed: scenario.relaxed ?? false,
            sized: false,
            moves: scenario.moves ?? false,
            deaths: scenario.deaths ?? false,
            delays: scenario.delays ?? false,
            flows: scenario.flows ?? false,
            transactions: scenario.transactions ?? false,
            resumes: scenario.resumes ?? false,
            kinds: scenario.kinds ?? [],
          }),
      ...(options.kinds === undefined ? {} : { kinds: options.kinds }),
      ...(options.resumes === undefined ? {} : { resumes: options.resumes }),
    });
    this.director = new FaultDirector(this.world);
    this.upgrades = new Upgrades(this.world, scenario?.firstVersion);
    const random = this.world.random.fork('operator');
    if (scenario === undefined && random.chance(0.4)) this.operator = new Operator(this.world, random);
  }

  async run(): Promise<RunResult> {
    const { world } = this;
    const rejected = (reason: unknown): void => world.fault(reason, 'a promise nobody waited for');
    // The run's alone: a test runner would take it for its own.
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', rejected);
    world.loop.after(0, null, () => {
      this.script().then(
        () => world.loop.stop(),
        (error: unknown) => {
          if (!(error instanceof Overdue)) world.fault(error, 'the run');
          world.loop.stop();
        },
      );
    });
    await world.loop.run();
    process.off('unhandledRejection', rejected);
    for (const other of others) process.on('unhandledRejection', other);
    return {
      seed: world.seed,
      hash: world.loop.hash,
      events: world.loop.count,
      operations: world.history.operations,
      faults: this.director.count,
      simulatedMs: world.loop.now,
      finding: world.finding,
      trace: world.trace.toString(),
    };
  }

  private async script(): Promise<void> {
    const { world, workload, director } = this;
    for (const node of world.nodes) node.start();
    await this.until('in-sync-full', startMsMax, () => this.ask('in-sync-full'));
    await workload.setUp();
    this.keepPolling();
    workload.start();
    await world.loop.sleep(this.shape.between(200, 1200));
    void this.operator?.work();
    if (this.scenario === undefined) {
      this.upgrades.begin(6000);
      await director.run(5 + this.shape.int(6), 6000);
    } else await this.play(this.scenario);
    director.heal();
    await this.operator?.rest();
    world.patient = true;
    await this.quietEnd();
  }

  private async play(scenario: Scenario): Promise<void> {
    const stage = new Stage(this.world, this.director, this.upgrades, () => this.ask('in-sync-full') === '');
    for (let round = 0; round < scenario.rounds; round++) {
      this.world.trace.add('stage', `round ${round + 1} of ${scenario.name}`);
      await scenario.play(stage);
      await stage.heal();
    }
  }

  /** Everything must come to an end, in bounded time, and then everything must be as promised. */
  private async quietEnd(): Promise<void> {
    const { world, workload } = this;
    const converged = (): Promise<void> => this.until('in-sync-full', convergeMsMax, () => this.ask('in-sync-full'));
    await this.upgrades.finish(converged);
    await converged();
    workload.stopProducing();
    await this.until('nothing-hangs', answerMsMax, () => workload.stillProducing());
    workload.stopConsuming();
    await this.until('nothing-hangs', answerMsMax, () => workload.stillConsuming());
    for (const name of ['replicas-equal', 'wiring-equal']) await this.until(name, convergeMsMax, () => this.ask(name));
    world.history.calm();
    workload.drain();
    await this.until('confirmed-not-lost', drainMsMax, () => this.messagesLeft());
    await this.topUp();
    workload.stopConsuming();
    await this.until('nothing-hangs', answerMsMax, () => workload.stillConsuming());
    for (const checker of this.checkers) await this.until(checker.name, convergeMsMax, () => checker.atRest());
    for (const checker of this.checkers) checker.atEnd();
  }

  /** A run whose faults left its clients little to do has them do the rest in peace. */
  private async topUp(): Promise<void> {
    const missing = operationsMin - this.world.history.operations;
    if (missing <= 0) return;
    this.workload.topUp(missing);
    await this.until('nothing-hangs', answerMsMax, () => this.workload.stillProducing());
    await this.until('confirmed-not-lost', drainMsMax, () => this.messagesLeft());
  }

  private keepPolling(): void {
    this.world.loop.after(pollMs, null, () => {
      const { count, now } = this.world.loop;
      if (count > eventsMax) this.world.fail('no-storms', `${count} events in ${(now / 1000).toFixed(1)} s`);
      for (const checker of this.checkers) checker.poll();
      this.keepPolling();
    });
  }

  private ask(name: string): string {
    return this.checkers.find((checker) => checker.name === name)!.atRest();
  }

  /** Messages in the queues, as the nodes see them. */
  private messagesLeft(): string {
    for (const node of this.world.nodes) {
      const { probe } = node.process!;
      if (probe.moves().length > 0) return `for ${node.name} a queue moves still`;
      const owed = probe.owed();
      if (owed > 0) return `${node.name} owes ${owed} messages`;
      for (const { name } of this.workload.queues) {
        const group = probe.groupOf('/', name);
        if (group < 0) continue;
        const incarnation = probe.incarnationOf('/', name);
        const queue = probe.queues(group).find((candidate) => candidate.incarnation === incarnation);
        if (queue !== undefined && queue.positions.length > 0)
          return `${node.name} has ${queue.positions.length} messages in ${name}, the first at ${queue.positions[0]}`;
      }
    }
    return '';
  }

  /** Waits until `problem` has none to tell; after `limitMs` that is a finding of `checker`. */
  private async until(checker: string, limitMs: number, problem: () => string): Promise<void> {
    const { loop } = this.world;
    const deadline = loop.now + limitMs;
    for (;;) {
      const text = problem();
      if (text === '') return;
      if (loop.now >= deadline) {
        this.world.fail(checker, `still after ${limitMs} ms of quiet: ${text}`);
        throw new Overdue();
      }
      await loop.sleep(10);
    }
  }
}

function segmentBytesOf(random: SimRandom): number {
  return random.chance(smallSegmentsShare) ? random.pick(smallSegments) : 0;
}
