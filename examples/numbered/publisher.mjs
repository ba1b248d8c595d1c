/**
 * Publishes numbered, persistent messages to all queues in turn, and keeps each until it is confirmed. When its node goes, it
 * connects to another one and sends again what was not confirmed, in order, before anything new.
 */
export class Publisher {
  #connection;
  #channel;
  #node;
  #running = true;
  #closed = false;
  /** Number → body, in the order of sending: what is not confirmed yet. */
  #unconfirmed = new Map();
  #allowance = 0;
  #tickedAt = performance.now();
  #timer;
  #lastConfirmAt = performance.now();

  /**
   * @param {{id: number, nodes: import('./nodes.mjs').Nodes, ledger: import('./ledger.mjs').Ledger, queues: string[],
   *   window: number, rate: number,
   *   waitingMax: number, size: number, gap: (ms: number) => void}} options `window`: unconfirmed messages at most;
   *   `rate`: messages a second at most, 0: no limit; `waitingMax`: publishes only while so many are waiting at most, 0: no limit;
   *   `size`: bytes of a body; `gap`: told how long confirms have not come
   */
  constructor(options) {
    this.options = options;
    this.#node = options.id;
  }

  start() {
    this.#timer = setInterval(() => this.#tick(), tickMs);
    void this.#connect();
  }

  /** No new messages; resolves when everything is confirmed, or after `patienceMs`. */
  async finish(patienceMs) {
    this.#running = false;
    const deadline = performance.now() + patienceMs;
    while (this.#unconfirmed.size > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#connection?.close().catch(() => {});
  }

  async #connect() {
    const { nodes } = this.options;
    const found = await nodes.connect(this.#node, () => !this.#closed);
    if (found === undefined) return;
    const { connection, node } = found;
    this.#connection = connection;
    connection.once('close', () => {
      this.#node = node + 1;
      if (!this.#closed) void this.#connect();
    });
    try {
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => {});
      channel.once('close', () => {
        this.#channel = undefined;
        connection.close().catch(() => {});
      });
      channel.on('return', (message) =>
        this.options.ledger.unroutable(this.options.id, readBody(message.content).number),
      );
      channel.on('drain', () => this.#pump());
      this.#channel = channel;
      for (const number of this.#unconfirmed.keys()) this.#send(number);
      this.#pump();
    } catch {
      await connection.close().catch(() => {});
    }
  }

  #tick() {
    const { rate, window } = this.options;
    const now = performance.now();
    this.#allowance = Math.min(this.#allowance + (rate * (now - this.#tickedAt)) / 1000, window);
    this.#tickedAt = now;
    this.#pump();
  }

  /** Sends new messages as far as window and rate allow. */
  #pump() {
    const { ledger, id, queues, window, rate, waitingMax, size } = this.options;
    while (
      this.#running &&
      this.#channel !== undefined &&
      this.#unconfirmed.size < window &&
      (rate === 0 || this.#allowance >= 1) &&
      (waitingMax === 0 || ledger.waiting < waitingMax)
    ) {
      this.#allowance--;
      // Without anything to be confirmed there is no gap.
      if (this.#unconfirmed.size === 0) this.#lastConfirmAt = performance.now();
      const number = ledger.issue(id);
      const queue = queues[number % queues.length];
      this.#unconfirmed.set(number, { queue, body: writeBody({ publisher: id, number, queue }, size) });
      if (!this.#send(number)) return;
    }
  }

  /** False if the socket is full: 'drain' goes on. */
  #send(number) {
    const { ledger, id } = this.options;
    const { queue, body } = this.#unconfirmed.get(number);
    const channel = this.#channel;
    ledger.sent(id, number);
    return channel.publish('', queue, body, { persistent: true, mandatory: true }, (error) => {
      if (error === null) this.#confirmed(number);
      else setTimeout(() => this.#channel === channel && this.#send(number), refusedMs);
    });
  }

  #confirmed(number) {
    const { ledger, id, gap } = this.options;
    if (!this.#unconfirmed.delete(number)) return;
    ledger.confirmed(id, number);
    const now = performance.now();
    gap(now - this.#lastConfirmAt);
    this.#lastConfirmAt = now;
    this.#pump();
  }
}

const tickMs = 10;
/** A message that was refused is sent again after this, if its channel is still there; else a new one sends it. */
const refusedMs = 100;

/** The message as JSON, filled up with spaces to `size` bytes. */
export function writeBody(message, size) {
  return Buffer.from(JSON.stringify(message).padEnd(size));
}

/** @returns {{publisher: number, number: number, queue: string}} */
export function readBody(content) {
  return JSON.parse(content.toString());
}
