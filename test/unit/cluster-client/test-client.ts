import type { EnqueueView } from '../../../src/log/record.js';
import type {
  ConsumeRequest,
  DeliverySink,
  GetRequest,
  Holder,
  PublishOwner,
  Subscription,
} from '../../../src/model/broker.js';
import { message, type TestNode } from './world.js';

const decoder = new TextDecoder();

export function textOf({ bytes, bodyStart, bodyLength }: EnqueueView): string {
  return decoder.decode(bytes.subarray(bodyStart, bodyStart + bodyLength));
}

interface Held {
  holder: Holder;
  position: number;
  text: string;
}

/** A channel of a client of one node: publishes, and remembers what it was told and given. */
export class TestClient implements PublishOwner, DeliverySink {
  readonly node: TestNode;
  readonly group: number;
  /** Texts of confirmed publishes, as they were confirmed. */
  readonly confirmed: string[] = [];
  /** Texts as delivered; a redelivered one ends with '!'. */
  readonly delivered: string[] = [];
  readonly events: string[] = [];
  held: Held[] = [];
  private readonly texts: string[] = [];

  readonly refusals: string[] = [];

  constructor(node: TestNode, group: number) {
    this.node = node;
    this.group = group;
  }

  publish(text: string, incarnations: readonly number[] = [7]): void {
    const tag = this.texts.push(text) - 1;
    this.node.clients.client(this.group).publish(message(text), incarnations, true, this, tag);
  }

  refused(tag: number): void {
    this.refusals.push(this.texts[tag]!);
  }

  completed(tag: number): void {
    this.confirmed.push(this.texts[tag]!);
  }

  consume(credit: number, options: Partial<ConsumeRequest> = {}, incarnation = 7): Promise<Subscription> {
    return this.node.clients.client(this.group).consume(incarnation, {
      vhost: '/',
      queue: 'q',
      consumerTag: 'c',
      noAck: false,
      exclusive: false,
      arguments: {},
      connection: `${this.node.name}/1/1`,
      credit,
      sink: this,
      cookie: this,
      ...options,
    });
  }

  get(noAck = false, incarnation = 7): void {
    const request: GetRequest = {
      vhost: '/',
      queue: 'q',
      noAck,
      connection: `${this.node.name}/1/1`,
      sink: this,
      got: (view, position, redelivered, remaining, holder) => {
        const text = textOf(view);
        if (!noAck) this.held.push({ holder, position, text });
        this.events.push(`got ${text}${redelivered ? '!' : ''} of ${remaining + 1}`);
      },
      empty: () => this.events.push('empty'),
      failed: (error) => this.events.push(`failed: ${error.message}`),
    };
    this.node.clients.client(this.group).get(incarnation, request);
  }

  deliver(subscription: Subscription, position: number, redelivered: boolean, view: EnqueueView): void {
    const text = textOf(view);
    this.delivered.push(redelivered ? `${text}!` : text);
    this.held.push({ holder: subscription, position, text });
  }

  cancelled(_subscription: Subscription, reason: string): void {
    this.events.push(`cancelled: ${reason}`);
  }

  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    for (const { holder, position } of this.held) visit(holder, position);
  }

  /** Takes the held message with this text off the list. */
  private take(text: string): Held {
    const at = this.held.findIndex((one) => one.text === text);
    return this.held.splice(at, 1)[0]!;
  }

  ack(text: string): void {
    const { holder, position } = this.take(text);
    holder.ack(position);
  }
  requeue(text: string): void {
    const { holder, position } = this.take(text);
    holder.requeue(position);
  }
}
