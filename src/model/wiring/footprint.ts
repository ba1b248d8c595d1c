import type { ConnectionId } from '../broker.js';
import type { PolicyObject } from './objects.js';

/**
 * The names that the planning of an operation looked at or is going to change. Two operations whose footprints have no name
 * in common, or only names that both looked at, can be planned and logged in either order with the same outcome.
 */
export class Footprint {
  /** True: changed; false: looked at. */
  readonly keys: Map<string, boolean> = new Map();

  reads(key: string): void {
    if (!this.keys.has(key)) this.keys.set(key, false);
  }

  writes(key: string): void {
    this.keys.set(key, true);
  }

  /** Is every name here also in `other`, and changed there if it is changed here? */
  within(other: Footprint): boolean {
    for (const [key, written] of this.keys) {
      const held = other.keys.get(key);
      if (held === undefined || (written && !held)) return false;
    }
    return true;
  }
}

/** The keys of names. The first letter is the kind of what is named. */
export const nameKey = {
  queue: (vhost: string, name: string): string => `q\0${vhost}\0${name}`,
  /** The exchange and the set of its bindings: who adds one looks at it, who needs the whole set changes it. */
  exchange: (vhost: string, name: string): string => `x\0${vhost}\0${name}`,
  /** `key`: the binding's `bindingKey`. */
  binding: (vhost: string, source: string, key: string): string => `b\0${vhost}\0${source}\0${key}`,
  policy: (kind: PolicyObject['kind'], vhost: string, name: string): string =>
    `${kind === 'policy' ? 'p' : 'o'}\0${vhost}\0${name}`,
  globalParameter: (name: string): string => `G\0${name}`,
  connection: (connection: ConnectionId): string => `c\0${connection}`,
  node: (node: string): string => `n\0${node}`,
  /** The vhost's being there, and what is not named otherwise. */
  vhost: (name: string): string => `v\0${name}`,
  user: (name: string): string => `u\0${name}`,
  /** `exchange`: of a topic permission. */
  grant: (user: string, vhost: string, exchange: string = ''): string => `g\0${user}\0${vhost}\0${exchange}`,
  limits: (of: 'vhost' | 'user', name: string): string => `l\0${of}\0${name}`,
  /** How many queues the vhost has, where that is limited. */
  queueCount: (vhost: string): string => `k\0${vhost}`,
  founded: 'f',
  /** The one queue that publishes wait for (MoveStage.closing). */
  closing: 'm',
} as const;
