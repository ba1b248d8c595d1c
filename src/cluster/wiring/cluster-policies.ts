/** The policies of the cluster, as operators of this node see and change them. */
import { checkPoliciesSpoken } from '../../model/wiring/plan-policy.js';
import type { PolicyObject } from '../../model/wiring/objects.js';
import type { ClearPolicy, SetPolicy } from '../../model/wiring/operations.js';
import type { PolicyNames } from '../../model/policy/policy-names.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { WiringClient } from './wiring-client.js';

export type PolicyDescription = SetPolicy['policy'];

const operations: Readonly<Record<PolicyObject['kind'], { set: SetPolicy['op']; clear: ClearPolicy['op'] }>> = {
  policy: { set: 'setPolicy', clear: 'clearPolicy' },
  operatorPolicy: { set: 'setOperatorPolicy', clear: 'clearOperatorPolicy' },
};

/** Those of one kind. */
export class ClusterPolicies {
  private readonly kind: PolicyObject['kind'];
  private readonly names: PolicyNames;
  private readonly client: WiringClient;
  private readonly version: () => number;

  /** @param version of the protocol that is in use */
  constructor(kind: PolicyObject['kind'], tables: WiringTables, client: WiringClient, version: () => number) {
    this.kind = kind;
    this.names = tables.policies.of(kind);
    this.client = client;
    this.version = version;
  }

  /** By vhost and name. `vhost`: of that one only. */
  list(vhost?: string): PolicyObject[] {
    const all = [...this.names.all()].filter((policy) => vhost === undefined || policy.vhost === vhost);
    return all.sort((a, b) => compare(a.vhost, b.vhost) || compare(a.name, b.name));
  }

  find(vhost: string, name: string): PolicyObject | undefined {
    return this.names.current(vhost, name);
  }

  /**
   * Resolves when it is in effect on every ready node; true if there was none of that name. Rejects with RefusedError: not-found
   * without the vhost, precondition-failed if it makes no sense, or not all nodes would understand.
   */
  async set(policy: PolicyDescription): Promise<boolean> {
    const isNew = this.find(policy.vhost, policy.name) === undefined;
    // An older primary would not know the operation, and answer all the same.
    checkPoliciesSpoken(this.kind, policy.name, this.version());
    await this.client.run({ op: operations[this.kind].set, policy });
    return isNew;
  }

  /** Resolves when no node has it any more. */
  async clear(vhost: string, name: string): Promise<void> {
    await this.client.run({ op: operations[this.kind].clear, vhost, name });
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
