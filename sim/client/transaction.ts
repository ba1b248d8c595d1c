import type { Transaction, TransactionMessage, TransactionSettlement } from '../../src/model/transaction.js';
import type { Arguments, Holder } from '../../src/model/broker.js';
import { MessageParts } from '../../src/log/record.js';
import type { Delivery, Message } from '../history.js';
import type { PublishRequest } from './session.js';
import { encodeMessage } from './message.js';

/** What a client wants to have done at once: messages taken, others published. */
export class ClientTransaction {
  readonly inputs: readonly Delivery[];
  readonly outputs: readonly Message[];
  /** When the client was told that it is done; -1 = it was not. */
  committedAt = -1;

  constructor(inputs: readonly Delivery[], outputs: readonly Message[]) {
    this.inputs = inputs;
    this.outputs = outputs;
  }

  toString(): string {
    return `transaction [${this.inputs.map(({ copy }) => copy).join(', ')}] -> [${this.outputs.join(', ')}]`;
  }
}

interface Sent extends TransactionMessage {
  readonly request: PublishRequest;
}

/** One of them on its way through the broker, as the protocol layer would bring it there. */
export class SessionTransaction implements Transaction {
  readonly vhost = '/';
  readonly messages: readonly Sent[];
  private readonly inputs: readonly Delivery[];
  private readonly held: Map<Delivery, Holder>;
  private readonly isClosed: () => boolean;
  private readonly answered: (error?: Error) => void;
  readonly nowhere: Set<Message> = new Set();

  /** @param held what the session's client holds */
  constructor(
    requests: readonly PublishRequest[],
    publisherNumber: (name: string) => number,
    inputs: readonly Delivery[],
    held: Map<Delivery, Holder>,
    isClosed: () => boolean,
    answered: (error?: Error) => void,
  ) {
    this.inputs = inputs;
    this.held = held;
    this.isClosed = isClosed;
    this.answered = answered;
    this.messages = requests.map((request) => {
      const { message, exchange, routingKey, paddingBytes } = request;
      const parts = new MessageParts();
      const wire = { publisher: publisherNumber(message.publisher), number: message.number };
      encodeMessage(parts, wire, exchange, routingKey, message.persistent, paddingBytes, message.labels);
      const headers = (): Arguments => ({});
      return { exchange, routingKey, moreKeys: undefined, parts, headers, request };
    });
  }

  get isAbandoned(): boolean {
    return this.isClosed();
  }

  takeSettlements(): TransactionSettlement[] {
    const taken: TransactionSettlement[] = [];
    for (const delivery of this.inputs) {
      const holder = this.held.get(delivery);
      if (holder === undefined) continue;
      this.held.delete(delivery);
      taken.push({ holder, position: delivery.position, rejects: delivery.state === 'rejected' });
    }
    return taken;
  }

  unroutable(message: TransactionMessage): void {
    this.nowhere.add((message as Sent).request.message);
  }
  committed(): void {
    this.answered();
  }
  failed(error: Error): void {
    this.answered(error);
  }
}
