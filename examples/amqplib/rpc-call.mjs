/**
 * Remote calls: asks how many primes there are up to each LIMIT. Direct reply-to needs no queue for the answers, which come at most once: an
 * answer that is late was lost with its node, and we ask again.
 */
import { randomUUID } from 'node:crypto';
import { read, withConnection } from './nodes.mjs';

const limits = process.argv.slice(2).map(Number);
if (limits.length === 0) limits.push(1000);
const answerMsMax = 3000;

await withConnection(async (connection) => {
  const channel = await connection.createChannel();
  await channel.assertQueue('primes', { durable: true });
  const calls = new Map();
  await channel.consume(
    'amq.rabbitmq.reply-to',
    (answer) => answer && calls.get(answer.properties.correlationId)?.(read(answer)),
    { noAck: true },
  );
  while (limits.length > 0) {
    const [limit] = limits;
    const answer = await call(channel, calls, limit);
    if (answer === undefined) continue;
    console.log(`${limit}: ${answer}`);
    limits.shift();
  }
});

/** Resolves to undefined if no answer comes in time. */
function call(channel, calls, request) {
  const correlationId = randomUUID();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, answerMsMax);
    calls.set(correlationId, (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    // Nobody waits for the answer of a request that is older.
    const options = { correlationId, replyTo: 'amq.rabbitmq.reply-to', expiration: answerMsMax };
    channel.sendToQueue('primes', Buffer.from(JSON.stringify(request)), options);
  }).finally(() => calls.delete(correlationId));
}
