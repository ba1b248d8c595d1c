/** Clients that do not read what they asked for. */
import assert from 'node:assert/strict';
import {
  BasicConsume,
  BasicGet,
  BasicProperties,
  BasicPublish,
  BasicQos,
  ConfirmSelect,
  MethodId,
} from '../../../src/amqp091/codec/index.js';
import { RawClient } from '../raw-client.js';
import { declare } from './floods.js';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const persistent = Object.assign(new BasicProperties(), { deliveryMode: 2 });
/** Bytes that wait in the client's own socket at most. */
const ownBytesMax = 1_000_000;

async function onChannel(port: number): Promise<RawClient> {
  const client = await RawClient.open(port);
  await client.openChannel(1);
  return client;
}

/** Publishes `count` messages of `bytes` bytes into a new durable queue, and waits for all confirms. */
export async function fill(port: number, queue: string, count: number, bytes: number): Promise<void> {
  const client = await onChannel(port);
  client.send(1, declare(queue, true));
  await client.expect(MethodId.queueDeclareOk, 1);
  client.send(1, new ConfirmSelect(false));
  await client.expect(MethodId.confirmSelectOk, 1);
  const body = Buffer.alloc(bytes, 'x');
  for (let confirmed = 0, sent = 0; confirmed < count; ) {
    while (sent < count && (sent - confirmed) * bytes < 8_000_000 && sent - confirmed < 5000) {
      client.frames.methodWithContent(1, new BasicPublish('', queue, false, false), persistent, body);
      sent++;
    }
    client.sendBytes(new Uint8Array(0));
    const { method } = await client.expect(MethodId.basicAck, 1);
    confirmed = method.deliveryTag;
  }
  client.end();
}

export interface Consuming {
  noAck: boolean;
  /** 0 = none. */
  prefetch: number;
}

/** Consumers of `queue` that never read a byte again, for `ms`. */
export async function deafConsumers(
  port: number,
  queue: string,
  count: number,
  how: Consuming,
  ms: number,
): Promise<void> {
  const clients: RawClient[] = [];
  for (let i = 0; i < count; i++) {
    const client = await onChannel(port);
    client.send(1, new BasicQos(0, how.prefetch, false));
    await client.expect(MethodId.basicQosOk, 1);
    client.socket.pause();
    client.send(1, new BasicConsume(queue, '', false, how.noAck, false, false, {}));
    clients.push(client);
  }
  await sleep(ms);
  for (const client of clients) client.end();
}

/** A client that fetches, and never reads what it gets, for `ms`. */
export async function deafGetter(port: number, queue: string, ms: number): Promise<void> {
  const client = await onChannel(port);
  client.socket.pause();
  const until = performance.now() + ms;
  while (performance.now() < until) {
    if (client.socket.writableLength < ownBytesMax) {
      for (let i = 0; i < 100; i++) client.frames.method(1, new BasicGet(queue, false));
      client.sendBytes(new Uint8Array(0));
    }
    await sleep(5);
  }
  client.end();
}

/** A publisher that never reads its confirms, for `ms`. `queue` may be one that does not exist: then nor its returned messages. */
export async function deafPublisher(port: number, queue: string, bytes: number, ms: number): Promise<void> {
  const client = await onChannel(port);
  client.send(1, new ConfirmSelect(false));
  await client.expect(MethodId.confirmSelectOk, 1);
  client.socket.pause();
  const publish = new BasicPublish('', queue, true, false);
  const body = Buffer.alloc(bytes, 'x');
  const until = performance.now() + ms;
  let sent = 0;
  while (performance.now() < until) {
    while (client.socket.writableLength < ownBytesMax && sent % 500 !== 499) {
      client.frames.methodWithContent(1, publish, persistent, body);
      sent++;
      if (client.frames.output.length > 65_536) client.sendBytes(new Uint8Array(0));
    }
    sent++;
    client.sendBytes(new Uint8Array(0));
    await sleep(1);
  }
  assert.ok(sent > 0);
  client.end();
}
