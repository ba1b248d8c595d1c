/**
 * Looks at definitions before anything is changed: each object by itself, and whether what it names is there, or is in the definitions
 * before it. What is left to go wrong is what others change meanwhile, and limits of numbers.
 */
import { RefusedError } from '../../base/errors.js';
import type { BrokerNode } from '../../broker-node.js';
import type { Json } from '../../model/wiring/arguments.js';
import { checkParametersSpoken, globalParameter } from '../../model/wiring/plan-parameter.js';
import type { Pace } from '../pace.js';
import { badRequest, notFound, optionalText, requiredName, requiredText } from '../read.js';
import { HttpError } from '../resource.js';
import { limitsOf, permissionOf, topicPermissionOf, userOf, vhostOf } from './access-checks.js';
import type { ImportedParameter, ImportPlan } from './plan.js';
import { type Definitions, DefinitionsError, type SectionName, sectionNames, vhostSections } from './sections.js';
import { WiringChecks } from './wiring-checks.js';

type Fields = Record<string, unknown>;

/** Of those that are found at most so many are named. */
const namedMax = 10;
const foundMax = 1000;

/**
 * The definitions become what is to be done: they are not to be used any more.
 * @param vhost everything is for this one, and nothing else is in it; undefined: each says for which it is.
 * @throws DefinitionsError that names what is wrong by its place: `queues[3]: ...`
 */
export async function checkDefinitions(
  broker: BrokerNode,
  definitions: Definitions,
  vhost: string | undefined,
  pace: Pace,
): Promise<ImportPlan> {
  const checks = new Checks(broker, definitions.rabbitVersion, vhost);
  const problems: string[] = [];
  for (const section of sectionNames) {
    const written = definitions.sections[section];
    if (written.length > 0 && vhost !== undefined && !vhostSections.includes(section)) {
      problems.push(`${section}: it is not about one vhost: import it without naming one`);
      continue;
    }
    for (let index = 0; index < written.length && problems.length < foundMax; index++) {
      try {
        // In its place: what is as large as the wiring must not be there twice.
        written[index] = checks.check(section, written[index]);
      } catch (error) {
        if (!(error instanceof HttpError || error instanceof RefusedError)) throw error;
        problems.push(`${section}[${index}]: ${error.message}`);
      }
      if (pace.isOver) await pace.next();
    }
  }
  if (problems.length > 0) throw new DefinitionsError(describeProblems(problems));
  return definitions.sections as ImportPlan;
}

function describeProblems(problems: readonly string[]): string {
  const named = problems.slice(0, namedMax).join('; ');
  const more = problems.length - namedMax;
  return more > 0 ? `${named}; and ${problems.length < foundMax ? more : `${more} or more`} others` : named;
}

class Checks {
  private readonly broker: BrokerNode;
  private readonly rabbitVersion: string;
  private readonly vhost: string | undefined;
  private readonly wiring: WiringChecks;
  private readonly vhosts = new Set<string>();
  private readonly users = new Set<string>();
  /** The vhost that everything was in, if it says so. */
  private from: string | undefined = undefined;

  constructor(broker: BrokerNode, rabbitVersion: string, vhost: string | undefined) {
    this.broker = broker;
    this.rabbitVersion = rabbitVersion;
    this.vhost = vhost;
    this.wiring = new WiringChecks(broker);
  }

  check(section: SectionName, written: unknown): unknown {
    if (typeof written !== 'object' || written === null || Array.isArray(written))
      throw badRequest('an object is expected');
    const fields = written as Fields;
    switch (section) {
      case 'global_parameters':
        return this.globalParameter(fields);
      case 'vhosts':
        return noted(
          this.vhosts,
          vhostOf(fields, (name) => this.broker.access.vhost(name)),
        );
      case 'users':
        return noted(this.users, userOf(fields, this.rabbitVersion));
      case 'permissions':
        return this.ofUser(permissionOf(fields, this.vhostOf(fields)));
      case 'topic_permissions':
        return this.ofUser(topicPermissionOf(fields, this.vhostOf(fields)));
      case 'parameters':
        return this.parameter(fields);
      case 'policies':
        return this.wiring.policy('policy', requiredName(fields, 'name'), this.vhostOf(fields), fields);
      case 'exchanges':
        return this.wiring.exchange(fields, this.vhostOf(fields));
      case 'queues':
        return this.wiring.queue(fields, this.vhostOf(fields));
      case 'bindings':
        return this.wiring.binding(fields, this.vhostOf(fields));
    }
  }

  private vhostOf(fields: Fields): string {
    const { vhost } = this;
    if (vhost === undefined) {
      const named = requiredText(fields, 'vhost');
      if (!this.vhosts.has(named) && !this.broker.tables.hasVhost(named)) throw notFound(`vhost '${named}'`);
      return named;
    }
    // RabbitMQ names it in some of what it writes of a single one.
    const named = optionalText(fields, 'vhost');
    if (named === undefined) return vhost;
    this.from ??= named;
    if (named === this.from) return vhost;
    throw badRequest(`it is of vhost '${named}', and what comes before it of '${this.from}': '${vhost}' is one`);
  }

  private ofUser<T extends { readonly user: string }>(permission: T): T {
    const { user } = permission;
    if (this.users.has(user) || this.broker.access.user(user) !== undefined) return permission;
    throw notFound(`user '${user}'`);
  }

  private globalParameter(fields: Fields): { name: string; value: Json } {
    const name = requiredName(fields, 'name');
    if (fields['value'] === undefined) throw badRequest('"value" is missing');
    checkParametersSpoken(name, this.broker.map.config.version);
    return globalParameter(name, fields['value'] as Json);
  }

  private parameter(fields: Fields): ImportedParameter {
    const component = requiredText(fields, 'component');
    const name = requiredName(fields, 'name');
    const vhost = this.vhostOf(fields);
    const value = fields['value'];
    if (typeof value !== 'object' || value === null) throw badRequest('"value" must be an object');
    if (component === 'operator_policy')
      return { component, policy: this.wiring.policy('operatorPolicy', name, vhost, value as Fields) };
    if (component === 'vhost-limits') return { component, vhost, limits: limitsOf('vhost', value) };
    throw badRequest(`parameters of component '${component}' mean nothing here: leave them out`);
  }
}

function noted<T extends { readonly name: string }>(names: Set<string>, object: T): T {
  names.add(object.name);
  return object;
}
