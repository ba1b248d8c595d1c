/** A work queue: sends tasks 1 to COUNT, and ends when all of them are safe. */
import { publishSafely, withConnection } from './nodes.mjs';

const count = Number(process.argv[2] ?? 10);
/** Not confirmed yet. */
const waiting = new Map(Array.from({ length: count }, (_, i) => [i + 1, { number: i + 1, workMs: 20 }]));
let attempts = 0;

await withConnection(async (connection) => {
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('tasks', { durable: true });
  // What was not confirmed when a connection was lost may have arrived, or not: sent again, it may be done twice.
  if (attempts++ > 0) for (const number of waiting.keys()) console.log(`again: ${number}`);
  await Promise.all(
    [...waiting.values()].map(async (task) => {
      await publishSafely(channel, '', 'tasks', task);
      waiting.delete(task.number);
    }),
  );
});
console.log(`sent: ${count} tasks`);
