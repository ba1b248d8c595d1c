/**
 * Commits transactions of this node's clients: routes all messages with the wiring of this moment, and gives each group that is concerned
 * its unit, all within one call. From then on each unit is its group's client's to bring there, like a publish (rule 14).
 *
 *   commit ── may all be routed now? ── no: again in some milliseconds
 *               └ yes ── returns ── replies ── one unit per group ── all safe ── committed
 */
import type { Clock, Timer } from '../../base/clock.js';
import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { enqueueLength, MessageParts } from '../../log/record.js';
import type { Arguments, Properties, PublishOwner, Route } from '../../model/broker.js';
import { setDelayed } from '../../model/delay/delayed-record.js';
import type { Delay } from '../../model/exchange/router.js';
import type { Transaction, TransactionMessage, TransactionPort } from '../../model/transaction.js';
import type { UnitMessage, UnitSettlement } from '../../model/unit.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { ClusterRoute } from './cluster-route.js';
import { ConfirmGate } from './confirm-gate.js';
import type { GroupClient } from './group-client.js';
import { QueueHolder } from './subscription.js';

const retryMs = 5;

export interface TransactionOptions {
  tables: WiringTables;
  clock: Clock;
  /** The protocol version in use. */
  version(): number;
  /** See Broker.route. */
  route(
    vhost: string,
    exchange: string,
    routingKey: string,
    headers: () => Arguments,
    moreKeys?: readonly string[],
    properties?: Properties,
  ): Route;
  reply(address: string, parts: MessageParts): void;
  /** So many bytes are published. */
  published(bytes: number): void;
}

/** What a transaction does in one group. */
interface Unit {
  readonly messages: UnitMessage[];
  readonly settlements: UnitSettlement[];
  readonly gates: Set<ConfirmGate>;
}

/** Tells a transaction's end when all of its units are answered. */
class Completion implements PublishOwner {
  private readonly transaction: Transaction;
  private left: number;
  private isRefused = false;

  constructor(transaction: Transaction, units: number) {
    this.transaction = transaction;
    this.left = units;
  }

  completed(): void {
    if (--this.left > 0) return;
    if (this.isRefused) this.transaction.failed(partial());
    else this.transaction.committed();
  }

  refused(): void {
    this.isRefused = true;
    this.completed();
  }
}

function partial(): RefusedError {
  const text =
    'partial tx completion: a queue is full and takes no more, or has too few replicas in sync (min-in-sync)';
  return new RefusedError(Refusal.preconditionFailed, text);
}

function tooFew(): RefusedError {
  const text = 'the transaction was not begun: too few replicas of a queue are in sync (min-in-sync)';
  return new RefusedError(Refusal.preconditionFailed, text);
}

function isEmpty(route: ClusterRoute | undefined): boolean {
  return route === undefined || (route.targets.length === 0 && route.replies === undefined);
}

function leadsNowhere(): RefusedError {
  return new RefusedError(Refusal.notFound, 'a message of the transaction reaches no queue any more');
}

export class Transactions implements TransactionPort {
  private readonly options: TransactionOptions;
  /** Those that cannot be routed yet: of each channel one at most. */
  private readonly waiting = new Set<Transaction>();
  private timer: Timer | undefined;

  constructor(options: TransactionOptions) {
    this.options = options;
  }

  check(): void {
    if (this.options.version() >= Feature.transactions) return;
    const text = 'transactions: there are nodes of an older program, which know none; bring all to this one first';
    throw new RefusedError(Refusal.notImplemented, text);
  }

  commit(transaction: Transaction): void {
    if (this.commitNow(transaction)) return;
    this.waiting.add(transaction);
    this.timer ??= this.options.clock.every(retryMs, () => this.retry());
  }

  /** The node stops. */
  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.waiting.clear();
  }

  private retry(): void {
    for (const transaction of this.waiting) {
      if (transaction.isAbandoned) transaction.failed(new RefusedError(Refusal.internalError, 'the channel is gone'));
      else if (!this.commitNow(transaction)) continue;
      this.waiting.delete(transaction);
    }
    if (this.waiting.size === 0) this.close();
  }

  /** False: some message cannot be routed yet, and nothing was done. */
  private commitNow(transaction: Transaction): boolean {
    const routes: (ClusterRoute | undefined)[] = [];
    for (const message of transaction.messages) {
      const route = this.route(transaction.vhost, message);
      if (route === 'later') return false;
      routes.push(route);
    }
    const error = this.whyNot(transaction, routes);
    if (error === undefined) this.send(transaction, routes);
    else transaction.failed(error);
    return true;
  }

  private whyNot({ mustRoute }: Transaction, routes: readonly (ClusterRoute | undefined)[]): RefusedError | undefined {
    if (routes.some((route) => route?.refusing !== undefined)) return tooFew();
    if (mustRoute === true && routes.some(isEmpty)) return leadsNowhere();
    return undefined;
  }

  /** Undefined: nowhere, since its exchange is gone. */
  private route(vhost: string, message: TransactionMessage): ClusterRoute | 'later' | undefined {
    const { exchange, routingKey, moreKeys, property } = message;
    try {
      const route = this.options.route(vhost, exchange, routingKey, () => message.headers(), moreKeys, property);
      return route instanceof ClusterRoute ? route : 'later';
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return undefined;
    }
  }

  private send(transaction: Transaction, routes: readonly (ClusterRoute | undefined)[]): void {
    const units = new Map<GroupClient, Unit>();
    transaction.messages.forEach((message, i) => {
      const { parts } = message;
      const { targets = [], replies = [] } = routes[i] ?? {};
      if (targets.length === 0) transaction.unroutable(message);
      for (const address of replies) this.options.reply(address, parts);
      for (const { client, incarnations, durable, gate, delay } of targets) {
        const unit = unitOf(units, client);
        const sent = delay === undefined ? parts : waiting(parts, delay);
        unit.messages.push({ parts: sent, incarnations, durable: durable && parts.persistent });
        unit.gates.add(gate);
      }
      this.options.published(enqueueLength(parts, 0));
    });
    for (const { holder, position, rejects } of transaction.takeSettlements()) {
      // What has no queue behind it has nothing to be settled.
      if (!(holder instanceof QueueHolder)) continue;
      unitOf(units, holder.client as GroupClient).settlements.push({
        incarnation: holder.incarnation,
        position,
        rejects,
      });
    }
    if (units.size === 0) return transaction.committed();
    const owner = new Completion(transaction, units.size);
    for (const [client, { messages, settlements, gates }] of units)
      client.transact(messages, settlements, owner, 0, this.gateOf(gates));
  }

  /** One gate for all that the queues want. */
  private gateOf(gates: ReadonlySet<ConfirmGate>): ConfirmGate | undefined {
    const [first] = gates;
    if (gates.size < 2) return first;
    const all = new ConfirmGate(this.options.tables);
    for (const gate of gates) all.join(gate);
    return all;
  }
}

/** The message as it waits for its time; its parts are its own. */
function waiting(parts: MessageParts, { exchange, delayMs }: Delay): MessageParts {
  const delayed = new MessageParts();
  setDelayed(delayed, parts, delayMs, exchange.vhost, exchange.name);
  return delayed;
}

function unitOf(units: Map<GroupClient, Unit>, client: GroupClient): Unit {
  let unit = units.get(client);
  if (unit === undefined) {
    unit = { messages: [], settlements: [], gates: new Set() };
    units.set(client, unit);
  }
  return unit;
}
