/** Remote calls: counts primes. The answer goes where the request's reply-to says. */
import { forever, read, withConnection } from './nodes.mjs';

await withConnection(async (connection) => {
  const channel = await connection.createChannel();
  await channel.assertQueue('primes', { durable: true });
  await channel.prefetch(1);
  await channel.consume('primes', (request) => {
    if (request === null) return;
    const { replyTo, correlationId } = request.properties;
    const answer = Buffer.from(JSON.stringify(countPrimes(read(request))));
    channel.sendToQueue(replyTo, answer, { correlationId });
    channel.ack(request);
  });
  console.log('serving; Ctrl-C ends');
  await forever;
});

/** How many primes there are up to `limit`. */
function countPrimes(limit) {
  const isComposite = new Uint8Array(limit + 1);
  let count = 0;
  for (let n = 2; n <= limit; n++) {
    if (isComposite[n] === 1) continue;
    count++;
    for (let multiple = n * n; multiple <= limit; multiple += n) isComposite[multiple] = 1;
  }
  return count;
}
