import { ClientTransaction } from '../client/transaction.js';
import type { Consumer } from '../client/session.js';
import { type Delivery, Message } from '../history.js';
import type { SimNode } from '../node.js';
import type { SimWorld, Stirred } from '../world.js';
import { Actor } from './actor.js';

/** Queues from which transactors take, and into which they publish. */
export const transactionInput = 'tx-in';
export const transactionOutputs: readonly string[] = ['tx-out', 'tx-next'];

/** Takes messages from one queue and publishes others, in one transaction; again and again, never the same one twice. */
export class Transactor extends Actor implements Stirred {
  private held: { delivery: Delivery; consumer: Consumer }[] = [];
  private connections = 0;
  private publisher = '';
  private nextNumber = 1;
  private stirred: () => void = () => {};

  constructor(world: SimWorld, name: string) {
    super(world, name);
  }

  get at(): SimNode | undefined {
    return this.connection?.node;
  }

  stir(): void {
    this.stirred();
  }

  async run(): Promise<void> {
    this.world.onTrouble.add(this);
    while (!this.stopping) if (!(await this.work())) await this.sleep(20, 200);
    this.world.onTrouble.delete(this);
    this.disconnect();
  }

  override lost(): void {
    super.lost();
    this.held = [];
  }

  override delivered(delivery: Delivery, consumer: Consumer): void {
    this.held.push({ delivery, consumer });
  }

  override cancelled(): void {
    this.disconnect();
    this.held = [];
  }

  /** Consumes as long as the connection is there. */
  private async work(): Promise<boolean> {
    const connection = await this.connected();
    // A name for each connection: what another one sent may still be on its way, and comes in no order with this.
    this.publisher = `${this.name}.${++this.connections}`;
    this.world.publisherNumber(this.publisher);
    this.nextNumber = 1;
    this.held = [];
    const life = this.world.history.newestLife(transactionInput);
    const consumer: Consumer = {
      id: this.world.nextConsumer++,
      queue: transactionInput,
      noAck: false,
      life: life?.life ?? 0,
      subscription: undefined,
    };
    const credit = this.random.pick([2, 5, 20]);
    const request = connection.request((session) => session.consume(consumer, credit));
    const outcome = await this.patiently('consume', connection, request);
    if (outcome.kind !== 'ok') return false;
    while (!this.stopping && this.connection === connection && connection.isOpen) {
      await this.pause();
      if (connection.isOpen && this.connection === connection && this.held.length > 0) await this.transact();
    }
    return true;
  }

  private pause(): Promise<void> {
    return Promise.race([this.sleep(1, 60), new Promise<void>((resolve) => (this.stirred = resolve))]);
  }

  private async transact(): Promise<void> {
    const connection = this.connection!;
    const { history } = this.world;
    const taken = this.held.splice(0, 1 + this.random.int(3)).filter(({ delivery }) => delivery.state === 'held');
    const outputs = Array.from({ length: this.random.int(4) }, () => {
      const queue = this.random.pick(transactionOutputs);
      const message = new Message(this.publisher, this.nextNumber++, true, [history.newestLife(queue)!]);
      history.message(message);
      return { message, queue };
    });
    if (taken.length + outputs.length === 0) return;
    const transaction = new ClientTransaction(
      taken.map(({ delivery }) => delivery),
      outputs.map(({ message }) => message),
    );
    history.transactions.push(transaction);
    for (const { delivery } of taken) history.settle(delivery, this.random.chance(0.9) ? 'acked' : 'rejected');
    const requests = outputs.map(({ message, queue }) => ({
      message,
      send: history.sent(message, connection.node.name),
      exchange: '',
      routingKey: queue,
      paddingBytes: this.random.int(this.random.chance(0.05) ? 100_000 : 200),
    }));
    const request = connection.request((session) => session.transact(requests, transaction.inputs));
    const outcome = await this.patiently('commit', connection, request);
    this.world.trace.add(this.name, `${transaction}: ${outcome.kind}`);
    if (outcome.kind === 'ok') transaction.committedAt = this.world.loop.now;
    for (const { consumer } of taken) connection.grant(consumer);
  }
}
