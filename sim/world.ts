/** One simulated cluster with its clients: everything that a run of one seed consists of. */
import type { Rules } from '../src/base/rules.js';
import type { Connection } from './client/connection.js';
import { wallAt } from './clock.js';
import { SimCoordinator } from './coordinator.js';
import { EventLoop, type Context } from './event-loop.js';
import { History } from './history.js';
import { Takeovers } from './takeovers.js';
import { SimNetwork } from './network.js';
import { SimNode, type NodeWorld } from './node.js';
import type { ClusterOptions, ProcessFactory } from './node-ports.js';
import { SimRandom } from './random.js';
import { SettingsBook } from './settings-book.js';
import { Trace } from './trace.js';

/** What a checker found. */
export class Finding extends Error {
  override readonly name = 'Finding';
  readonly checker: string;

  constructor(checker: string, message: string) {
    super(message);
    this.checker = checker;
  }
}

/** A client that can be made busy. */
export interface Stirred {
  /** The node it is connected to, if to any. */
  readonly at: SimNode | undefined;
  stir(): void;
}

export interface WorldOptions {
  seed: number;
  nodes: number;
  rules: Rules;
  verbose: boolean;
  cluster: ClusterOptions;
  createProcess: ProcessFactory;
}

/** What a fault has begun may end a little after it: a lease that lapses, a link that is dialled again. */
const troubleAfterMs = 5000;

export class SimWorld implements NodeWorld {
  readonly seed: number;
  readonly loop: EventLoop = new EventLoop();
  readonly random: SimRandom;
  /** For the clients' transport; each actor has its own generator besides. */
  readonly clientRandom: SimRandom;
  readonly network: SimNetwork;
  readonly coordinator: SimCoordinator;
  readonly trace: Trace;
  readonly history: History;
  /** What holds for queues, as the clients have asked for it. */
  readonly settings: SettingsBook;
  readonly takeovers: Takeovers = new Takeovers();
  readonly rules: Rules;
  readonly options: ClusterOptions;
  readonly createProcess: ProcessFactory;
  readonly diskProfile: NodeWorld['diskProfile'];
  readonly nodes: SimNode[] = [];
  readonly connections: Set<Connection> = new Set();
  /** No more faults: whoever waits for an answer must get it. */
  patient = false;
  /** Stirred when something is about to fail: clients that are busy then find more than those that are idle. */
  readonly onTrouble: Set<Stirred> = new Set();
  nextConnection = 1;
  nextConsumer = 1;
  lastNote = 0;
  finding: Finding | undefined;
  private readonly publishers: string[] = [];
  /** When each node was last in trouble of its own; Infinity = it is now. */
  private readonly trouble = new Map<string, number>();

  constructor(options: WorldOptions) {
    this.seed = options.seed;
    this.random = new SimRandom(options.seed);
    this.clientRandom = this.random.fork('clients');
    this.rules = options.rules;
    this.options = options.cluster;
    this.createProcess = options.createProcess;
    this.trace = new Trace(this.loop, options.verbose);
    this.history = new History(this.loop);
    this.settings = new SettingsBook(options.cluster.minInSync);
    const shape = this.random.fork('shape');
    const latencyMs = shape.pick([0.05, 0.1, 0.3, 1]);
    this.network = new SimNetwork(this.loop, this.random.fork('network'), {
      latencyMs,
      jitterMs: latencyMs * shape.between(0.5, 3),
      bytesPerMs: 100_000,
    });
    this.coordinator = new SimCoordinator(this.loop, this.random.fork('coordinator'), {
      latencyMs: shape.pick([0.2, 0.5, 2]),
      watchDelayMs: shape.pick([0.5, 2, 10]),
    });
    this.diskProfile = {
      writeMs: shape.pick([0.02, 0.1]),
      syncMs: shape.pick([0.2, 0.5, 2]),
      bytesPerMs: 300_000,
      capacityBytes: 1e9,
    };
    this.loop.onError = (error, context) => this.fault(error, `process ${context?.name ?? 'outside'}`);
    for (let i = 1; i <= options.nodes; i++) this.nodes.push(new SimNode(this, `n${i}`));
  }

  /** Ends the run with a finding; the first one counts. */
  fail(checker: string, message: string): void {
    if (this.finding !== undefined) return;
    this.finding = new Finding(checker, message);
    this.trace.add('checker', `${checker}: ${message}`);
    this.loop.stop();
  }

  /** Production code threw where nothing may throw. */
  fault(error: unknown, who: string): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.fail('no-exceptions', `${who}: ${text}`);
  }

  node(name: string): SimNode {
    const node = this.nodes.find((candidate) => candidate.name === name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  /** The node of a context's life, if that is its present one. */
  nodeOf(context: Context): SimNode | undefined {
    return this.nodes.find((node) => node.context === context);
  }

  /** What clocks on walls show: the same for all machines. */
  wall(): number {
    return wallAt(this.loop.now);
  }

  /** The node cannot be expected to keep its lease, from now until `outOfTrouble`. */
  inTrouble(node: string): void {
    this.trouble.set(node, Number.POSITIVE_INFINITY);
  }

  outOfTrouble(node: string): void {
    this.trouble.set(node, this.loop.now + troubleAfterMs);
  }

  inTroubleSince(node: string, since: number): boolean {
    return (this.trouble.get(node) ?? -1) >= since;
  }

  /** Publishers have small numbers on the wire. */
  publisherNumber(name: string): number {
    const index = this.publishers.indexOf(name);
    return index >= 0 ? index : this.publishers.push(name) - 1;
  }

  publisherName(number: number): string {
    return this.publishers[number] ?? '';
  }
}
