/** What the programs for npm's clients have in common. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const urls = process.env.AMQP_URLS.split(',');
export const [queue, countText] = process.argv.slice(2);
const count = Number(countText);
const pauseMs = 5;
const retryMs = 200;

/** A client's package, which is not installed with ours. */
export const load = createRequire(join(process.env.NODE_CLIENTS, 'package.json'));

const got = new Set();

/** @param {number} number @param {boolean} isRedelivered */
export function received(number, isRedelivered) {
  got.add(number);
  console.log(`got ${number}${isRedelivered ? ' redelivered' : ''}`);
}

/**
 * Publishes all, one after the other, again what was not confirmed, and resolves when all have come.
 * @param {(text: string) => Promise<unknown>} publish rejects if the broker has not confirmed the message
 */
export async function run(publish) {
  for (let number = 1; number <= count; number++) {
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) console.log(`again ${number}`);
      try {
        await publish(String(number));
        break;
      } catch (error) {
        console.error(`${number}: ${error.message}`);
        await sleep(retryMs);
      }
    }
    console.log(`confirmed ${number}`);
    await sleep(pauseMs);
  }
  while (got.size < count) await sleep(pauseMs);
}
