/** Routing: a direct exchange gives each message to the queues that are bound with its routing key. `logs-send.mjs error "disk full"` */
import { publishSafely, withConnection } from './nodes.mjs';

const [severity = 'info', ...words] = process.argv.slice(2);

await withConnection(async (connection) => {
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange('logs', 'direct', { durable: true });
  await publishSafely(channel, 'logs', severity, words.join(' '));
  console.log(`sent: ${severity}`);
});
