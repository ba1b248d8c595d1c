import { randomBytes } from 'node:crypto';
import { Refusal, RefusedError } from '../../base/errors.js';
import type { EnqueueView } from '../../log/record.js';
import type { ConnectionId, GetRequest, Holder } from '../../model/broker.js';
import { checkConsumerArguments } from '../../model/wiring/queue-arguments.js';
import type { Channel } from '../channel.js';
import {
  type BasicCancel,
  BasicCancelOk,
  type BasicConsume,
  BasicConsumeOk,
  type BasicGet,
  BasicGetEmpty,
  type BasicNack,
  type BasicQos,
  BasicQosOk,
  type BasicRecover,
  type BasicRecoverAsync,
  BasicRecoverOk,
  type BasicReject,
  DeliverTemplate,
} from '../codec/index.js';
import { replyQueue } from '../../model/replies.js';
import { Consumer } from '../consumer.js';
import type { Deliveries } from '../deliveries.js';
import { ReplyConsumer } from '../reply-consumer.js';
import { Outcome } from '../../model/unacked.js';
import { queueName } from './queue-name.js';

const tagBytes = 16;

/** As RabbitMQ reads it: a count for each consumer to come, or (global) one for all of the channel together; see ClientTraits.channelQos. */
export function qos(channel: Channel, method: BasicQos): void {
  if (method.prefetchSize !== 0) {
    throw new RefusedError(Refusal.notImplemented, `prefetch_size!=0 (${method.prefetchSize})`);
  }
  const { credit } = channel.deliveries;
  if (method.global || channel.host.traits.channelQos) {
    credit.limit = method.prefetchCount;
    credit.resume();
  } else {
    channel.prefetch = method.prefetchCount;
  }
  channel.reply(new BasicQosOk());
}

export function consume(channel: Channel, method: BasicConsume): void {
  const { host, deliveries } = channel;
  const tag = method.consumerTag || `amq.ctag-${randomBytes(tagBytes).toString('base64url')}`;
  if (deliveries.consumers.has(tag) || deliveries.replies?.tag === tag)
    throw new RefusedError(Refusal.notAllowed, `attempt to reuse consumer tag '${tag}'`);
  if (method.queue === replyQueue) return consumeReplies(channel, method, tag);
  const queue = queueName(channel, method.queue);
  host.permissions.require('read', 'queue', queue);
  if (deliveries.consumers.size >= host.limits.consumersMax) {
    const text = `reached maximum (${host.limits.consumersMax}) of consumers per channel`;
    throw new RefusedError(Refusal.notAllowed, text);
  }
  if (host.counters.consumers >= host.limits.allConsumersMax) {
    const text = `all connections have ${host.limits.allConsumersMax} consumers, there may be no more`;
    throw new RefusedError(Refusal.notAllowed, text);
  }
  checkConsumerArguments(method.arguments, `queue '${queue}' in vhost '${host.vhost}'`);
  const consumer = new Consumer(deliveries.credit, {
    tag,
    queue,
    noAck: method.noAck,
    exclusive: method.exclusive,
    noWait: method.noWait,
    prefetch: channel.prefetch,
    template: new DeliverTemplate(channel.number, tag),
  });
  const work = host.broker.consume({
    vhost: host.vhost,
    queue,
    consumerTag: tag,
    noAck: method.noAck,
    exclusive: method.exclusive,
    arguments: method.arguments,
    connection: host.id,
    credit: deliveries.add(consumer),
    sink: deliveries,
    cookie: consumer,
  });
  channel.await(
    work,
    (subscription) => deliveries.accepted(consumer, subscription),
    (subscription) => subscription.close(),
  );
}

/** The channel's client waits for replies (direct reply-to): they need no queue. */
function consumeReplies(channel: Channel, { noAck, noWait }: BasicConsume, tag: string): void {
  const { host, deliveries } = channel;
  if (!noAck) throw new RefusedError(Refusal.preconditionFailed, 'reply consumer cannot acknowledge');
  if (deliveries.replies !== null) throw new RefusedError(Refusal.preconditionFailed, 'reply consumer already set');
  const consumer = new ReplyConsumer(tag, new DeliverTemplate(channel.number, tag), deliveries);
  consumer.address = host.broker.replies.open(consumer);
  deliveries.replies = consumer;
  channel.reply(new BasicConsumeOk(tag), noWait);
}

/** The consumer is accepted; nothing was delivered to it yet. */
export function consumeStarted(channel: Channel, consumer: Consumer): void {
  channel.reply(new BasicConsumeOk(consumer.tag), consumer.noWait);
}

/** An unknown tag is no error (§1.8.3.5): the consumer may have ended just before. */
export function cancel(channel: Channel, method: BasicCancel): void {
  const { deliveries } = channel;
  const consumer = deliveries.consumers.get(method.consumerTag);
  if (deliveries.replies?.tag === method.consumerTag) deliveries.dropReplies();
  if (!consumer?.subscription) {
    channel.reply(new BasicCancelOk(method.consumerTag), method.noWait);
    return;
  }
  channel.await(consumer.subscription.cancel(), () => {
    deliveries.retire(consumer);
    channel.reply(new BasicCancelOk(method.consumerTag), method.noWait);
  });
}

export function get(channel: Channel, method: BasicGet): void {
  const queue = queueName(channel, method.queue);
  channel.host.permissions.require('read', 'queue', queue);
  if (channel.deliveries.exhausted && !method.noAck) {
    const text = `this channel holds ${channel.host.limits.unackedMax} unacknowledged deliveries, settle some first`;
    throw new RefusedError(Refusal.preconditionFailed, text);
  }
  channel.wait();
  channel.host.broker.get(new Get(channel, queue, method.noAck));
}

/** A basic.get that waits for the broker. */
class Get implements GetRequest {
  readonly vhost: string;
  readonly queue: string;
  readonly noAck: boolean;
  readonly connection: ConnectionId;
  readonly sink: Deliveries;
  private readonly channel: Channel;

  constructor(channel: Channel, queue: string, noAck: boolean) {
    this.channel = channel;
    this.vhost = channel.host.vhost;
    this.queue = queue;
    this.noAck = noAck;
    this.connection = channel.host.id;
    this.sink = channel.deliveries;
  }

  got(
    message: EnqueueView,
    position: number,
    redelivered: boolean,
    remaining: number,
    holder: Holder,
    returns: number,
  ): void {
    this.channel.answer(
      () => this.sink.got(message, position, redelivered, remaining, holder, this.noAck, returns),
      () => {
        if (!this.noAck) holder.release(position);
      },
    );
  }

  empty(): void {
    this.channel.answer(() => this.channel.reply(new BasicGetEmpty()));
  }

  failed(error: Error): void {
    this.channel.answer(() => this.channel.fail(error));
  }
}

/** Settles deliveries for basic.ack, reject and nack. */
export function settle(channel: Channel, deliveryTag: number, multiple: boolean, outcome: Outcome): void {
  if ((channel.publisher.transaction ?? channel.deliveries).settle(deliveryTag, multiple, outcome)) return;
  throw new RefusedError(Refusal.preconditionFailed, `unknown delivery tag ${deliveryTag}`);
}

export function reject(channel: Channel, method: BasicReject): void {
  settle(channel, method.deliveryTag, false, method.requeue ? Outcome.requeue : Outcome.reject);
}

export function nack(channel: Channel, method: BasicNack): void {
  settle(channel, method.deliveryTag, method.multiple, method.requeue ? Outcome.requeue : Outcome.reject);
}

export function recover(channel: Channel, method: BasicRecover): void {
  requeueAll(channel, method.requeue);
  channel.reply(new BasicRecoverOk());
}

export function recoverAsync(channel: Channel, method: BasicRecoverAsync): void {
  requeueAll(channel, method.requeue);
}

/** All that the client holds goes back, flagged redelivered. To the same consumer only (requeue=false): nobody does that. */
function requeueAll(channel: Channel, requeue: boolean): void {
  if (!requeue) throw new RefusedError(Refusal.notImplemented, 'requeue=false');
  const { transaction } = channel.publisher;
  if (transaction !== null) transaction.recover();
  else channel.deliveries.settle(0, true, Outcome.requeue);
}
