import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { replicateArguments } from '../policy/definition.js';
import { argument, describeArgument } from './arguments.js';
import { nameKey } from './footprint.js';
import { isDurable, type QueueObject, QueueType } from './objects.js';
import {
  type ConnectionClosed,
  type DeclareQueue,
  type DeleteQueue,
  ownerOf,
  type QueueUnused,
  type QueueUsed,
} from './operations.js';
import {
  checkEquivalent,
  checkMayUse,
  checkNameLength,
  checkNodeLives,
  checkNotReserved,
  type DeclarationContext,
  describeQueue,
  inequivalent,
  locked,
  NotYet,
  notFound,
  type Planner,
} from './planner.js';
import { checkQueueArguments, differingQueueArgument, queueType, typeArgument } from './queue-arguments.js';

export function planDeclareQueue(planner: Planner, asked: DeclareQueue): void {
  const { vhost, name } = asked;
  planner.checkVhost(vhost);
  if (!asked.passive && !asked.serverNamed) checkNotReserved('queue', name);
  const current = planner.queue(vhost, name);
  if (asked.passive) {
    if (current === undefined) throw notFound(describeQueue(vhost, name));
    checkMayUse(current, asked.connection);
    planner.about(current);
    return;
  }
  const declaration = withDefaultType(asked, planner.tables.vhostNamed(vhost)?.defaultQueueType, current);
  if (current !== undefined) {
    checkSameQueue(current, declaration);
    planner.about(current);
    return;
  }
  checkNewQueue(planner.context, declaration);
  checkQueueLimit(planner, declaration);
  const owner = ownerOf(declaration.connection);
  if (declaration.exclusive) {
    // A declaration must not come after the end of its connection, or nobody would delete the queue.
    planner.footprint.reads(nameKey.connection(declaration.connection));
    checkNodeLives(planner, declaration.connection, describeQueue(vhost, name));
  }
  planner.footprint.writes(nameKey.queue(vhost, name));
  const queue: QueueObject = {
    kind: 'queue',
    position: 0,
    vhost,
    name,
    durable: declaration.durable,
    owner: declaration.exclusive ? declaration.connection : '',
    autoDelete: declaration.autoDelete,
    arguments: declaration.arguments,
    group: 0,
  };
  const group = planner.context.chooseGroup(queue, owner?.node ?? '');
  if (group === undefined) throw new NotYet('a group for the queue is being made');
  planner.group = group;
  const { size } = planner.tables.settings.ofNew(queue);
  planner.create({
    ...queue,
    group: planner.group,
    ...(size === undefined || declaration.exclusive ? {} : { replicas: size }),
  });
}

/**
 * Without a type in its arguments a queue has the vhost's; what is there already has the type that it has. A queue that a quorum queue
 * cannot be is left as it is, as in RabbitMQ.
 */
export function withDefaultType(
  declaration: DeclareQueue,
  type: QueueType | undefined,
  current: QueueObject | undefined,
): DeclareQueue {
  const { arguments: table, durable, exclusive, autoDelete } = declaration;
  if (type === undefined || Object.hasOwn(table, typeArgument)) return declaration;
  if (current !== undefined) {
    const own = argument(current.arguments, typeArgument);
    return own === undefined ? declaration : { ...declaration, arguments: { ...table, [typeArgument]: own } };
  }
  if (type === QueueType.quorum && (!durable || exclusive || autoDelete)) return declaration;
  return { ...declaration, arguments: { ...table, [typeArgument]: type } };
}

/** What can be said of a new queue before it is known what there is. @throws RefusedError precondition-failed, not-implemented */
export function checkNewQueue(context: DeclarationContext, declaration: DeclareQueue): void {
  const { vhost, name } = declaration;
  checkNameLength('queue name', name);
  checkQueueArguments(declaration.arguments, describeQueue(vhost, name));
  checkReplicas(context, declaration);
  checkQuorum(declaration);
}

/** @throws RefusedError precondition-failed, resource-locked if the declaration is of another queue than the one that is there. */
export function checkSameQueue(current: QueueObject, declaration: DeclareQueue): void {
  const what = describeQueue(current.vhost, current.name);
  if (current.owner !== (declaration.exclusive ? declaration.connection : '')) throw locked(current);
  checkEquivalent('durable', what, declaration.durable, current.durable);
  checkEquivalent('auto_delete', what, declaration.autoDelete, current.autoDelete);
  const key = differingQueueArgument(current.arguments, declaration.arguments);
  if (key === undefined) return;
  throw inequivalent(
    key,
    what,
    describeArgument(argument(declaration.arguments, key)),
    describeArgument(argument(current.arguments, key)),
  );
}

/** Quorum queues are for data that must stay: durable, nobody's own, never deleted by themselves. */
function checkQuorum(declaration: DeclareQueue): void {
  if (queueType(declaration.arguments) !== 'quorum') return;
  const wrong = declaration.autoDelete
    ? 'auto-delete'
    : declaration.exclusive
      ? 'exclusive-owner'
      : declaration.durable
        ? ''
        : 'non-durable';
  if (wrong === '') return;
  throw new RefusedError(
    Refusal.preconditionFailed,
    `invalid property '${wrong}' for ${describeQueue(declaration.vhost, declaration.name)}: ` +
      'a quorum queue is durable, not exclusive and not auto-delete',
  );
}

/** Neither what can never be confirmed, nor what not all nodes understand. */
function checkReplicas(context: DeclarationContext, declaration: DeclareQueue): void {
  const replicas = Number(argument(declaration.arguments, 'x-replicas') ?? context.replicasMax());
  const what = describeQueue(declaration.vhost, declaration.name);
  const isAsked = ['x-replicas', ...replicateArguments].find((key) => Object.hasOwn(declaration.arguments, key));
  if (isAsked !== undefined && context.version() < Feature.groupSizes)
    throw new RefusedError(
      Refusal.preconditionFailed,
      `${what} cannot be declared with '${isAsked}' while the cluster speaks protocol version ${context.version()}: it takes ${Feature.groupSizes}, which is spoken when all nodes do`,
    );
  const wanted = Number(argument(declaration.arguments, 'x-min-in-sync') ?? 1);
  if (wanted <= replicas) return;
  throw new RefusedError(
    Refusal.preconditionFailed,
    `invalid arg 'x-min-in-sync' for ${what}: ${wanted} was received, ` +
      `and it has ${replicas} replicas: nothing would ever be confirmed`,
  );
}

/** Where their number is limited, queues of a vhost come one after the other. */
function checkQueueLimit({ tables, footprint }: Planner, { vhost, name }: DeclareQueue): void {
  const max = tables.access.limit('vhost', vhost, 'max-queues');
  if (max === undefined) return;
  footprint.writes(nameKey.queueCount(vhost));
  if (tables.queueCount(vhost) < max) return;
  throw new RefusedError(
    Refusal.preconditionFailed,
    `cannot declare queue '${name}': queue limit in vhost '${vhost}' (${max}) is reached`,
  );
}

export function planDeleteQueue(planner: Planner, deletion: DeleteQueue): void {
  planner.checkVhost(deletion.vhost);
  const queue = planner.queue(deletion.vhost, deletion.name);
  if (queue === undefined) return;
  checkMayUse(queue, deletion.connection);
  // It may have moved since it was looked up.
  const { position, movesFrom } = queue;
  if (deletion.incarnation !== 0 && deletion.incarnation !== position && deletion.incarnation !== movesFrom) return;
  planner.about(queue);
  planner.removal.queue(queue);
}

export function planConnectionClosed(planner: Planner, closed: ConnectionClosed): void {
  planner.footprint.writes(nameKey.connection(closed.connection));
  for (const queue of planner.tables.queuesOwnedBy(closed.connection)) planner.removal.queue(queue);
}

export function planQueueUsed(planner: Planner, used: QueueUsed): void {
  const queue = planner.tables.queueAt(used.incarnation);
  if (queue?.autoDelete !== true || isLeft(planner, queue)) return;
  planner.footprint.writes(nameKey.queue(queue.vhost, queue.name));
  planner.about(queue);
  if (planner.tables.useOf(queue.position) !== undefined) return;
  planner.creates.push({ kind: 'use', position: 0, queue: queue.position, durable: isDurable(queue) });
}

export function planQueueUnused(planner: Planner, unused: QueueUnused): void {
  const queue = planner.tables.queueAt(unused.incarnation);
  if (queue === undefined || isLeft(planner, queue)) return;
  if (!queue.autoDelete && planner.tables.settings.of(queue).unusedMs === Number.POSITIVE_INFINITY) return;
  planner.about(queue);
  planner.removal.queue(queue);
}

/** It moves away, and its consumers with it: those that it has now are the broker's own. */
function isLeft({ tables }: Planner, queue: QueueObject): boolean {
  return tables.moves.from(queue.position) !== undefined;
}
