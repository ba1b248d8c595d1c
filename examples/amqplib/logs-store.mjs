/** Routing: keeps logs of some severities, in a durable queue that gathers them while we are away. `logs-store.mjs warning error` */
import { forever, read, withConnection } from './nodes.mjs';

const severities = process.argv.slice(2);
if (severities.length === 0) severities.push('error');
const queue = `logs.${severities.join('.')}`;

await withConnection(async (connection) => {
  const channel = await connection.createChannel();
  await channel.assertExchange('logs', 'direct', { durable: true });
  await channel.assertQueue(queue, { durable: true });
  for (const severity of severities) await channel.bindQueue(queue, 'logs', severity);
  await channel.consume(queue, (delivery) => {
    if (delivery === null) return;
    console.log(`${delivery.fields.routingKey}: ${read(delivery)}`);
    channel.ack(delivery);
  });
  console.log(`keeping ${severities.join(', ')}; Ctrl-C ends`);
  await forever;
});
