/** rascal: amqplib with a configuration of vhosts, publications and subscriptions. */
import { load, queue, received, run, urls } from './npm-client.mjs';

const { BrokerAsPromised } = load('rascal');
const broker = await BrokerAsPromised.create({
  vhosts: {
    '/': {
      connectionStrategy: 'fixed',
      connections: urls.map((url) => ({
        url: `${url}/%2F`,
        socketOptions: { noDelay: true },
        retry: { min: 100, max: 300, factor: 1 },
      })),
      queues: { [queue]: { options: { durable: true } } },
      publications: { send: { queue, confirm: true, timeout: 3000, options: { persistent: true } } },
      subscriptions: { receive: { queue, prefetch: 10, retry: { min: 100, max: 300, factor: 1 } } },
    },
  },
});
broker.on('error', (error) => console.error(error.message));
const subscription = await broker.subscribe('receive');
subscription
  .on('message', (message, content, ackOrNack) => {
    received(Number(content.toString()), message.fields.redelivered);
    ackOrNack();
  })
  .on('error', (error) => console.error(error.message));
await run(async (text) => {
  const publication = await broker.publish('send', text);
  await new Promise((resolve, reject) => {
    publication
      .on('success', resolve)
      .on('error', reject)
      .on('return', () => reject(new Error('returned')));
  });
});
await broker.shutdown();
