import type { Clock } from '../../base/clock.js';
import type { Rules } from '../../base/rules.js';
import type { Slices } from '../../base/slices.js';
import type { Turn } from '../../base/turn.js';
import type { OutboxMemory } from './publish-outbox.js';

/** What a group's client needs of its node. */
export interface GroupClientContext {
  readonly boot: number;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly memory: OutboxMemory;
  /** Runs a function in a later turn. */
  readonly slices: Slices;
  /** What nodes promise each other; see HeartbeatLiveness. */
  readonly leaseMs: number;
  /** The wiring that this node routes with (rule 15). */
  wiringVersion(): number;
}

/** Counts; all are 0 when nobody uses the group. */
export interface Unfinished {
  /** Without a confirm. */
  publishes: number;
  /** Acks, rejections and requeues without an answer. */
  settlements: number;
  /** Gets, counts and purges without an answer. */
  requests: number;
  subscriptions: number;
  /** Bodies of large messages that are being read. */
  bodies: number;
  /** Channels that have consumed or got anything. */
  channels: number;
}
