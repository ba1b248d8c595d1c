import type { Link } from '../link/link.js';
import type { GoneReason } from './liveness.js';

/** What stands between us and one boot of another node, each promise as a time by our own clock. */
export class BootPromises {
  readonly node: string;
  /** '' until a record, the map or a hello names it. */
  store: string;
  readonly boot: number;
  /** When we first heard of this boot; it is given a lease's time from then on, whether it was promised anything or not. */
  readonly knownAt: number;
  /** Refusals of attempts up to this one say nothing about this boot: it was learned, or its link was lost, later. */
  dial: number;
  /** When we last promised not to replace it. */
  answeredAt: number = Number.NEGATIVE_INFINITY;
  /** Until when it has promised not to replace us; -Infinity: it has not, or that ran out. */
  promisedUntil: number = Number.NEGATIVE_INFINITY;
  /** Since when it has promised that without a gap: when the first of these promises reached us. */
  promisedSince: number = Number.POSITIVE_INFINITY;
  dead = false;
  /** What was last reported of it, since it was last promised anything. */
  reported: GoneReason | '' = '';
  /** How often it was reported gone or deposed here; and we there, by its last promise. */
  givenUp = 0;
  givenUpThere = 0;
  /** Deposals held: while there are any, its pings are not answered. */
  deposals = 0;
  link: Link | undefined;
  /** When hellos were exchanged on `link`. */
  greetedAt = 0;
  /** On `link` it has promised us something, and we have promised it something. */
  heard = false;
  answered = false;
  /** The time in a ping that is not answered yet because of a deposal. */
  owed: number | undefined;

  constructor(node: string, store: string, boot: number, knownAt: number, dial: number) {
    this.node = node;
    this.store = store;
    this.boot = boot;
    this.knownAt = knownAt;
    this.dial = dial;
  }
}
