/** Takes the messages of one queue and acks each a moment later, so that some are always held when a node dies. */
import { readBody } from './publisher.mjs';

const prefetch = 50;
const ackDelayMs = 5;

export class Consumer {
  #connection;
  #node;
  #closed = false;

  /**
   * @param {{id: number, nodes: import('./nodes.mjs').Nodes, ledger: import('./ledger.mjs').Ledger, queue: string}} options
   */
  constructor(options) {
    this.options = options;
    this.#node = options.id;
  }

  start() {
    void this.#connect();
  }

  async close() {
    this.#closed = true;
    await this.#connection?.close().catch(() => {});
  }

  async #connect() {
    const found = await this.options.nodes.connect(this.#node, () => !this.#closed);
    if (found === undefined) return;
    const { connection, node } = found;
    this.#connection = connection;
    connection.once('close', () => {
      this.options.ledger.connectionEnded(this.options.id);
      this.#node = node + 1;
      if (!this.#closed) void this.#connect();
    });
    try {
      const channel = await connection.createChannel();
      channel.on('error', () => {});
      channel.once('close', () => connection.close().catch(() => {}));
      await channel.prefetch(prefetch);
      await channel.consume(this.options.queue, (message) => {
        if (message === null)
          channel.close().catch(() => {}); // The broker has ended the subscription.
        else this.#received(channel, message, node);
      });
    } catch {
      await connection.close().catch(() => {});
    }
  }

  #received(channel, message, node) {
    const { ledger, queue: from, id: consumer } = this.options;
    const { redelivered } = message.fields;
    ledger.delivered({ ...readBody(message.content), from, consumer, node, redelivered });
    setTimeout(() => {
      try {
        channel.ack(message);
      } catch {
        // The channel is gone; the broker will deliver the message again, flagged.
      }
    }, ackDelayMs);
  }
}
