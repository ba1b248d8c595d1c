/**
 * What requests at /management do, by method and path; statuses are RabbitMQ 4's:
 *
 *   GET     /queues/Q             200 the queue      404 it is not there
 *   PUT     /queues/Q             201 declared, 200 it is there so already: the queue      409 it is there otherwise
 *   DELETE  /queues/Q             200 message_count, also if it is not there
 *   DELETE  /queues/Q/messages    200 message_count: purged
 *   PUT     /exchanges/E          204      409 it is there otherwise
 *   DELETE  /exchanges/E          204, also if it is not there
 *   POST    /bindings             204
 *   DELETE  /bindings/src=E;dstq=Q;key=K;args=HASH    204, also if it is not there
 *   GET     /bindings?src=E&dstq=Q&key=K              200 a list; `dste` for an exchange
 *
 * 400 for what makes no sense or cannot be, 403 for what nobody may, both with a text. What this user may not do ends the session, as there.
 */
import type { Clock } from '../../base/clock.js';
import { Refusal, RefusedError } from '../../base/errors.js';
import { type Binding, type Broker, type ConnectionId } from '../../model/broker.js';
import { ExchangeType } from '../../model/wiring/objects.js';
import { requireBinding, requireExchange, requireQueue } from '../../security/declaring.js';
import type { Permissions } from '../../security/permissions.js';
import { Condition, type Value } from '../codec/index.js';
import { SessionError } from '../errors.js';
import { describeBinding, describeQueue, Fields, messageCount } from './fields.js';
import { badRequest, ManagementError } from './management-error.js';
import { decoded, hashOf, readBindingPath } from './path.js';
import type { Request } from './request.js';

/** On whose behalf. */
export interface Asker {
  readonly broker: Broker;
  readonly vhost: string;
  readonly id: ConnectionId;
  readonly permissions: Permissions;
  readonly clock: Clock;
}

export interface Answer {
  readonly status: string;
  readonly body: Value;
}

const done: Answer = { status: '204', body: null };
const nameBytesMax = 255;
/** Bindings of one answer; and of those that differ in their arguments only, so many are compared in one turn. */
const bindingsMax = 1024;
const hashesInTurn = 128;

/** Rejects with ManagementError or RefusedError (see `statusOf`), and with SessionError if the user may not. */
export async function perform(asker: Asker, { method, to, body }: Request): Promise<Answer> {
  const [path = '', query = ''] = to.split('?', 2);
  const [, kind, name, more, ...rest] = path.split('/');
  if (rest.length === 0 && kind === 'queues' && name !== undefined) {
    const queue = named(name);
    if (more === undefined && method === 'GET') return await getQueue(asker, queue);
    if (more === undefined && method === 'PUT') return await declareQueue(asker, queue, body);
    if (more === undefined && method === 'DELETE') return await deleteQueue(asker, queue);
    if (more === 'messages' && method === 'DELETE') return await purgeQueue(asker, queue);
  } else if (kind === 'exchanges' && name !== undefined && more === undefined) {
    if (method === 'PUT') return await declareExchange(asker, notDefault(named(name)), body);
    if (method === 'DELETE') return await deleteExchange(asker, notDefault(named(name)));
  } else if (kind === 'bindings' && more === undefined) {
    if (name === undefined && method === 'POST') return await bind(asker, body);
    if (name === undefined && method === 'GET') return await listBindings(asker, new URLSearchParams(query));
    if (name !== undefined && method === 'DELETE') return await unbind(asker, name);
  }
  throw new ManagementError('404', `there is no ${method} ${path}`);
}

async function getQueue({ broker, vhost }: Asker, name: string): Promise<Answer> {
  try {
    return { status: '200', body: describeQueue(await broker.queueStatus(vhost, name)) };
  } catch (error) {
    if (error instanceof RefusedError && error.kind === Refusal.notFound)
      throw new ManagementError('404', error.message);
    throw error;
  }
}

async function declareQueue(asker: Asker, name: string, body: Value): Promise<Answer> {
  const { broker, vhost, id: connection } = asker;
  if (name === '') throw badRequest('a queue needs a name');
  const fields = new Fields(body, 'a queue', ['durable', 'exclusive', 'auto_delete', 'arguments']);
  const table = fields.table();
  const declaration = {
    vhost,
    name,
    durable: fields.flag('durable', true),
    exclusive: fields.flag('exclusive', false),
    autoDelete: fields.flag('auto_delete', false),
    arguments: table,
    connection,
  };
  permitted(() => requireQueue(asker.permissions, name, table));
  const isNew = await isMissing(broker.wiring.declareQueue({ ...declaration, passive: true }));
  await broker.wiring.declareQueue({ ...declaration, passive: false });
  return { status: isNew ? '201' : '200', body: describeQueue(await broker.queueStatus(vhost, name)) };
}

async function isMissing(found: Promise<unknown>): Promise<boolean> {
  try {
    await found;
    return false;
  } catch (error) {
    if (error instanceof RefusedError && error.kind === Refusal.notFound) return true;
    throw error;
  }
}

async function deleteQueue({ broker, vhost, id, permissions }: Asker, name: string): Promise<Answer> {
  permitted(() => permissions.require('configure', 'queue', name));
  const always = { ifUnused: false, ifEmpty: false, connection: id };
  return { status: '200', body: messageCount(await broker.wiring.deleteQueue(vhost, name, always)) };
}

async function purgeQueue({ broker, vhost, id, permissions }: Asker, name: string): Promise<Answer> {
  permitted(() => permissions.require('read', 'queue', name));
  return { status: '200', body: messageCount(await broker.wiring.purgeQueue(vhost, name, id)) };
}

async function declareExchange(asker: Asker, name: string, body: Value): Promise<Answer> {
  const { broker, vhost, id: connection } = asker;
  const names = ['type', 'durable', 'auto_delete', 'internal', 'arguments'];
  const fields = new Fields(body, 'an exchange', names);
  const table = fields.table();
  const type = fields.text('type', ExchangeType.direct);
  if (!Object.hasOwn(ExchangeType, type)) throw badRequest(`unknown exchange type '${type}'`);
  permitted(() => requireExchange(asker.permissions, name, table));
  await broker.wiring.declareExchange({
    vhost,
    name,
    type,
    passive: false,
    durable: fields.flag('durable', true),
    autoDelete: fields.flag('auto_delete', false),
    internal: fields.flag('internal', false),
    arguments: table,
    connection,
  });
  return done;
}

async function deleteExchange({ broker, vhost, permissions }: Asker, name: string): Promise<Answer> {
  permitted(() => permissions.require('configure', 'exchange', name));
  await broker.wiring.deleteExchange(vhost, name, { ifUnused: false });
  return done;
}

async function bind(asker: Asker, body: Value): Promise<Answer> {
  const names = ['source', 'destination_queue', 'destination_exchange', 'binding_key', 'arguments'];
  const fields = new Fields(body, 'a binding', names);
  const toExchange = fields.has('destination_exchange');
  const binding: Binding = {
    vhost: asker.vhost,
    source: notDefault(fields.text('source')),
    destination: fields.text(toExchange ? 'destination_exchange' : 'destination_queue'),
    destinationKind: toExchange ? 'exchange' : 'queue',
    routingKey: fields.text('binding_key', ''),
    arguments: fields.table(),
  };
  mayBind(asker, binding);
  await asker.broker.wiring.bind(binding, asker.id);
  return done;
}

async function unbind(asker: Asker, part: string): Promise<Answer> {
  const { broker, vhost } = asker;
  const { argumentsHash, ...ends } = readBindingPath(part);
  const plain: Binding = { ...ends, vhost, arguments: {} };
  mayBind(asker, plain);
  const binding = argumentsHash === '' ? plain : await findByHash(asker, between(broker, plain), argumentsHash);
  // RabbitMQ's clients unbind again what they do not know to be gone.
  if (binding !== undefined) await isMissing(broker.wiring.unbind(binding, asker.id));
  return done;
}

async function findByHash({ clock }: Asker, all: readonly Binding[], hash: string): Promise<Binding | undefined> {
  for (let i = 0; i < all.length; i += hashesInTurn) {
    const found = all.slice(i, i + hashesInTurn).find((one) => hashOf(one.arguments) === hash);
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => clock.after(0, resolve));
  }
  return undefined;
}

async function listBindings({ broker, vhost, clock }: Asker, query: URLSearchParams): Promise<Answer> {
  const [source, routingKey] = [query.get('src'), query.get('key')];
  const [exchange, queue] = [query.get('dste'), query.get('dstq')];
  const destination = exchange ?? queue;
  if (source === null || routingKey === null || destination === null)
    throw badRequest('bindings are asked for by src, key, and dstq or dste');
  const destinationKind = exchange === null ? 'queue' : 'exchange';
  const asked: Binding = { vhost, source, destination, destinationKind, routingKey, arguments: {} };
  const all = between(broker, asked);
  if (all.length > bindingsMax)
    throw badRequest(`${all.length} bindings: an answer has ${bindingsMax} at most; the HTTP API lists all`);
  const described: Value[] = [];
  for (let i = 0; i < all.length; i += hashesInTurn) {
    if (i > 0) await new Promise<void>((resolve) => clock.after(0, resolve));
    described.push(...all.slice(i, i + hashesInTurn).map(describeBinding));
  }
  return { status: '200', body: described };
}

/** Bindings with those ends and that key, whatever their arguments. */
function between(broker: Broker, { vhost, source, destination, destinationKind, routingKey }: Binding): Binding[] {
  return broker
    .bindingsTo(vhost, destinationKind, destination)
    .filter((binding) => binding.source === source && binding.routingKey === routingKey);
}

function mayBind({ broker, permissions }: Asker, binding: Binding): void {
  permitted(() => requireBinding(permissions, broker.isTopicExchange(binding.vhost, binding.source), binding));
}

/** Ends the session if the user may not. */
function permitted(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof RefusedError) throw new SessionError(Condition.unauthorizedAccess, error.message);
    throw error;
  }
}

function named(part: string): string {
  const name = decoded(part);
  if (Buffer.byteLength(name) > nameBytesMax) throw badRequest(`a name of more than ${nameBytesMax} bytes`);
  if (/[\r\n]/.test(name)) throw badRequest('a name with line feeds or carriage returns');
  return name;
}

function notDefault(exchange: string): string {
  if (exchange === '') throw new ManagementError('403', 'the default exchange is nobody’s to change');
  return exchange;
}

const statuses: Readonly<Partial<Record<Refusal, string>>> = {
  [Refusal.accessRefused]: '403',
  [Refusal.resourceError]: '403',
  [Refusal.preconditionFailed]: '409',
};

/** The answer to a request that was refused; undefined: it is a fault of the broker. */
export function refusalOf(error: unknown): Answer | undefined {
  if (error instanceof ManagementError) return { status: error.status, body: error.message };
  if (error instanceof RefusedError) return { status: statuses[error.kind] ?? '400', body: error.message };
  return undefined;
}
