/** Topics: routing keys are words with dots between. `readings-send.mjs berlin.cellar.temperature 12` */
import { publishSafely, withConnection } from './nodes.mjs';

const [key = 'berlin.cellar.temperature', value = '12'] = process.argv.slice(2);

await withConnection(async (connection) => {
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange('readings', 'topic', { durable: true });
  await publishSafely(channel, 'readings', key, Number(value));
  console.log(`sent: ${key}`);
});
