/** Policies of one kind by vhost and name, as far as this node knows the wiring, and which of them applies. */
import type { PolicyObject } from '../wiring/objects.js';
import { Newest } from '../exchange/newest.js';
import { ApplyTo } from './definition.js';
import { PatternError } from './pattern-parser.js';
import { Pattern } from './pattern.js';

interface Applied {
  readonly policy: PolicyObject;
  readonly pattern: Pattern;
}

export class PolicyNames {
  private readonly vhosts = new Map<string, Map<string, Newest<PolicyObject>>>();
  /** Per vhost, the one that goes first first; made again when it is asked for after a change. */
  private readonly ordered = new Map<string, readonly Applied[]>();

  add(policy: PolicyObject): void {
    let names = this.vhosts.get(policy.vhost);
    if (names === undefined) {
      names = new Map();
      this.vhosts.set(policy.vhost, names);
    }
    let named = names.get(policy.name);
    if (named === undefined) {
      named = new Newest();
      names.set(policy.name, named);
    }
    named.add(policy);
    this.ordered.delete(policy.vhost);
  }

  remove(policy: PolicyObject): void {
    const names = this.vhosts.get(policy.vhost);
    const named = names?.get(policy.name);
    if (names === undefined || named === undefined) return;
    named.remove(policy);
    if (named.current === undefined) names.delete(policy.name);
    if (names.size === 0) this.vhosts.delete(policy.vhost);
    this.ordered.delete(policy.vhost);
  }

  /** Those in effect, in no particular order. */
  *all(): Generator<PolicyObject, void> {
    for (const names of this.vhosts.values()) for (const { current } of names.values()) yield current!;
  }

  current(vhost: string, name: string): PolicyObject | undefined {
    return this.vhosts.get(vhost)?.get(name)?.current;
  }

  /** All that have the name: one, or while it is being replaced, or after that was interrupted, more. */
  named(vhost: string, name: string): readonly PolicyObject[] {
    return this.vhosts.get(vhost)?.get(name)?.all() ?? [];
  }

  /** All policies of a vhost, whether they are in effect or not. */
  *ofVhost(vhost: string): Generator<PolicyObject, void> {
    for (const named of this.vhosts.get(vhost)?.values() ?? []) yield* named.all();
  }

  /** Vhosts that have policies. */
  vhostNames(): Iterable<string> {
    return this.vhosts.keys();
  }

  /** The one policy that applies: the highest priority of those that match, the first name among equals. */
  find(kind: 'queues' | 'exchanges', vhost: string, name: string): PolicyObject | undefined {
    for (const { policy, pattern } of this.inOrder(vhost)) {
      if (policy.applyTo !== ApplyTo.all && policy.applyTo !== kind) continue;
      if (pattern.matches(name)) return policy;
    }
    return undefined;
  }

  private inOrder(vhost: string): readonly Applied[] {
    const known = this.ordered.get(vhost);
    if (known !== undefined) return known;
    const names = this.vhosts.get(vhost);
    if (names === undefined) return [];
    const ordered = [...names.values()]
      .flatMap(({ current }) => applied(current!))
      .sort((a, b) => b.policy.priority - a.policy.priority || (a.policy.name < b.policy.name ? -1 : 1));
    this.ordered.set(vhost, ordered);
    return ordered;
  }
}

/** A newer node may know patterns that we do not: their policies do not apply here. */
function applied(policy: PolicyObject): Applied[] {
  try {
    return [{ policy, pattern: new Pattern(policy.pattern) }];
  } catch (error) {
    if (error instanceof PatternError) return [];
    throw error;
  }
}
