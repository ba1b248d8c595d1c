/**
 * Publish and subscribe: a queue of our own, which lives as long as the connection. News that come while we are not connected are missed; who
 * wants all of them uses a durable queue with a name, as logs-store.mjs does.
 */
import { forever, read, withConnection } from './nodes.mjs';

await withConnection(async (connection) => {
  const channel = await connection.createChannel();
  await channel.assertExchange('news', 'fanout', { durable: true });
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, 'news', '');
  await channel.consume(queue, (delivery) => delivery && console.log(`news: ${read(delivery)}`), { noAck: true });
  console.log('subscribed; Ctrl-C ends');
  await forever;
});
