/**
 * Publisher confirms: a steady stream of COUNT messages into the queue `confirmed`, with at most 100 on their way. A message counts once it is
 * confirmed: then it is on the disks of all nodes that are in sync. After a loss of the connection, those that were not are sent again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { publishSafely, withConnection } from './nodes.mjs';

const count = Number(process.argv[2] ?? 1000);
const windowMax = 100;
const pauseMs = 2;
const refusedMs = 100;

/** Sent and not confirmed, in the order of sending. */
const open = new Set();
let next = 1;

await withConnection(async (connection) => {
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('confirmed', { durable: true });
  let isOpen = true;
  channel.once('close', () => {
    isOpen = false;
  });

  async function send(number) {
    try {
      await publishSafely(channel, '', 'confirmed', number, { messageId: String(number) });
      open.delete(number);
    } catch {
      // The broker refused it, or the channel is gone: then the next one sends it.
      await sleep(refusedMs);
      if (isOpen) void send(number);
    }
  }

  for (const number of open) {
    console.log(`again: ${number}`);
    void send(number);
  }
  while (isOpen && (next <= count || open.size > 0)) {
    if (next <= count && open.size < windowMax) {
      open.add(next);
      void send(next++);
    }
    await sleep(pauseMs);
  }
  if (!isOpen) throw new Error('the channel was closed');
});
console.log(`confirmed: ${count}`);
