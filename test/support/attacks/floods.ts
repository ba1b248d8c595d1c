/** Clients that ask for too much of something. */
import assert from 'node:assert/strict';
import {
  BasicConsume,
  BasicProperties,
  BasicPublish,
  ChannelOpen,
  ConnectionClose,
  FrameWriter,
  MethodId,
  QueueDeclare,
  QueueDelete,
} from '../../../src/amqp091/codec/index.js';
import type { Arguments } from '../../../src/model/broker.js';
import { RawClient } from '../raw-client.js';

/** Channels of a connection, as tuned. */
const channelMax = 2047;

export const declare = (name: string, durable: boolean, args: Arguments = {}): QueueDeclare =>
  new QueueDeclare(name, false, durable, false, false, false, args);

/** Waits for connection.close and checks its code. */
export async function closedWith(client: RawClient, code: number): Promise<void> {
  let received = await client.next();
  while (!(received.method instanceof ConnectionClose)) received = await client.next();
  assert.equal(received.method.replyCode, code, received.method.replyText);
  client.end();
}

/** All channels that they can get, of `connections` connections; one more is refused. */
export async function channels(port: number, connections: number): Promise<void> {
  const clients: RawClient[] = [];
  for (let i = 0; i < connections; i++) {
    const client = await RawClient.open(port);
    for (let channel = 1; channel <= channelMax; channel++) client.frames.method(channel, new ChannelOpen());
    client.sendBytes(new Uint8Array(0));
    for (let channel = 1; channel <= channelMax; channel++) await client.expect(MethodId.channelOpenOk, channel);
    clients.push(client);
  }
  const [first] = clients;
  first!.send(channelMax + 1, new ChannelOpen());
  await closedWith(first!, 530);
  for (const client of clients) client.end();
}

/** Consumers up to the limit of a channel, and one more. */
export async function consumers(port: number, limit: number): Promise<void> {
  const client = await RawClient.open(port);
  await client.openChannel(1);
  client.send(1, declare('consumed', false));
  await client.expect(MethodId.queueDeclareOk, 1);
  for (let i = 0; i <= limit; i++)
    client.frames.method(1, new BasicConsume('consumed', `tag-${i}`, false, false, false, true, {}));
  client.sendBytes(new Uint8Array(0));
  await closedWith(client, 530);
}

/** Declarations and deletions of durable queues, many channels at once, none waited for. */
export async function queues(port: number, count: number, args: Arguments = {}): Promise<void> {
  const client = await RawClient.open(port);
  const width = 50;
  for (let channel = 1; channel <= width; channel++) await client.openChannel(channel);
  for (let i = 0; i < count; i++) {
    const channel = 1 + (i % width);
    client.frames.method(channel, declare(`flood-${i}`, true, args));
    client.frames.method(channel, new QueueDelete(`flood-${i}`, false, false, false));
  }
  client.sendBytes(new Uint8Array(0));
  for (let i = 0; i < 2 * count; i++) {
    const { method } = await client.next();
    assert.ok(method?.id === MethodId.queueDeclareOk || method?.id === MethodId.queueDeleteOk);
  }
  client.end();
}

/** `connections` that publish small messages without confirms, as fast as the broker reads, for `ms`. */
export async function publishers(port: number, connections: number, queue: string, ms: number): Promise<void> {
  const frames = new FrameWriter();
  const publish = new BasicPublish('', queue, false, false);
  for (let i = 0; i < 5000; i++) frames.methodWithContent(1, publish, new BasicProperties(), Buffer.from('0123456789'));
  const bytes = Buffer.from(frames.output.take());
  const clients = await Promise.all(Array.from({ length: connections }, () => RawClient.open(port)));
  const until = performance.now() + ms;
  await Promise.all(
    clients.map(async (client) => {
      await client.openChannel(1);
      while (performance.now() < until && !client.socket.destroyed)
        if (!client.socket.write(bytes))
          await new Promise<void>((resolve) => {
            client.socket.once('drain', resolve);
            client.socket.once('close', () => resolve());
            setTimeout(resolve, until - performance.now());
          });
      assert.ok(!client.socket.destroyed, 'a publisher was thrown out');
      client.end();
    }),
  );
}

function contentHeader(channel: number, bodyBytes: number): Buffer {
  const frame = Buffer.alloc(22);
  frame.writeUInt8(2, 0);
  frame.writeUInt16BE(channel, 1);
  frame.writeUInt32BE(14, 3);
  frame.writeUInt16BE(60, 7);
  frame.writeBigUInt64BE(BigInt(bodyBytes), 11);
  frame.writeUInt8(0xce, 21);
  return frame;
}

function bodyFrame(channel: number, bytes: number): Buffer {
  const frame = Buffer.alloc(bytes + 8);
  frame.writeUInt8(3, 0);
  frame.writeUInt16BE(channel, 1);
  frame.writeUInt32BE(bytes, 3);
  frame.writeUInt8(0xce, bytes + 7);
  return frame;
}

/** Bodies that are announced at `bodyBytes`, sent but for the end, and never finished: one a connection. */
export async function unfinishedBodies(port: number, connections: number, bodyBytes: number): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  const frame = bodyFrame(1, 131_064);
  for (let i = 0; i < connections; i++) {
    const client = await RawClient.open(port);
    await client.openChannel(1);
    client.send(1, new BasicPublish('', 'nowhere', true, false));
    client.sendBytes(contentHeader(1, bodyBytes));
    for (let sent = 0; sent + 2 * 131_064 < bodyBytes && !client.socket.destroyed; sent += 131_064)
      if (!client.socket.write(frame)) await new Promise((resolve) => setTimeout(resolve, 1));
    clients.push(client);
  }
  return clients;
}

/** Announced sizes that are beyond every limit: nothing is kept for them. */
export async function hugeAnnouncements(port: number): Promise<void> {
  const client = await RawClient.open(port);
  for (let channel = 1; channel <= 500; channel++) {
    await client.openChannel(channel);
    client.send(channel, new BasicPublish('', 'nowhere', true, false));
    client.sendBytes(contentHeader(channel, 128 * 1024 * 1024));
  }
  for (const [channel, bytes] of [
    [501, 128 * 1024 * 1024 + 1],
    [502, 2 ** 40],
  ] as const) {
    await client.openChannel(channel);
    client.send(channel, new BasicPublish('', 'nowhere', true, false));
    client.sendBytes(contentHeader(channel, bytes));
    assert.equal((await client.expect(MethodId.channelClose, channel)).method.replyCode, 406);
  }
  await client.openChannel(503);
  client.send(503, new BasicPublish('', 'nowhere', false, false));
  const absurd = contentHeader(503, 0);
  absurd.fill(0xff, 11, 19);
  client.sendBytes(absurd);
  await closedWith(client, 502);
}
