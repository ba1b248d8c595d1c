/** Management over AMQP as RabbitMQ 4's clients do it, by rhea: a pair of links at /management. rhea cannot have two links of one name. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import rhea, { type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import type { RheaClient } from './rhea-client.js';
import { within } from './within.js';

export interface Answered {
  status: number;
  /** Of a map the fields; of an error its text. */
  body: unknown;
  message: Message;
}

export type Body = Record<string, unknown> | null;

const properties = { paired: true };

export class Management10 {
  readonly sender: Sender;
  private readonly receiver: Receiver;
  private readonly patienceMs: number;
  private readonly asked = new Map<string, (answer: Answered) => void>();

  private constructor(sender: Sender, receiver: Receiver, patienceMs: number) {
    this.sender = sender;
    this.receiver = receiver;
    this.patienceMs = patienceMs;
    receiver.on('message', ({ message }: EventContext) => {
      const { correlation_id: id, subject, body } = message!;
      this.asked.get(String(id))?.({ status: Number(subject), body: body as unknown, message: message! });
    });
  }

  /** @param settles the client: it sends requests settled, as RabbitMQ's clients do */
  static async open({ connection, patienceMs }: RheaClient, settles = true): Promise<Management10> {
    const session = connection.create_session();
    session.begin();
    const mode = { snd_settle_mode: settles ? 1 : 0, properties };
    const sender = session.open_sender({ target: '/management', ...mode } as never);
    const receiver = session.open_receiver({ source: '/management', ...mode, snd_settle_mode: 1 } as never);
    const opened = Promise.all([once(sender, 'sendable'), once(receiver, 'receiver_open')]);
    await within(patienceMs, 'the pair is attached', opened);
    return new Management10(sender, receiver, patienceMs);
  }

  async request(method: string, to: string, body: Body = null): Promise<Answered> {
    const id = randomUUID();
    const answer = new Promise<Answered>((resolve) => this.asked.set(id, resolve));
    const value = body === null ? null : (rhea.types as unknown as { wrap_map(map: object): unknown }).wrap_map(body);
    this.sender.send({ message_id: id, subject: method, to, reply_to: '$me', body: value } as never);
    return await within(this.patienceMs, `an answer to ${method} ${to}`, answer);
  }

  /** No more answers are taken until `add`. */
  get receiverLink(): Receiver {
    return this.receiver;
  }
}
