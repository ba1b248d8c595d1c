import type { EnqueueView } from '../log/record.js';
import { type ReplyAddress, type ReplySink } from '../model/replies.js';
import type { DeliverTemplate } from './codec/index.js';
import type { Deliveries } from './deliveries.js';

/** The consumer of `amq.rabbitmq.reply-to` that a channel may have: replies to what it publishes come to it. */
export class ReplyConsumer implements ReplySink {
  readonly tag: string;
  /** Set by whoever opened it. */
  address: ReplyAddress | undefined;
  private readonly template: DeliverTemplate;
  private readonly deliveries: Deliveries;

  constructor(tag: string, template: DeliverTemplate, deliveries: Deliveries) {
    this.tag = tag;
    this.template = template;
    this.deliveries = deliveries;
  }

  reply(message: EnqueueView): void {
    this.deliveries.deliverReply(this.template, message);
  }
}
