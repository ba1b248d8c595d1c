/** rhea, the AMQP 1.0 client of Node.js programs, with promises for the few steps that tests need. */
import { once } from 'node:events';
import rhea, { type Connection, type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import { within } from './within.js';

export type { Message } from 'rhea';

export const outcomes = ['accepted', 'released', 'rejected', 'modified'] as const;
export type OutcomeName = (typeof outcomes)[number];

export interface RheaOptions {
  port: number;
  host?: string;
  patienceMs?: number;
  /** More of rhea's own. */
  more?: object;
}

/** A message that has come, and what may be said of it. */
export interface Got {
  message: Message;
  accept(): void;
  release(): void;
  reject(): void;
}

export class RheaClient {
  readonly connection: Connection;
  readonly patienceMs: number;
  /** What went wrong, by event. */
  readonly errors: string[] = [];

  private constructor(connection: Connection, patienceMs: number) {
    this.connection = connection;
    this.patienceMs = patienceMs;
    for (const event of [
      'connection_error',
      'session_error',
      'sender_error',
      'receiver_error',
      'protocol_error',
      'error',
    ])
      connection.on(event, (context: EventContext) => this.errors.push(`${event}: ${describe(context)}`));
    connection.on('disconnected', () => {});
  }

  static async open({ port, host = '127.0.0.1', patienceMs = 10_000, more = {} }: RheaOptions): Promise<RheaClient> {
    const options = { port, host, username: 'guest', password: 'guest', reconnect: false, ...more };
    const connection = rhea.create_container().connect(options);
    const client = new RheaClient(connection, patienceMs);
    await within(patienceMs, 'rhea is connected', once(connection, 'connection_open'));
    return client;
  }

  /** A link to an address, with credit. */
  async sender(address: string, options: object = {}): Promise<RheaSender> {
    const sender = this.connection.open_sender({ target: address, autosettle: true, ...options } as never);
    await this.event(sender, 'sendable');
    return new RheaSender(sender, this.patienceMs);
  }

  /** A link from an address. @param credit 0: rhea's own window */
  async receiver(address: string, credit = 0, options: object = {}): Promise<RheaReceiver> {
    const window = credit === 0 ? {} : { credit_window: 0 };
    const receiver = this.connection.open_receiver({
      source: address,
      autoaccept: false,
      ...window,
      ...options,
    } as never);
    const inbox = new RheaReceiver(receiver, this.patienceMs);
    await this.event(receiver, 'receiver_open');
    if (credit > 0) receiver.add_credit(credit);
    return inbox;
  }

  /** Rejects with what went wrong instead. */
  private event(link: Sender | Receiver, name: string): Promise<unknown> {
    const refused = ['sender_error', 'receiver_error'].map(async (event) => {
      const [context] = (await once(link, event)) as [EventContext];
      throw new Error(describe(context));
    });
    return within(this.patienceMs, name, Promise.race([once(link, name), ...refused]));
  }

  async close(): Promise<void> {
    if (this.connection.is_closed()) return;
    const closed = once(this.connection, 'connection_close');
    this.connection.close();
    await within(this.patienceMs, 'rhea is closed', closed).catch(() => {});
  }
}

function describe({ error, connection, sender, receiver }: EventContext): string {
  const known = (error ?? sender?.error ?? receiver?.error ?? connection?.error) as
    | { condition?: string; description?: string }
    | undefined;
  return `${known?.condition ?? ''} ${known?.description ?? String(known)}`;
}

export class RheaSender {
  private readonly link: Sender;
  private readonly patienceMs: number;
  /** Who waits for what becomes of a delivery. */
  private readonly open = new Map<unknown, (outcome: OutcomeName) => void>();

  constructor(link: Sender, patienceMs: number) {
    this.link = link;
    this.patienceMs = patienceMs;
    for (const outcome of outcomes)
      link.on(outcome, ({ delivery }: EventContext) => {
        this.open.get(delivery)?.(outcome);
        this.open.delete(delivery);
      });
  }

  /** Resolves with the outcome. */
  async send(message: Message): Promise<OutcomeName> {
    if (!this.link.sendable()) await within(this.patienceMs, 'credit', once(this.link, 'sendable'));
    const told = new Promise<OutcomeName>((resolve) => this.open.set(this.link.send(message), resolve));
    return within(this.patienceMs, 'the outcome', told);
  }

  /** Sends them as fast as there is credit; resolves when all are accepted. */
  async sendAll(messages: readonly Message[]): Promise<void> {
    let accepted = 0;
    let sent = 0;
    const done = new Promise<void>((resolve, reject) => {
      const more = (): void => {
        while (sent < messages.length && this.link.sendable()) this.link.send(messages[sent++]!);
      };
      this.link.on('sendable', more);
      this.link.on('accepted', () => {
        if (++accepted === messages.length) resolve();
      });
      for (const other of ['released', 'rejected', 'modified']) this.link.on(other, () => reject(new Error(other)));
      more();
    });
    await within(this.patienceMs, `${messages.length} are accepted`, done);
  }

  async close(): Promise<void> {
    const closed = once(this.link, 'sender_close');
    this.link.close();
    await within(this.patienceMs, 'the sender is closed', closed);
  }
}

export class RheaReceiver {
  readonly link: Receiver;
  private readonly patienceMs: number;
  private readonly queue: Got[] = [];
  private waiting: (() => void) | undefined;

  constructor(link: Receiver, patienceMs: number) {
    this.link = link;
    this.patienceMs = patienceMs;
    link.on('message', ({ message, delivery }: EventContext) => {
      this.queue.push({
        message: message!,
        accept: () => delivery!.accept(),
        release: () => delivery!.release({ delivery_failed: false }),
        reject: () => delivery!.reject(),
      });
      this.waiting?.();
    });
  }

  get waitingCount(): number {
    return this.queue.length;
  }

  async next(): Promise<Got> {
    if (this.queue.length === 0)
      await within(this.patienceMs, 'a message comes', new Promise<void>((resolve) => (this.waiting = resolve)));
    return this.queue.shift()!;
  }

  /** The next so many, accepted. */
  async take(count: number): Promise<Message[]> {
    const messages: Message[] = [];
    while (messages.length < count) {
      const { message, accept } = await this.next();
      accept();
      messages.push(message);
    }
    return messages;
  }

  async close(): Promise<void> {
    const closed = once(this.link, 'receiver_close');
    this.link.close();
    await within(this.patienceMs, 'the receiver is closed', closed);
  }
}

/** A body that is bytes. */
export function bytes(text: string): unknown {
  return rhea.message.data_section(Buffer.from(text));
}

/** The text of a body that is bytes. */
export function textOf({ body }: Message): string {
  const { content } = body as { content: Buffer };
  return content.toString();
}
