/** rabbitmq-client: a list of hosts, publisher and consumer objects. */
import { load, queue, received, run, urls } from './npm-client.mjs';

const { Connection } = load('rabbitmq-client');
const hosts = urls.map((url) => new URL(url).host);
const connection = new Connection({ hosts, retryLow: 100, noDelay: true, connectionTimeout: 2000 });
connection.on('error', (error) => console.error(error.message));
const consumer = connection.createConsumer(
  { queue, queueOptions: { durable: true }, qos: { prefetchCount: 10 } },
  async ({ body, redelivered }) => received(Number(body), redelivered),
);
consumer.on('error', (error) => console.error(error.message));
const publisher = connection.createPublisher({ confirm: true, queues: [{ queue, durable: true }] });
await run((text) => publisher.send({ routingKey: queue, durable: true }, text));
await publisher.close();
await consumer.close();
await connection.close();
