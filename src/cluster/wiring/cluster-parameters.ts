/** The cluster's global parameters, as operators of this node see and change them. */
import { checkParametersSpoken } from '../../model/wiring/plan-parameter.js';
import type { GlobalParameterObject } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { WiringClient } from './wiring-client.js';

export class ClusterParameters {
  private readonly tables: WiringTables;
  private readonly client: WiringClient;
  private readonly version: () => number;

  /** @param version of the protocol that is in use */
  constructor(tables: WiringTables, client: WiringClient, version: () => number) {
    this.tables = tables;
    this.client = client;
    this.version = version;
  }

  /** By name. */
  list(): GlobalParameterObject[] {
    return [...this.tables.globalParameters()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): GlobalParameterObject | undefined {
    return this.tables.globalParameter(name);
  }

  /** Resolves when every ready node has it; true if there was none of that name. Rejects with RefusedError. */
  async set(name: string, value: GlobalParameterObject['value']): Promise<boolean> {
    const isNew = this.find(name) === undefined;
    // An older primary would not know the operation, and answer all the same.
    checkParametersSpoken(name, this.version());
    await this.client.run({ op: 'setGlobalParameter', name, value });
    return isNew;
  }

  async clear(name: string): Promise<void> {
    await this.client.run({ op: 'clearGlobalParameter', name });
  }
}
