/** The wiring as this node's protocols use it: operations go to the primary of the system group, messages to their groups. */
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { Random } from '../../base/random.js';
import type { Binding, ConnectionId, ExchangeDeclaration, QueueDeclaration, QueueInfo } from '../../model/broker.js';
import type { QueueUse } from '../../model/group-port.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import type { WiringOperation } from '../../model/wiring/operations.js';
import { describeQueue } from '../../model/wiring/planner.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { ConnectionWiring } from '../client/cluster-broker.js';
import type { GroupClients } from '../client/group-clients.js';
import { QueueContents } from '../client/queue-contents.js';
import type { QueueAccess } from '../client/queue-access.js';
import { queueRefused } from '../client/refusal.js';
import type { WiringClient } from './wiring-client.js';

export interface ClusterWiringOptions {
  tables: WiringTables;
  client: WiringClient;
  clients: GroupClients;
  queues: QueueAccess;
  random: Random;
  logger: Logger;
}

/** Characters of a server-given name after `amq.gen-`. */
const generatedLength = 22;

export class ClusterWiring implements ConnectionWiring {
  private readonly options: ClusterWiringOptions;
  private readonly tables: WiringTables;
  private readonly contents: QueueContents;
  /** Connections that declared exclusive queues, with the number of such declarations that are not answered yet. */
  private readonly exclusive = new Map<ConnectionId, number>();
  private readonly closing = new Set<ConnectionId>();

  constructor(options: ClusterWiringOptions) {
    this.options = options;
    this.tables = options.tables;
    this.contents = new QueueContents(options.tables, options.clients);
  }

  async declareExchange(declaration: ExchangeDeclaration): Promise<void> {
    await this.options.client.run({ op: 'declareExchange', ...declaration });
  }

  async deleteExchange(vhost: string, name: string, options: { ifUnused: boolean }): Promise<void> {
    const position = this.tables.exchange(vhost, name)?.position ?? 0;
    await this.options.client.run({ op: 'deleteExchange', vhost, name, ifUnused: options.ifUnused, position });
  }

  async declareQueue(declaration: QueueDeclaration): Promise<QueueInfo> {
    const { vhost, connection } = declaration;
    if (declaration.passive) {
      const queue = await this.options.queues.usableSoon(vhost, declaration.name, connection);
      return this.info(queue);
    }
    const isNameless = declaration.name === '';
    const name = isNameless ? `amq.gen-${this.options.random.hex(generatedLength)}` : declaration.name;
    const serverNamed = isNameless || declaration.serverNamed === true;
    const before = this.tables.queue(vhost, name);
    const operation = { op: 'declareQueue', ...declaration, name, serverNamed } as const;
    if (!declaration.exclusive) await this.options.client.run(operation);
    else await this.ofConnection(connection, () => this.options.client.run(operation));
    const queue = this.tables.queue(vhost, name);
    // A queue that was not there before is empty: no need to ask its group.
    if (queue === undefined || before === undefined) return { name, messages: 0, consumers: 0 };
    return this.info(queue);
  }

  async deleteQueue(
    vhost: string,
    name: string,
    options: { ifUnused: boolean; ifEmpty: boolean; connection: ConnectionId },
  ): Promise<number> {
    const { connection } = options;
    // It is a certain queue that is deleted, not a name: with old wiring it could be one that is gone already.
    await this.options.queues.current();
    if (this.tables.queue(vhost, name) === undefined) return 0;
    const queue = await this.options.queues.usableSoon(vhost, name, connection);
    const { ready, consumers, unacknowledged } = await this.contents.count(queue);
    if (options.ifUnused && consumers > 0) throw preconditionFailed(queue, 'in use');
    if (options.ifEmpty && ready + unacknowledged > 0) throw preconditionFailed(queue, 'not empty');
    await this.options.client.run({ op: 'deleteQueue', vhost, name, incarnation: queue.position, connection });
    return ready;
  }

  async bind(binding: Binding, connection: ConnectionId): Promise<void> {
    await this.options.client.run({ op: 'bind', ...binding, connection });
  }

  async unbind(binding: Binding, connection: ConnectionId): Promise<void> {
    await this.options.client.run({ op: 'unbind', ...binding, connection });
  }

  async purgeQueue(vhost: string, name: string, connection: ConnectionId): Promise<number> {
    const queue = await this.options.queues.usableSoon(vhost, name, connection);
    const { count, refusal } = await this.contents.purge(queue);
    if (refusal !== '') throw queueRefused(refusal, vhost, name);
    return count;
  }

  connectionClosed(connection: ConnectionId): void {
    const unanswered = this.exclusive.get(connection);
    if (unanswered === undefined) return;
    if (unanswered > 0) this.closing.add(connection);
    else this.end(connection);
  }

  /**
   * The primary of the queue's group tells of its consumers: an auto-delete queue that has had one and has none is to go. That it
   * has had one is part of the wiring, so that a later primary knows it; nobody takes over a connection's own queues.
   */
  queueUse(incarnation: number, { kind, holds }: QueueUse): void {
    const queue = this.tables.queueAt(incarnation);
    if (kind === 'expired') return void this.persist({ op: 'queueUnused', incarnation }, holds);
    if (queue?.autoDelete !== true) return;
    const isMarked = this.tables.useOf(incarnation) !== undefined;
    if (kind === 'used') {
      if (!isMarked && queue.owner === '') void this.persist({ op: 'queueUsed', incarnation }, holds);
    } else if (kind === 'unused' || isMarked) void this.persist({ op: 'queueUnused', incarnation }, holds);
  }

  private async info(queue: QueueObject): Promise<QueueInfo> {
    const { ready, consumers } = await this.contents.count(queue, true);
    return { name: queue.name, messages: ready, consumers };
  }

  /** Runs a declaration whose outcome must be undone when the connection ends, even if it ends before the answer. */
  private async ofConnection<T>(connection: ConnectionId, run: () => Promise<T>): Promise<T> {
    this.exclusive.set(connection, (this.exclusive.get(connection) ?? 0) + 1);
    try {
      return await run();
    } finally {
      const left = this.exclusive.get(connection)! - 1;
      this.exclusive.set(connection, left);
      if (left === 0 && this.closing.delete(connection)) this.end(connection);
    }
  }

  private end(connection: ConnectionId): void {
    this.exclusive.delete(connection);
    void this.persist({ op: 'connectionClosed', connection });
  }

  /** Nobody waits for it, but it must be done: says it until it is answered, there is no reason any more, or the node stops. */
  private async persist(operation: WiringOperation, isWanted?: () => boolean): Promise<void> {
    try {
      await this.options.client.run(operation, Number.POSITIVE_INFINITY, isWanted);
    } catch (error) {
      this.options.logger.debug(`${operation.op} was given up`, { reason: (error as Error).message });
    }
  }
}

function preconditionFailed(queue: QueueObject, why: string): RefusedError {
  return new RefusedError(Refusal.preconditionFailed, `${describeQueue(queue.vhost, queue.name)} ${why}`);
}
