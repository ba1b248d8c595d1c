/** Publish and subscribe: a fanout exchange gives a copy of each message to every queue that is bound to it. */
import { publishSafely, withConnection } from './nodes.mjs';

const news = process.argv.slice(2);
if (news.length === 0) news.push('nothing new');

await withConnection(async (connection) => {
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange('news', 'fanout', { durable: true });
  while (news.length > 0) {
    await publishSafely(channel, 'news', '', news[0]);
    console.log(`published: ${news.shift()}`);
  }
});
