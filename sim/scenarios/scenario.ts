import type { RuleName } from '../../src/base/rules.js';
import type { ConsumerStyle } from '../workload/consumer.js';
import type { KindName } from '../workload/kinds.js';
import type { Stage } from './stage.js';

/**
 * A directed run: the same clients, checkers and quiet end as any run, but the faults follow a script. For what random faults
 * reach too rarely: each is the shortest history that the model found for a rule left out, with its times still drawn from the seed.
 */
export interface Scenario {
  readonly name: string;
  /** The rules whose absence it shows. */
  readonly rules: readonly RuleName[];
  /** Smaller than in random runs: what matters is the script. */
  /** Left out in all its runs: a rule that would keep from happening what others must stand. */
  readonly without?: RuleName;
  readonly minInSync?: number;
  readonly nodes?: number;
  readonly messages?: number;
  /** How all consumers are; what is left out is drawn for each. */
  readonly consumers?: Partial<ConsumerStyle>;
  /** A queue is deleted and declared again all the time. */
  readonly recycles?: boolean;
  /** There is a queue with `confirm: replicated`. */
  readonly relaxed?: boolean;
  /** A queue moves between groups all the time. */
  readonly moves?: boolean;
  /** Messages die in a queue, and go to another one. */
  readonly deaths?: boolean;
  /** Many messages are large. Left out: none is. */
  readonly large?: boolean;
  /** Messages wait for their time. */
  readonly delays?: boolean;
  /** Publishers wait for a queue that is too full. */
  readonly flows?: boolean;
  /** Clients take messages and publish others in transactions. */
  readonly transactions?: boolean;
  /** Some clients resume their links. */
  readonly resumes?: boolean;
  /** Queues that do something besides. */
  readonly kinds?: readonly KindName[];
  /** Policies come and go. */
  readonly policies?: boolean;
  /** Bytes of the journal's segments. */
  readonly segmentBytes?: number;
  /** All nodes begin with the first protocol version; false: with the newest; left out: as the seed says. */
  readonly firstVersion?: boolean;
  /** One round; played `rounds` times with everything healed in between. */
  play(stage: Stage): Promise<void>;
  readonly rounds: number;
}
