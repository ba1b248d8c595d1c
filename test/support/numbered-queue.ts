/** A durable queue of numbered messages in a broker: filled, and read to its end. */
import assert from 'node:assert/strict';
import * as amqp from 'amqplib';

/** Its name. */
export const numberedQueue: string = 'numbered';

/** The body of message `number`: the number, then bytes that follow from it. */
function bodyOf(number: number, bytes: number): Buffer {
  const body = Buffer.alloc(bytes, number);
  body.writeUInt32BE(number);
  return body;
}

/** Publishes the persistent messages `from` to `to` and waits for all confirms. */
export async function publishNumbered(url: string, from: number, to: number, bodyBytes: number): Promise<void> {
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(numberedQueue, { durable: true });
  for (let number = from; number <= to; number++)
    channel.sendToQueue(numberedQueue, bodyOf(number, bodyBytes), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

/** Numbers of all messages in the queue, in order, without taking them out. Each must be as it was published. */
export async function readNumbered(url: string): Promise<number[]> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const { messageCount } = await channel.assertQueue(numberedQueue, { durable: true });
  const numbers: number[] = [];
  if (messageCount > 0) {
    await new Promise<void>((resolve) => {
      void channel.consume(numberedQueue, (message) => {
        const { content } = message!;
        const number = content.readUInt32BE();
        assert.deepEqual(content, bodyOf(number, content.length));
        if (numbers.push(number) === messageCount) resolve();
      });
    });
  }
  await connection.close();
  return numbers;
}

export const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);
