/**
 * A work queue: takes one task at a time, and acknowledges it when it is done. Start as many as you like. If a worker, or its node, dies
 * in between, another worker gets the task, with the redelivered flag. So tasks must bear being done twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { forever, read, withConnection } from './nodes.mjs';

await withConnection(async (connection) => {
  const channel = await connection.createChannel();
  channel.on('error', (error) => console.error(error.message));
  await channel.assertQueue('tasks', { durable: true });
  await channel.prefetch(1);
  await channel.consume('tasks', async (delivery) => {
    if (delivery === null) return;
    const { number, workMs } = read(delivery);
    await sleep(workMs);
    console.log(`done: ${number}${delivery.fields.redelivered ? ' redelivered' : ''}`);
    try {
      channel.ack(delivery);
    } catch {
      // The connection was lost meanwhile: the task comes again.
    }
  });
  console.log('waiting for tasks; Ctrl-C ends');
  await forever;
});
