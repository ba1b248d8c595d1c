/** Brings what definitions ask for into the wiring. What is there already, and as it is asked for, stays: an import may be repeated. */
import { RefusedError } from '../../base/errors.js';
import type { BrokerNode } from '../../broker-node.js';
import type { LimitedKind, LimitName, LimitsObject } from '../../model/access/objects.js';
import type { QueueDeclaration } from '../../model/broker.js';
import type { Passwords } from '../../security/passwords.js';
import { httpConnection } from '../http-connection.js';
import type { Pace } from '../pace.js';
import { checkDefinitions } from './check.js';
import type { ImportedParameter, ImportedUser, ImportPlan } from './plan.js';
import { type Definitions, DefinitionsError, type SectionName, sectionNames } from './sections.js';

/** Changes that are under way at a time: enough to fill the batches of the wiring's log. */
const underWayMax = 32;

export interface ImportPorts {
  readonly broker: BrokerNode;
  readonly passwords: Passwords;
  readonly pace: Pace;
}

/**
 * Resolves to the number of objects when everything is in effect on every ready node. Rejects with DefinitionsError: if something is wrong
 * with the definitions nothing was changed; if something is refused while they are brought in, it says what, and how much was done before.
 * @param vhost everything is for this one
 */
export async function importDefinitions(
  ports: ImportPorts,
  definitions: Definitions,
  vhost: string | undefined,
): Promise<number> {
  let plan: ImportPlan;
  try {
    plan = await checkDefinitions(ports.broker, definitions, vhost, ports.pace);
  } catch (error) {
    if (error instanceof DefinitionsError) error.message = `nothing was imported. ${error.message}`;
    throw error;
  }
  return await new Import(ports, plan).run();
}

class Import {
  private readonly ports: ImportPorts;
  private readonly plan: ImportPlan;
  private done = 0;

  constructor(ports: ImportPorts, plan: ImportPlan) {
    this.ports = ports;
    this.plan = plan;
  }

  async run(): Promise<number> {
    const total = sectionNames.reduce((sum, section) => sum + this.plan[section].length, 0);
    for (const section of sectionNames) await this.section(section, total);
    // Last: a queue without a type has the one that it had, not the vhost's.
    const { access } = this.ports.broker;
    for (const vhost of this.plan.vhosts) if (vhost.defaultQueueType !== undefined) await access.setVhost(vhost);
    return total;
  }

  /** In the order of the list, several at a time; after a refusal nothing more is begun. */
  private async section(section: SectionName, total: number): Promise<void> {
    const { length } = this.plan[section];
    const { pace } = this.ports;
    let next = 0;
    const failures: { index: number; error: Error }[] = [];
    const work = async (): Promise<void> => {
      while (next < length && failures.length === 0) {
        const index = next++;
        try {
          await this.bring(section, index);
          this.done++;
          if (section !== 'vhosts') this.plan[section][index] = undefined!;
        } catch (error) {
          failures.push({ index, error: error as Error });
        }
        if (pace.isOver) await pace.next();
      }
    };
    await Promise.all(Array.from({ length: Math.min(underWayMax, length) }, work));
    const [failure] = failures.sort((a, b) => a.index - b.index);
    if (failure === undefined) return;
    const { index, error } = failure;
    if (!(error instanceof RefusedError)) throw error;
    const how = `${this.done} of ${total} objects were imported before it; an import may be repeated`;
    throw new DefinitionsError(`${section}[${index}]: ${error.message} (${how})`);
  }

  private async bring(section: SectionName, index: number): Promise<unknown> {
    const { broker } = this.ports;
    const { plan } = this;
    switch (section) {
      case 'global_parameters': {
        const { name, value } = plan.global_parameters[index]!;
        return await broker.parameters.set(name, value);
      }
      case 'vhosts': {
        const { defaultQueueType: _, ...vhost } = plan.vhosts[index]!;
        const current = broker.access.vhost(vhost.name)?.defaultQueueType;
        return await broker.access.setVhost(current === undefined ? vhost : { ...vhost, defaultQueueType: current });
      }
      case 'users':
        return await this.user(plan.users[index]!);
      case 'permissions':
        return await broker.access.setPermission(plan.permissions[index]!);
      case 'topic_permissions':
        return await broker.access.setTopicPermission(plan.topic_permissions[index]!);
      case 'parameters':
        return await this.parameter(plan.parameters[index]!);
      case 'policies':
        return await broker.policies.set(plan.policies[index]!);
      case 'exchanges':
        return await broker.broker.wiring.declareExchange(plan.exchanges[index]!);
      case 'queues':
        return await this.queue(plan.queues[index]!);
      case 'bindings': {
        const binding = plan.bindings[index]!;
        return await broker.broker.wiring.bind(binding, httpConnection(broker));
      }
    }
  }

  /** One that is there was compared with it, and need not be asked how many messages it has. */
  private async queue(declaration: QueueDeclaration): Promise<void> {
    const { broker, tables } = this.ports.broker;
    if (tables.queue(declaration.vhost, declaration.name) === undefined) await broker.wiring.declareQueue(declaration);
  }

  private async user({ limits, ...user }: ImportedUser): Promise<void> {
    const { broker, passwords } = this.ports;
    const known =
      'password' in user ? { name: user.name, tags: user.tags, ...(await passwords.credentials(user.password)) } : user;
    await broker.access.setUser(known);
    await this.limits('user', user.name, limits);
  }

  private async parameter(parameter: ImportedParameter): Promise<void> {
    if (parameter.component === 'operator_policy') await this.ports.broker.operatorPolicies.set(parameter.policy);
    else await this.limits('vhost', parameter.vhost, parameter.limits);
  }

  private async limits(of: LimitedKind, name: string, limits: LimitsObject['limits']): Promise<void> {
    for (const [limit, value] of Object.entries(limits))
      await this.ports.broker.access.setLimit(of, name, limit as LimitName, value);
  }
}
