/** What a client says of itself, and what follows from it for its connection (§1.4.2.2, client-properties). */
import type { Arguments } from '../model/broker.js';
import type { Product } from './product.js';

export interface ClientTraits {
  /** It takes basic.cancel from the broker. */
  readonly cancelNotify: boolean;
  /** It takes connection.blocked. */
  readonly blockedNotify: boolean;
  /** It takes connection.close for a refused login. */
  readonly authenticationFailureClose: boolean;
  /** It means the whole channel by basic.qos without `global`, also consumers that are there (§1.8.3.1). */
  readonly channelQos: boolean;
}

/**
 * Kombu, and so Celery, reads basic.qos as the specification does when a server is not RabbitMQ by its product's name, and cannot be told
 * otherwise. Read as RabbitMQ does, its changes of the limit would have no effect: tasks with a time to come would fill it.
 */
const readsSpecification = 'py-amqp';

export function clientTraits(clientProperties: Arguments, { name }: Product): ClientTraits {
  const { capabilities, product } = clientProperties;
  const table = typeof capabilities === 'object' && capabilities !== null ? (capabilities as Arguments) : {};
  return {
    cancelNotify: table['consumer_cancel_notify'] === true,
    blockedNotify: table['connection.blocked'] === true,
    authenticationFailureClose: table['authentication_failure_close'] === true,
    channelQos: product === readsSpecification && name !== 'RabbitMQ',
  };
}
