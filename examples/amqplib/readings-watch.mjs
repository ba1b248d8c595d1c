/** Topics: `*` stands for one word, `#` for any number of them. `readings-watch.mjs "berlin.#" "*.*.humidity"` */
import { forever, read, withConnection } from './nodes.mjs';

const patterns = process.argv.slice(2);
if (patterns.length === 0) patterns.push('#');

await withConnection(async (connection) => {
  const channel = await connection.createChannel();
  await channel.assertExchange('readings', 'topic', { durable: true });
  const { queue } = await channel.assertQueue('', { exclusive: true });
  for (const pattern of patterns) await channel.bindQueue(queue, 'readings', pattern);
  await channel.consume(
    queue,
    (delivery) => delivery && console.log(`${delivery.fields.routingKey} = ${read(delivery)}`),
    { noAck: true },
  );
  console.log(`watching ${patterns.join(', ')}; Ctrl-C ends`);
  await forever;
});
