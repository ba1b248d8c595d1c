/** The policies of the cluster, as operators of this node see and change them. */
import type { PolicyObject } from '../../model/wiring/objects.js';
import type { SetPolicy } from '../../model/wiring/operations.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { WiringClient } from './wiring-client.js';

export type PolicyDescription = SetPolicy['policy'];

export class ClusterPolicies {
  private readonly tables: WiringTables;
  private readonly client: WiringClient;

  constructor(tables: WiringTables, client: WiringClient) {
    this.tables = tables;
    this.client = client;
  }

  /** By vhost and name. `vhost`: of that one only. */
  list(vhost?: string): PolicyObject[] {
    const all = [...this.tables.policies.all()].filter((policy) => vhost === undefined || policy.vhost === vhost);
    return all.sort((a, b) => compare(a.vhost, b.vhost) || compare(a.name, b.name));
  }

  find(vhost: string, name: string): PolicyObject | undefined {
    return this.tables.policies.find(vhost, name);
  }

  /**
   * Resolves when it is in effect on every ready node; true if there was none of that name. Rejects with RefusedError: not-found
   * without the vhost, precondition-failed if it makes no sense.
   */
  async set(policy: PolicyDescription): Promise<boolean> {
    const isNew = this.find(policy.vhost, policy.name) === undefined;
    await this.client.run({ op: 'setPolicy', policy });
    return isNew;
  }

  /** Resolves when no node has it any more. */
  async clear(vhost: string, name: string): Promise<void> {
    await this.client.run({ op: 'clearPolicy', vhost, name });
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
