/** Hello world: prints what comes from a queue. */
import { forever, read, withConnection } from './nodes.mjs';

await withConnection(async (connection) => {
  const channel = await connection.createChannel();
  await channel.assertQueue('hello', { durable: true });
  await channel.consume('hello', (delivery) => {
    // null: the queue was deleted.
    if (delivery === null) return;
    console.log(`received: ${read(delivery)}`);
    channel.ack(delivery);
  });
  console.log('waiting for messages; Ctrl-C ends');
  await forever;
});
