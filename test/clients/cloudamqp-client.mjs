/** @cloudamqp/amqp-client: a session connects to one address; whoever has more makes another session. */
import { load, queue, received, run, urls } from './npm-client.mjs';

const { AMQPClient } = load('@cloudamqp/amqp-client');
let next = 0;
let session;

async function connect() {
  const client = new AMQPClient(urls[next++ % urls.length]);
  const connection = await client.connect();
  connection.onerror = (error) => console.error(error.message);
  const channel = await connection.channel();
  await channel.queueDeclare(queue, { durable: true });
  await channel.confirmSelect();
  const consuming = await connection.channel();
  await consuming.basicQos(10);
  await consuming.basicConsume(queue, { noAck: false }, async (message) => {
    received(Number(message.bodyString()), message.redelivered);
    await message.ack();
  });
  session = { client, connection, channel };
}

await run(async (text) => {
  if (session === undefined || session.connection.closed) await connect();
  await session.channel.basicPublish('', queue, text, { deliveryMode: 2 });
});
await session.connection.close();
