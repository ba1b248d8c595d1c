/**
 * Exchanges, queues, bindings and policies of definitions, one at a time, against what there is and what the definitions have
 * before them. All throw HttpError or RefusedError.
 */
import type { BrokerNode } from '../../broker-node.js';
import type { Binding, ExchangeDeclaration, QueueDeclaration } from '../../model/broker.js';
import type { ExchangeObject, ExchangeType, PolicyObject } from '../../model/wiring/objects.js';
import { checkNewBinding } from '../../model/wiring/plan-binding.js';
import { checkNewExchange, checkSameExchange } from '../../model/wiring/plan-exchange.js';
import { checkPoliciesSpoken, checkPolicy } from '../../model/wiring/plan-policy.js';
import { checkNewQueue, checkSameQueue, withDefaultType } from '../../model/wiring/plan-queue.js';
import { type DeclarationContext, describeExchange, describeQueue } from '../../model/wiring/planner.js';
import { argumentTable } from '../argument-table.js';
import { httpConnection } from '../http-connection.js';
import { policyFields } from '../policy-fields.js';
import { badRequest, flag, notFound, optionalText, requiredName, requiredText } from '../read.js';
import type { PolicyDescription } from './plan.js';

type Fields = Record<string, unknown>;

export class WiringChecks {
  private readonly broker: BrokerNode;
  private readonly context: DeclarationContext;
  private readonly connection: string;
  /** What the definitions have had so far, by vhost and name. */
  private readonly exchanges = new Map<string, ExchangeDeclaration>();
  private readonly queues = new Map<string, QueueDeclaration>();

  constructor(broker: BrokerNode) {
    this.broker = broker;
    const { map, links } = broker;
    this.context = {
      version: () => map.config.version,
      replicasMax: () => map.config.replicas,
      isAlone: links === undefined,
    };
    this.connection = httpConnection(broker);
  }

  policy(kind: PolicyObject['kind'], name: string, vhost: string, fields: Fields): PolicyDescription {
    const policy = { vhost, name, ...policyFields(fields, kind === 'policy' ? 'all' : 'queues') };
    checkPoliciesSpoken(kind, name, this.context.version());
    checkPolicy(kind, policy, this.context.replicasMax());
    return policy;
  }

  exchange(fields: Fields, vhost: string): ExchangeDeclaration {
    const declaration: ExchangeDeclaration = {
      vhost,
      name: requiredName(fields, 'name'),
      type: requiredText(fields, 'type'),
      passive: false,
      durable: flag(fields, 'durable'),
      autoDelete: flag(fields, 'auto_delete'),
      internal: flag(fields, 'internal'),
      arguments: argumentTable(fields['arguments']),
      connection: this.connection,
    };
    const { name } = declaration;
    const current = this.broker.tables.exchange(vhost, name);
    if (current === undefined) checkNewExchange(this.context, declaration);
    else checkSameExchange(this.context, current, declaration);
    const key = keyOf(vhost, name);
    const before = this.exchanges.get(key);
    if (before !== undefined) checkSameExchange(this.context, asExchange(before), declaration);
    this.exchanges.set(key, declaration);
    return declaration;
  }

  queue(fields: Fields, vhost: string): QueueDeclaration {
    if (flag(fields, 'exclusive')) throw badRequest('it is exclusive: such queues are their connections’ own');
    const declaration: QueueDeclaration = {
      vhost,
      name: requiredName(fields, 'name'),
      serverNamed: true,
      passive: false,
      durable: flag(fields, 'durable'),
      exclusive: false,
      autoDelete: flag(fields, 'auto_delete'),
      arguments: argumentTable(fields['arguments']),
      connection: this.connection,
    };
    const { tables } = this.broker;
    const { name } = declaration;
    const operation = { op: 'declareQueue', ...declaration, serverNamed: true } as const;
    const current = tables.queue(vhost, name);
    if (current === undefined) checkNewQueue(this.context, operation);
    else checkSameQueue(current, withDefaultType(operation, tables.vhostNamed(vhost)?.defaultQueueType, current));
    const key = keyOf(vhost, name);
    const before = this.queues.get(key);
    if (before !== undefined) checkSameQueue({ kind: 'queue', position: 0, owner: '', group: 0, ...before }, operation);
    this.queues.set(key, declaration);
    return declaration;
  }

  binding(fields: Fields, vhost: string): Binding {
    const kind = optionalText(fields, 'destination_type') ?? 'queue';
    if (kind !== 'queue' && kind !== 'exchange') throw badRequest('"destination_type" must be queue or exchange');
    const binding: Binding = {
      vhost,
      source: requiredText(fields, 'source'),
      destination: requiredName(fields, 'destination'),
      destinationKind: kind,
      routingKey: requiredText(fields, 'routing_key'),
      arguments: argumentTable(fields['arguments']),
    };
    const { source, destination } = binding;
    const from = this.exchangeNamed(vhost, source);
    if (from === undefined) throw notFound(describeExchange(vhost, source));
    if (kind === 'exchange' && this.exchangeNamed(vhost, destination) === undefined)
      throw notFound(describeExchange(vhost, destination));
    if (kind === 'queue' && !this.hasQueue(vhost, destination)) throw notFound(describeQueue(vhost, destination));
    checkNewBinding(from, binding);
    return binding;
  }

  private exchangeNamed(vhost: string, name: string): ExchangeObject | undefined {
    const declared = this.exchanges.get(keyOf(vhost, name));
    if (declared !== undefined) return asExchange(declared);
    const { tables } = this.broker;
    // What every vhost has, one that is to be made has too.
    return tables.exchange(vhost, name) ?? tables.exchange('/', name.startsWith('amq.') || name === '' ? name : '\0');
  }

  private hasQueue(vhost: string, name: string): boolean {
    return this.queues.has(keyOf(vhost, name)) || this.broker.tables.queue(vhost, name)?.owner === '';
  }
}

function asExchange({ type, ...declaration }: ExchangeDeclaration): ExchangeObject {
  return { ...declaration, kind: 'exchange', position: 0, type: type as ExchangeType };
}

// No name has a NUL in it.
function keyOf(vhost: string, name: string): string {
  return `${vhost}\0${name}`;
}
