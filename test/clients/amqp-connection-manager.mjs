/** amqp-connection-manager: amqplib with a list of URLs, and channels that are set up again. */
import { load, queue, received, run, urls } from './npm-client.mjs';

const manager = load('amqp-connection-manager');
const connection = manager.connect(urls, { reconnectTimeInSeconds: 0.2, connectionOptions: { noDelay: true } });
connection.on('disconnect', ({ err }) => console.error(err.message));
const channel = connection.createChannel({
  setup: async (real) => {
    await real.assertQueue(queue, { durable: true });
    await real.prefetch(10);
    await real.consume(queue, (message) => {
      received(Number(message.content.toString()), message.fields.redelivered);
      real.ack(message);
    });
  },
});
// It keeps what was not confirmed, and publishes it again by itself.
await run((text) => channel.sendToQueue(queue, Buffer.from(text), { persistent: true }));
await channel.close();
await connection.close();
