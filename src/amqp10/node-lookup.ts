/** Finds what an address names, and looks whether the user may use it. */
import { Refusal, RefusedError } from '../base/errors.js';
import type { Broker, ConnectionId } from '../model/broker.js';
import type { Permissions } from '../security/permissions.js';
import { type Address, parseAddress } from './addresses.js';
import { makeTemporary } from './temporary-queue.js';

export interface LookupContext {
  readonly broker: Broker;
  readonly vhost: string;
  readonly id: ConnectionId;
  readonly permissions: Permissions;
}

/** Where messages of a link go. */
export interface Destination {
  /** '' = the default exchange, whose routing keys are queues' names. */
  readonly exchange: string;
  /** Undefined: the message's subject. */
  readonly routingKey: string | undefined;
}

/** Rejects with RefusedError or LinkError: not there, or not allowed. */
export async function findDestination(context: LookupContext, text: string): Promise<Destination> {
  const address = parseAddress(text);
  if (address.kind === 'exchange') return toExchange(context, address.exchange, address.routingKey);
  const queue = address.kind === 'queue' ? address.queue : address.name;
  context.permissions.require('write', 'exchange', '');
  if (await isQueue(context, queue, address)) return { exchange: '', routingKey: queue };
  const { name, subject } = address as Extract<Address, { kind: 'name' }>;
  return toExchange(context, name, subject);
}

async function toExchange(
  context: LookupContext,
  exchange: string,
  routingKey: string | undefined,
): Promise<Destination> {
  context.permissions.requireWrite(exchange);
  if (exchange !== '') await context.broker.wiring.declareExchange(exchangeAsked(context, exchange));
  return { exchange, routingKey };
}

/** Where messages of a link come from. */
export interface Origin {
  readonly queue: string;
  /** It was made for the link, and goes with it. */
  readonly isTemporary: boolean;
}

/** The queue of which a link's messages come; of an exchange, one that is bound to it. Rejects as findDestination. */
export async function findQueue(context: LookupContext, text: string): Promise<Origin> {
  const address = parseAddress(text);
  if (address.kind === 'exchange') return fromExchange(context, address.exchange, address.routingKey);
  const queue = address.kind === 'queue' ? address.queue : address.name;
  context.permissions.require('read', 'queue', queue);
  if (await isQueue(context, queue, address)) return { queue, isTemporary: false };
  const { name, subject } = address as Extract<Address, { kind: 'name' }>;
  return fromExchange(context, name, subject);
}

async function fromExchange(context: LookupContext, exchange: string, routingKey: string | undefined): Promise<Origin> {
  const { broker, vhost, id, permissions } = context;
  permissions.require('read', 'exchange', exchange);
  await broker.wiring.declareExchange(exchangeAsked(context, exchange));
  const isTopic = broker.isTopicExchange(vhost, exchange);
  const key = routingKey ?? (isTopic ? '#' : '');
  if (isTopic) permissions.requireTopic('read', exchange, key);
  const queue = await makeTemporary(context);
  const binding = {
    vhost,
    source: exchange,
    destination: queue,
    destinationKind: 'queue',
    routingKey: key,
    arguments: {},
  } as const;
  await broker.wiring.bind(binding, id);
  return { queue, isTemporary: true };
}

/** Whether there is the queue; rejects if there is not, and the address can mean nothing else. */
async function isQueue(context: LookupContext, queue: string, { kind }: Address): Promise<boolean> {
  try {
    await context.broker.wiring.declareQueue(queueAsked(context, queue));
    return true;
  } catch (error) {
    if (kind === 'name' && error instanceof RefusedError && error.kind === Refusal.notFound) return false;
    throw error;
  }
}

function queueAsked({ vhost, id }: LookupContext, name: string) {
  return {
    vhost,
    name,
    passive: true,
    durable: false,
    exclusive: false,
    autoDelete: false,
    arguments: {},
    connection: id,
  };
}

function exchangeAsked({ vhost, id }: LookupContext, name: string) {
  const options = { passive: true, durable: false, autoDelete: false, internal: false, arguments: {}, connection: id };
  return { vhost, name, type: 'direct', ...options };
}
