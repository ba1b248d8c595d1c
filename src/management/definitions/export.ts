/**
 * Definitions as RabbitMQ writes them, sorted, in parts that never hold up anything. What changes meanwhile is in or not; nothing is named
 * that is not in. Whatever is exclusive to a connection, and what every vhost has by itself, is left out.
 */
import type { BrokerNode } from '../../broker-node.js';
import type { GrantObject, PermissionObject, TopicPermissionObject } from '../../model/access/objects.js';
import type { BindingObject, ExchangeObject, QueueObject } from '../../model/wiring/objects.js';
import {
  describeBindingObject,
  describeExchangeObject,
  describePermission,
  describePolicy,
  describeQueueObject,
  describeTopics,
  describeUser,
} from '../describe.js';
import { byEnds, byNameAlone, byVhostAndName, byVhostAndUser } from '../lists/orders.js';
import type { Pace } from '../pace.js';
import { rabbitmqVersion } from '../rabbitmq-version.js';
import { compareTexts, sorted } from '../sorted.js';
import { version } from '../../version.js';
import { type SectionName, sectionNames, vhostSections } from './sections.js';

type Described = Record<string, unknown>;

/** @param vhost what is in this one alone, which is not named then; undefined: all of the cluster. */
export async function* exportDefinitions(
  broker: BrokerNode,
  vhost: string | undefined,
  pace: Pace,
): AsyncGenerator<string, void> {
  const head = {
    rabbit_version: rabbitmqVersion,
    rabbitmq_version: rabbitmqVersion,
    product_name: 'Understudy',
    product_version: version,
    rabbitmq_definition_format: vhost === undefined ? 'cluster' : 'single_virtual_host',
    ...(vhost === undefined ? {} : { original_vhost_name: vhost }),
  };
  yield JSON.stringify(head).slice(0, -1);
  const source = new Source(broker, vhost, pace);
  for (const section of vhost === undefined ? sectionNames : vhostSections) {
    yield `,"${section}":[`;
    let isFirst = true;
    for await (const object of source.section(section)) {
      yield `${isFirst ? '\n' : ',\n'}${JSON.stringify(object)}`;
      isFirst = false;
      if (pace.isOver) await pace.next();
    }
    yield ']';
  }
  yield '}\n';
}

class Source {
  private readonly broker: BrokerNode;
  private readonly vhost: string | undefined;
  private readonly pace: Pace;
  /** What is in so far, by name: others may name it. */
  private readonly vhosts: Set<string>;
  private readonly users = new Set<string>();
  private readonly ends = new Set<string>();

  constructor(broker: BrokerNode, vhost: string | undefined, pace: Pace) {
    this.broker = broker;
    this.vhost = vhost;
    this.pace = pace;
    this.vhosts = new Set(vhost === undefined ? [] : [vhost]);
  }

  async *section(section: SectionName): AsyncGenerator<Described, void> {
    switch (section) {
      case 'exchanges':
        return yield* this.exchanges();
      case 'queues':
        return yield* this.queues();
      case 'bindings':
        return yield* this.bindings();
      default:
        yield* this.access(section);
    }
  }

  private async *access(
    section: Exclude<SectionName, 'exchanges' | 'queues' | 'bindings'>,
  ): AsyncGenerator<Described, void> {
    const { access, parameters, policies } = this.broker;
    const tables = this.broker.tables.access;
    switch (section) {
      case 'global_parameters':
        for (const { name, value } of parameters.list()) yield { name, value };
        return;
      case 'vhosts':
        for (const { name, description, tags, defaultQueueType } of access.vhosts()) {
          this.vhosts.add(name);
          const type = defaultQueueType === undefined ? {} : { default_queue_type: defaultQueueType };
          yield { name, description, tags, ...type };
        }
        return;
      case 'users':
        for (const user of await this.gathered(tables.allUsers(), always, byNameAlone)) {
          this.users.add(user.name);
          yield describeUser(user, tables.limitsOf('user', user.name)?.limits);
        }
        return;
      case 'permissions':
        for (const one of await this.grants('permission')) yield describePermission(one as PermissionObject);
        return;
      case 'topic_permissions':
        for (const one of await this.grants('topicPermission')) yield describeTopics(one as TopicPermissionObject);
        return;
      case 'parameters':
        return yield* this.parameters();
      case 'policies':
        for (const policy of policies.list(this.vhost))
          if (this.vhosts.has(policy.vhost)) yield this.without(describePolicy(policy));
    }
  }

  /** Operators' policies and limits of vhosts, as RabbitMQ has them. */
  private *parameters(): Generator<Described, void> {
    const { access, operatorPolicies } = this.broker;
    for (const policy of operatorPolicies.list(this.vhost)) {
      if (!this.vhosts.has(policy.vhost)) continue;
      const { vhost, name, ...value } = describePolicy(policy);
      yield this.without({ component: 'operator_policy', vhost, name, value });
    }
    for (const { name: vhost, limits } of access.limits('vhost'))
      if (this.vhosts.has(vhost))
        yield this.without({ component: 'vhost-limits', vhost, name: 'limits', value: limits });
  }

  private grants(kind: GrantObject['kind']): Promise<GrantObject[]> {
    const isIn = (grant: GrantObject): boolean =>
      grant.kind === kind && this.users.has(grant.user) && this.vhosts.has(grant.vhost);
    return this.gathered(this.broker.tables.access.grants.all(), isIn, byUserAndTopic);
  }

  private async *exchanges(): AsyncGenerator<Described, void> {
    const isIn = ({ position }: ExchangeObject): boolean => position > 0;
    for (const exchange of await this.gathered(this.inVhosts('exchangesIn'), isIn, byVhostAndName)) {
      this.ends.add(endKey('exchange', exchange.vhost, exchange.name));
      yield this.without(describeExchangeObject(exchange));
    }
  }

  private async *queues(): AsyncGenerator<Described, void> {
    const isIn = ({ owner }: QueueObject): boolean => owner === '';
    for (const queue of await this.gathered(this.inVhosts('queuesIn'), isIn, byVhostAndName)) {
      this.ends.add(endKey('queue', queue.vhost, queue.name));
      yield this.without(describeQueueObject(queue));
    }
  }

  private async *bindings(): AsyncGenerator<Described, void> {
    const isEnd = (kind: 'queue' | 'exchange', vhost: string, name: string): boolean =>
      this.ends.has(endKey(kind, vhost, name)) ||
      (kind === 'exchange' && this.broker.tables.exchange(vhost, name)?.position === 0);
    const isIn = ({ vhost, source, destinationKind, destination }: BindingObject): boolean =>
      isEnd('exchange', vhost, source) && isEnd(destinationKind, vhost, destination);
    for (const binding of await this.gathered(this.inVhosts('bindingsIn'), isIn, byEndsAndAge))
      yield this.without(describeBindingObject(binding));
  }

  private *inVhosts<K extends 'exchangesIn' | 'queuesIn' | 'bindingsIn'>(
    kind: K,
  ): Generator<K extends 'exchangesIn' ? ExchangeObject : K extends 'queuesIn' ? QueueObject : BindingObject, void> {
    for (const vhost of this.vhosts) yield* this.broker.tables[kind](vhost) as ReturnType<typeof this.inVhosts<K>>;
  }

  private async gathered<T>(
    all: Iterable<T>,
    isIn: (object: T) => boolean,
    compare: (a: T, b: T) => number,
  ): Promise<T[]> {
    const { pace } = this;
    const found: T[] = [];
    for (const object of all) {
      if (isIn(object)) found.push(object);
      if (pace.isOver) await pace.next();
    }
    return await sorted(found, compare, pace);
  }

  /** Of a single vhost it goes without saying which it is. */
  private without(object: Described): Described {
    if (this.vhost === undefined) return object;
    const { vhost: _, ...rest } = object;
    return rest;
  }
}

/** Of those that differ by arguments alone the older first. */
function byEndsAndAge(a: BindingObject, b: BindingObject): number {
  return byEnds(a, b) || a.position - b.position;
}

function byUserAndTopic(a: GrantObject, b: GrantObject): number {
  return byVhostAndUser(a, b) || compareTexts(topicOf(a), topicOf(b));
}

function topicOf(grant: GrantObject): string {
  return grant.kind === 'topicPermission' ? grant.exchange : '';
}

function always(): boolean {
  return true;
}

function endKey(kind: 'queue' | 'exchange', vhost: string, name: string): string {
  return `${kind}\0${vhost}\0${name}`;
}
