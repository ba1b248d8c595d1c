/** Finds what an address names, and looks whether the user may use it. */
import { Refusal, RefusedError } from '../base/errors.js';
import type { Arguments, Broker, ConnectionId } from '../model/broker.js';
import type { Permissions } from '../security/permissions.js';
import { type Address, parseAddress } from './addresses.js';
import { dropTemporary, makeTemporary } from './temporary-queue.js';

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

/** An exchange of which a link wants messages. */
export interface ExchangeOrigin {
  readonly exchange: string;
  /** Undefined: the address names none. */
  readonly routingKey: string | undefined;
}

/** The queue of which a link's messages come, or the exchange. Rejects as findDestination. @param isTopic no queue is meant by a name */
export async function findOrigin(
  context: LookupContext,
  text: string,
  isTopic: boolean,
): Promise<string | ExchangeOrigin> {
  const address = parseAddress(text);
  if (address.kind === 'exchange') return fromExchange(context, address.exchange, address.routingKey);
  if (address.kind === 'queue' || !isTopic) {
    const queue = address.kind === 'queue' ? address.queue : address.name;
    context.permissions.require('read', 'queue', queue);
    if (await isQueue(context, queue, address)) return queue;
  }
  const { name, subject } = address as Extract<Address, { kind: 'name' }>;
  return fromExchange(context, name, subject);
}

async function fromExchange(
  context: LookupContext,
  exchange: string,
  routingKey: string | undefined,
): Promise<ExchangeOrigin> {
  context.permissions.require('read', 'exchange', exchange);
  await context.broker.wiring.declareExchange(exchangeAsked(context, exchange));
  return { exchange, routingKey };
}

/** What a queue is bound to. */
export interface BindingAsked {
  readonly exchange: string;
  readonly routingKey: string;
  readonly arguments: Arguments;
}

/** Binds the queue. Rejects with RefusedError. */
export async function bindQueue(context: LookupContext, queue: string, asked: BindingAsked): Promise<void> {
  const { broker, vhost, id, permissions } = context;
  const { exchange, routingKey } = asked;
  if (broker.isTopicExchange(vhost, exchange)) permissions.requireTopic('read', exchange, routingKey);
  const binding = { vhost, source: exchange, destination: queue, destinationKind: 'queue', routingKey } as const;
  await broker.wiring.bind({ ...binding, arguments: asked.arguments }, id);
}

/** What an exchange gets for a link from now on: an exclusive queue that is bound to it. Rejects with RefusedError. */
export async function bindTemporary(context: LookupContext, asked: BindingAsked): Promise<string> {
  const queue = await makeTemporary(context);
  try {
    await bindQueue(context, queue, asked);
  } catch (error) {
    dropTemporary(context, queue);
    throw error;
  }
  return queue;
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
