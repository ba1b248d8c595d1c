// Where the nodes are, as for the other examples: AMQP_URLS=amqp://HOST:PORT,... names others than those of `npm run cluster`.
import amqp from 'amqplib';

export const queue = 'exactly-once';
const urls = (process.env.AMQP_URLS ?? 'amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674').split(',');

export const nodes = urls
  .map((url) => new URL(url))
  .map(({ hostname, port }) => ({ host: hostname, port: Number(port || 5672) }));
export const connection = { username: 'guest', password: 'guest' };

/** Makes the queue: clients of AMQP 1.0 do not declare. Any node does it. */
export async function declare() {
  for (const url of urls) {
    try {
      const client = await amqp.connect(url);
      const channel = await client.createChannel();
      await channel.assertQueue(queue, { durable: true });
      await client.close();
      return;
    } catch (error) {
      console.log(`${url}: ${error.message}`);
    }
  }
  throw new Error('no node is there');
}
