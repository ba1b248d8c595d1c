/** rhea-promise, of which Azure's clients are made (AMQP 1.0): over sockets, or over WebSocket (UNDERSTUDY_WEB=1). It does not connect again by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { load, queue, received, run, urls } from './npm-client.mjs';

const { Connection } = load('rhea-promise');
const { WebSocket } = load('ws');
const address = `/queues/${queue}`;
const overWeb = process.env.UNDERSTUDY_WEB === '1';
let node = 0;
let sender;

function options() {
  const { hostname: host, port } = new URL(urls[node++ % urls.length]);
  const all = {
    host,
    port: Number(port),
    username: 'guest',
    password: 'guest',
    reconnect: false,
    operationTimeoutInSeconds: 5,
  };
  if (!overWeb) return all;
  return {
    ...all,
    webSocketOptions: {
      webSocket: WebSocket,
      url: `ws://${host}:${port}/$servicebus/websocket`,
      protocol: ['AMQPWSB10'],
    },
  };
}

/** Until it is connected: with links in both directions, of which the one that sends is ours to use. */
async function connect() {
  const connection = new Connection(options());
  const lost = () => {
    sender = undefined;
    setTimeout(() => connectAgain(), 100);
  };
  await connection.open();
  connection.once('disconnected', lost);
  await connection.createReceiver({
    source: { address },
    credit_window: 10,
    autoaccept: false,
    onMessage({ message, delivery }) {
      received(Number(message.body), !message.first_acquirer);
      delivery.accept();
    },
    onError: ({ receiver: link }) => console.error(String(link.error)),
  });
  sender = await connection.createAwaitableSender({ target: { address } });
}

async function connectAgain() {
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      console.error(error.message);
      await sleep(100);
    }
  }
}

await connectAgain();
await run(async (text) => {
  if (sender === undefined) throw new Error('there is no connection');
  await sender.send({ durable: true, body: text }, { timeoutInSeconds: 2 });
});
process.exit(0);
