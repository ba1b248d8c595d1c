/** All policies, as far as this node knows the wiring: those of whoever uses a vhost, and those of operators, which limit them. */
import type { Definition } from './definition.js';
import type { PolicyObject } from '../wiring/objects.js';
import { mergedDefinition } from './operator-definition.js';
import { PolicyNames } from './policy-names.js';

/** What applies to one queue. */
export interface AppliedPolicies {
  readonly policy: PolicyObject | undefined;
  readonly operatorPolicy: PolicyObject | undefined;
  /** Of both together; undefined: neither applies. */
  readonly definition: Definition | undefined;
}

export class Policies {
  /** Changes with every change of a policy. */
  version = 0;
  private readonly kinds = { policy: new PolicyNames(), operatorPolicy: new PolicyNames() };
  /** Queues to which the same policies apply share this. As of `version`. */
  private readonly applied = new Map<PolicyObject | undefined, Map<PolicyObject | undefined, AppliedPolicies>>();

  add(policy: PolicyObject): void {
    this.changed();
    this.kinds[policy.kind].add(policy);
  }

  remove(policy: PolicyObject): void {
    this.changed();
    this.kinds[policy.kind].remove(policy);
  }

  /** Those of one kind. */
  of(kind: PolicyObject['kind']): PolicyNames {
    return this.kinds[kind];
  }

  /** The one policy that applies to an exchange. */
  ofExchange(vhost: string, name: string): PolicyObject | undefined {
    return this.kinds.policy.find('exchanges', vhost, name);
  }

  /** The same object for all queues to which the same policies apply, for as long as `version` stays. */
  ofQueue(vhost: string, name: string): AppliedPolicies {
    const policy = this.kinds.policy.find('queues', vhost, name);
    const operatorPolicy = this.kinds.operatorPolicy.find('queues', vhost, name);
    let beside = this.applied.get(policy);
    if (beside === undefined) {
      beside = new Map();
      this.applied.set(policy, beside);
    }
    let both = beside.get(operatorPolicy);
    if (both === undefined) {
      both = { policy, operatorPolicy, definition: mergedDefinition(policy?.definition, operatorPolicy?.definition) };
      beside.set(operatorPolicy, both);
    }
    return both;
  }

  /** All policies of a vhost, whether they are in effect or not. */
  *ofVhost(vhost: string): Generator<PolicyObject, void> {
    yield* this.kinds.policy.ofVhost(vhost);
    yield* this.kinds.operatorPolicy.ofVhost(vhost);
  }

  /** Vhosts that have policies; some may come twice. */
  *vhostNames(): Generator<string, void> {
    yield* this.kinds.policy.vhostNames();
    yield* this.kinds.operatorPolicy.vhostNames();
  }

  private changed(): void {
    this.version++;
    this.applied.clear();
  }
}
