/** Hello world: puts one message into a queue. */
import { publishSafely, withConnection } from './nodes.mjs';

const [text = 'Hello, world'] = process.argv.slice(2);

await withConnection(async (connection) => {
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('hello', { durable: true });
  await publishSafely(channel, '', 'hello', text);
  console.log(`sent: ${text}`);
});
