/** Connections to a cluster, any node of which serves: to the first one that answers, and to another one when that is lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import amqp from 'amqplib';

/** The nodes that `npm run cluster` starts; AMQP_URLS names others, with commas. */
const nodes = process.env.AMQP_URLS ?? 'amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674';
export const urls = nodes.split(',');

const timeoutMs = 2000;
const pauseMs = 200;

/** Throws an Error if no node answers. */
async function connect() {
  let reason;
  for (const url of urls) {
    try {
      const connection = await amqp.connect(url, { timeout: timeoutMs });
      // 'close' follows each error: that is where we act.
      connection.on('error', () => {});
      return connection;
    } catch (error) {
      reason = `${url}: ${error.message}`;
    }
  }
  throw new Error(`no node answers; ${reason}`);
}

/**
 * Runs `use` with a connection. Whenever that is lost, runs it again with a new one: it must go on where it was. Resolves to what `use`
 * returns; what it throws while the connection is good is thrown.
 */
export async function withConnection(use) {
  for (;;) {
    const connection = await connect().catch((error) => console.error(error.message));
    if (connection !== undefined) {
      let isLost = false;
      const lost = new Promise((_, reject) => {
        connection.once('close', (reason) => {
          isLost = true;
          reject(reason ?? new Error('the connection was closed'));
        });
      });
      try {
        return await Promise.race([use(connection), lost]);
      } catch (error) {
        if (!isLost) throw error;
        console.error(`connection lost: ${error.message}`);
      } finally {
        if (!isLost) await connection.close();
      }
    }
    await sleep(pauseMs);
  }
}

/** For a `use` that goes on until the connection, or the program, ends. */
export const forever = new Promise(() => {});

/** Publishes, and resolves when the broker has confirmed the message: it is safe then. */
export function publishSafely(confirmChannel, exchange, key, message, options = {}) {
  return new Promise((resolve, reject) => {
    const body = Buffer.from(JSON.stringify(message));
    confirmChannel.publish(exchange, key, body, { persistent: true, ...options }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

/** The body of a delivery, as publishSafely wrote it. */
export function read(delivery) {
  return JSON.parse(delivery.content.toString());
}
