/**
 * What the client of a channel in tx mode has published and settled since its last commit or rollback.
 *
 *   tx.select ──► collecting ──tx.commit──► committing (the channel waits) ──commit-ok──► collecting
 *                     └──tx.rollback──► nothing of it was done; deliveries are the client's still, with their tags
 *
 * Deliveries stay in the channel's list until the commit is on its way: so they are given back if the channel ends, and counted against
 * its prefetch. Those that are to go back to their queue do so when the commit is safe.
 */
import { ownParts } from '../log/own-parts.js';
import type { MessageParts } from '../log/record.js';
import type { Arguments, Properties } from '../model/broker.js';
import type { Transaction, TransactionMessage, TransactionSettlement } from '../model/transaction.js';
import { carbonKeys, shownHeaders } from './carbon-copies.js';
import type { ChannelHost } from './channel-host.js';
import { MethodId, ProtocolError, PropertyView, type PublishView, ReplyCode } from './codec/index.js';
import type { Deliveries } from './deliveries.js';
import { propertyText } from './header-codec.js';
import { Outcome } from '../model/unacked.js';

/** What the channel does at a commit's end, and before it. */
export interface TransactionOwner {
  returned(message: MessageParts): void;
  committed(): void;
  failed(error: Error): void;
}

/** Memory that each publish or settlement takes, besides its bytes. */
const overheadBytes = 512;

class StagedMessage implements TransactionMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly moreKeys: readonly string[] | undefined;
  readonly mandatory: boolean;
  readonly parts: MessageParts;

  constructor(method: PublishView, properties: PropertyView, parts: MessageParts) {
    this.exchange = method.exchange();
    this.routingKey = method.routingKey();
    this.mandatory = method.mandatory;
    this.moreKeys = properties.routingFields === 0 ? undefined : carbonKeys(properties);
    this.parts = ownParts(parts);
  }

  get bytes(): number {
    const { metaLength, headerLength, bodyLength } = this.parts;
    return metaLength + headerLength + bodyLength + overheadBytes;
  }

  headers(): Arguments {
    return shownHeaders(this.properties());
  }

  readonly property: Properties = (name) => propertyText(this.properties(), name);

  private properties(): PropertyView {
    const { headerBytes, headerLength } = this.parts;
    return new PropertyView().set(headerBytes, 0, headerLength);
  }
}

export class ChannelTransaction implements Transaction {
  readonly vhost: string;
  messages: StagedMessage[] = [];
  /** The channel has ended. */
  isAbandoned = false;
  private readonly host: ChannelHost;
  private readonly deliveries: Deliveries;
  private readonly owner: TransactionOwner;
  /** What is to become of deliveries, by tag. */
  private staged = new Map<number, Outcome>();
  private bytes = 0;

  constructor(host: ChannelHost, deliveries: Deliveries, owner: TransactionOwner) {
    this.host = host;
    this.vhost = host.vhost;
    this.deliveries = deliveries;
    this.owner = owner;
  }

  /** `parts` are the message as it is to be published; they are copied. Throws ProtocolError 406 if it is too much. */
  publish(method: PublishView, properties: PropertyView, parts: MessageParts): void {
    const message = new StagedMessage(method, properties, parts);
    this.grow(message.bytes, MethodId.basicPublish);
    this.messages.push(message);
  }

  /** The same as Deliveries.settle, for later: false, and nothing is noted, if the delivery is not outstanding. */
  settle(tag: number, multiple: boolean, outcome: Outcome): boolean {
    const { staged, deliveries } = this;
    if (tag !== 0 || !multiple) {
      if (!deliveries.holds(tag) || staged.has(tag)) return false;
    }
    if (!multiple) this.stage(tag, outcome);
    else
      for (const one of deliveries.tagsUpTo(tag === 0 ? Number.POSITIVE_INFINITY : tag))
        if (!staged.has(one)) this.stage(one, outcome);
    return true;
  }

  private stage(tag: number, outcome: Outcome): void {
    this.grow(overheadBytes, MethodId.txCommit);
    this.staged.set(tag, outcome);
  }

  /** Gives back what is held and not settled in this transaction. */
  recover(): void {
    for (const tag of this.deliveries.tagsUpTo(Number.POSITIVE_INFINITY))
      if (!this.staged.has(tag)) this.deliveries.settle(tag, false, Outcome.requeue);
  }

  /** The owner is told how it ends, perhaps within this call. */
  commit(): void {
    this.host.broker.transactions.commit(this);
  }

  rollback(): void {
    this.reset();
  }

  /** The channel ends: what is not on its way yet is not done. */
  close(): void {
    this.isAbandoned = true;
    this.reset();
  }

  // For its commit

  takeSettlements(): TransactionSettlement[] {
    const settlements: TransactionSettlement[] = [];
    for (const [tag, outcome] of this.staged) {
      if (outcome === Outcome.requeue) continue;
      const rejects = outcome === Outcome.reject;
      this.deliveries.take(tag, (holder, position) => settlements.push({ holder, position, rejects }));
    }
    return settlements;
  }

  unroutable(message: TransactionMessage): void {
    if (!this.isAbandoned && (message as StagedMessage).mandatory) this.owner.returned(message.parts);
  }

  committed(): void {
    for (const [tag, outcome] of this.staged)
      if (outcome === Outcome.requeue) this.deliveries.settle(tag, false, Outcome.requeue);
    this.reset();
    this.owner.committed();
  }

  failed(error: Error): void {
    this.owner.failed(error);
  }

  private grow(bytes: number, methodId: number): void {
    const { transactionBytesMax, transactionSizeMax } = this.host.limits;
    if (this.messages.length + this.staged.size >= transactionSizeMax)
      throw tooMuch(`${transactionSizeMax} publishes and acknowledgements`, methodId);
    // One message may be as large as any.
    if (this.messages.length > 0 && this.bytes + bytes > transactionBytesMax)
      throw tooMuch(`${transactionBytesMax} bytes`, methodId);
    this.host.partials.add(this.host, bytes);
    this.bytes += bytes;
  }

  private reset(): void {
    this.host.partials.remove(this.host, this.bytes);
    this.bytes = 0;
    this.messages = [];
    this.staged = new Map();
  }
}

function tooMuch(what: string, methodId: number): ProtocolError {
  const text = `the transaction has more than ${what}, which is the most: commit more often`;
  return new ProtocolError(ReplyCode.preconditionFailed, text, methodId);
}
