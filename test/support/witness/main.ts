/** The thread of a Witness: publishes one persistent message after the other, waits for its confirm and its delivery. */
import { parentPort, workerData } from 'node:worker_threads';
import * as amqp from 'amqplib';
import type { WitnessReport } from './witness.js';

const pauseMs = 5;
const report: WitnessReport = { count: 0, worstMs: 0, failure: '' };

function fail(error: unknown): void {
  if (report.failure === '') report.failure = String(error);
}

async function run(url: string): Promise<void> {
  const connection = await amqp.connect(url);
  connection.on('error', fail);
  connection.on('close', () => fail('the connection has ended'));
  const channel = await connection.createConfirmChannel();
  channel.on('error', fail);
  await channel.assertQueue('witness', { durable: true });
  let delivered: (text: string) => void = () => {};
  await channel.consume('witness', (message) => {
    if (message === null) return fail('the consumer was cancelled');
    channel.ack(message);
    delivered(message.content.toString());
  });
  parentPort!.postMessage('ready');
  for (let number = 1; report.failure === ''; number++) {
    const startedAt = performance.now();
    const delivery = new Promise<string>((resolve) => {
      delivered = resolve;
    });
    channel.sendToQueue('witness', Buffer.from(String(number)), { persistent: true });
    await channel.waitForConfirms();
    const got = await delivery;
    if (got !== String(number)) fail(`message ${got} came instead of ${number}`);
    report.worstMs = Math.max(report.worstMs, performance.now() - startedAt);
    report.count++;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

parentPort!.on('message', () => {
  parentPort!.postMessage({ ...report });
  report.count = 0;
  report.worstMs = 0;
});
run(workerData as string).catch(fail);
