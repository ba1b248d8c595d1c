import type { ConsumeRequest, DeliverySink } from '../../model/broker.js';

/** How the broker itself consumes from a queue to pass on what is in it: alone, with acknowledgements, and staying when it moves. */
export function ownConsumer(
  sink: DeliverySink,
  credit: number,
  consumerTag: string,
  vhost: string,
  queue: string,
): ConsumeRequest {
  return {
    vhost,
    queue,
    consumerTag,
    noAck: false,
    exclusive: true,
    arguments: {},
    connection: '',
    credit,
    sink,
    cookie: undefined,
    stays: true,
  };
}
