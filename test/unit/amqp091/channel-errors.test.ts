import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccessRequest,
  BasicAck,
  BasicConsume,
  BasicGet,
  BasicGetEmpty,
  BasicNack,
  BasicPublish,
  BasicQos,
  BasicRecover,
  BasicReject,
  ChannelClose,
  ChannelCloseOk,
  ChannelOpen,
  ConfirmSelect,
  ExchangeBind,
  ExchangeDeclare,
  ExchangeDelete,
  type Method,
  MethodId,
  QueueBind,
  QueueDeclare,
  QueueDelete,
  QueuePurge,
} from '../../../src/amqp091/codec/index.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

/** An error, as a client sees it: what was sent, and the close that follows. */
interface Case {
  what: string;
  send: Method | ((client: RawClient) => void);
  code: number;
  text: RegExp;
  /** The method that the close blames. */
  blames: number;
}

const declare = (
  name: string,
  options: { passive?: boolean; durable?: boolean; exclusive?: boolean } = {},
): QueueDeclare =>
  new QueueDeclare(
    name,
    options.passive ?? false,
    options.durable ?? false,
    options.exclusive ?? false,
    false,
    false,
    {},
  );
const consume = (queue: string, tag: string): BasicConsume =>
  new BasicConsume(queue, tag, false, false, false, false, {});
const exchange = (name: string, type: string, passive = false): ExchangeDeclare =>
  new ExchangeDeclare(name, type, passive, false, false, false, false, {});

const softCases: Case[] = [
  {
    what: 'a queue that does not exist',
    send: declare('no-such', { passive: true }),
    code: 404,
    text: /^NOT_FOUND - no queue 'no-such' in vhost '\/'$/,
    blames: MethodId.queueDeclare,
  },
  {
    what: 'an exchange that does not exist',
    send: exchange('no-such', '', true),
    code: 404,
    text: /NOT_FOUND - no exchange 'no-such' in vhost '\/'/,
    blames: MethodId.exchangeDeclare,
  },
  {
    what: 'another durability',
    send: declare('q', { durable: true }),
    code: 406,
    text: /PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q'/,
    blames: MethodId.queueDeclare,
  },
  {
    what: 'a reserved queue name',
    send: declare('amq.mine'),
    code: 403,
    text: /ACCESS_REFUSED - queue name 'amq.mine' contains reserved prefix 'amq\.\*'/,
    blames: MethodId.queueDeclare,
  },
  {
    what: 'a reserved exchange name',
    send: exchange('amq.mine', 'direct'),
    code: 403,
    text: /exchange name 'amq.mine' contains reserved prefix/,
    blames: MethodId.exchangeDeclare,
  },
  {
    what: 'the default exchange, declared',
    send: exchange('', 'direct'),
    code: 403,
    text: /operation not permitted on the default exchange/,
    blames: MethodId.exchangeDeclare,
  },
  {
    what: 'the default exchange, deleted',
    send: new ExchangeDelete('', false, false),
    code: 403,
    text: /operation not permitted on the default exchange/,
    blames: MethodId.exchangeDelete,
  },
  {
    what: 'the default exchange, bound',
    send: new ExchangeBind('amq.direct', '', 'k', false, {}),
    code: 403,
    text: /operation not permitted on the default exchange/,
    blames: MethodId.exchangeBind,
  },
  {
    what: 'no queue declared on the channel',
    send: new QueueBind('', 'amq.direct', '', false, {}),
    code: 404,
    text: /NOT_FOUND - no previously declared queue/,
    blames: MethodId.queueBind,
  },
  {
    what: 'a consume without queue',
    send: consume('no-such', ''),
    code: 404,
    text: /NOT_FOUND - no queue/,
    blames: MethodId.basicConsume,
  },
  {
    what: 'a get without queue',
    send: new BasicGet('no-such', true),
    code: 404,
    text: /NOT_FOUND - no queue/,
    blames: MethodId.basicGet,
  },
  {
    what: 'a purge without queue',
    send: new QueuePurge('no-such', false),
    code: 404,
    text: /NOT_FOUND - no queue/,
    blames: MethodId.queuePurge,
  },
  {
    what: 'a queue that is not empty',
    send: new QueueDelete('q', false, true, false),
    code: 406,
    text: /queue 'q' in vhost '\/' not empty/,
    blames: MethodId.queueDelete,
  },
  ...[new BasicAck(77, false), new BasicNack(77, true, true), new BasicReject(77, false)].map((send) => ({
    what: 'an unknown delivery tag',
    send,
    code: 406,
    text: /^PRECONDITION_FAILED - unknown delivery tag 77$/,
    blames: send.id,
  })),
  {
    what: 'an exchange that does not exist, published to',
    send: (client) => client.publish(1, 'no-such', 'k', 'x'),
    code: 404,
    text: /NOT_FOUND - no exchange 'no-such'/,
    blames: MethodId.basicPublish,
  },
  {
    what: 'an internal exchange, published to',
    send: (client) => client.publish(1, 'inside', 'k', 'x'),
    code: 403,
    text: /ACCESS_REFUSED - cannot publish to internal exchange 'inside'/,
    blames: MethodId.basicPublish,
  },
  {
    what: 'a body that is too large',
    send: (client) => client.publish(1, '', 'q', Buffer.alloc(100_001)),
    code: 406,
    text: /PRECONDITION_FAILED - message size 100001 is larger than configured max size 100000/,
    blames: MethodId.basicPublish,
  },
  ...['soon', '-1', '315360000001', ''].map((expiration) => ({
    what: `the expiration '${expiration}'`,
    send: (client: RawClient) => client.publish(1, '', 'q', 'x', { expiration }),
    code: 406,
    text: /PRECONDITION_FAILED - invalid expiration/,
    blames: MethodId.basicPublish,
  })),
  {
    what: "another user's name",
    send: (client) => client.publish(1, '', 'q', 'x', { userId: 'root' }),
    code: 406,
    text: /user_id property set to 'root' but authenticated user was 'guest'/,
    blames: MethodId.basicPublish,
  },
];

const hardCases: Case[] = [
  {
    what: 'an unknown exchange type',
    send: exchange('e', 'random'),
    code: 503,
    text: /^COMMAND_INVALID - unknown exchange type 'random'/,
    blames: MethodId.exchangeDeclare,
  },
  {
    what: 'a consumer tag used twice',
    send: (client) => {
      client.send(1, consume('q', 'tag'));
      client.send(1, consume('q', 'tag'));
    },
    code: 530,
    text: /^NOT_ALLOWED - attempt to reuse consumer tag 'tag'$/,
    blames: MethodId.basicConsume,
  },
  {
    what: 'a prefetch size',
    send: new BasicQos(1000, 0, false),
    code: 540,
    text: /^NOT_IMPLEMENTED - prefetch_size!=0 \(1000\)$/,
    blames: MethodId.basicQos,
  },
  {
    what: 'immediate',
    send: (client) => {
      client.frames.method(1, new BasicPublish('', 'q', false, true));
      client.sendBytes(header(1, 0));
    },
    code: 540,
    text: /^NOT_IMPLEMENTED - immediate=true$/,
    blames: MethodId.basicPublish,
  },
  {
    what: 'a recover without requeue',
    send: new BasicRecover(false),
    code: 540,
    text: /^NOT_IMPLEMENTED - requeue=false$/,
    blames: MethodId.basicRecover,
  },
  {
    what: 'a channel opened twice',
    send: new ChannelOpen(),
    code: 504,
    text: /^CHANNEL_ERROR - second 'channel.open' seen$/,
    blames: MethodId.channelOpen,
  },
  {
    what: 'a method inside of a content',
    send: (client) => {
      client.send(1, new BasicPublish('', 'q', false, false));
      client.send(1, new BasicQos(0, 1, false));
    },
    code: 505,
    text: /^UNEXPECTED_FRAME - expected content header, got method frame instead$/,
    blames: MethodId.basicPublish,
  },
  {
    what: 'a header without method',
    send: (client) => client.sendBytes(header(1, 5)),
    code: 505,
    text: /^UNEXPECTED_FRAME - expected method, got content header frame instead$/,
    blames: 0,
  },
  {
    what: 'a body without header',
    send: (client) => {
      client.send(1, new BasicPublish('', 'q', false, false));
      client.sendBytes(body(1, 'x'));
    },
    code: 505,
    text: /^UNEXPECTED_FRAME - expected content header, got content body frame instead$/,
    blames: MethodId.basicPublish,
  },
  {
    what: 'a body longer than announced',
    send: (client) => {
      client.send(1, new BasicPublish('', 'q', false, false));
      client.sendBytes(Buffer.concat([header(1, 3), body(1, 'abcd')]));
    },
    code: 505,
    text: /^UNEXPECTED_FRAME - content body of 4 bytes or more, its header announced 3$/,
    blames: MethodId.basicPublish,
  },
  {
    what: 'a frame on a channel that is not open',
    send: (client) => client.send(9, new BasicQos(0, 1, false)),
    code: 504,
    text: /^CHANNEL_ERROR - expected 'channel.open' on channel 9$/,
    blames: 0,
  },
  {
    what: 'a method that is for servers',
    send: new BasicGetEmpty(),
    code: 503,
    text: /^COMMAND_INVALID - basic.get-empty is not for a client to send here$/,
    blames: MethodId.basicGetEmpty,
  },
  {
    what: 'a channel above the limit',
    send: (client) => client.send(2048, new ChannelOpen()),
    code: 530,
    text: /NOT_ALLOWED - channel 2048 is above the negotiated channel_max \(2047\)/,
    blames: MethodId.channelOpen,
  },
];

function frame(type: number, channel: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(8 + payload.length);
  bytes[0] = type;
  bytes.writeUInt16BE(channel, 1);
  bytes.writeUInt32BE(payload.length, 3);
  bytes.set(payload, 7);
  bytes[bytes.length - 1] = 0xce;
  return bytes;
}

function header(channel: number, size: number): Buffer {
  const payload = Buffer.alloc(14);
  payload.writeUInt16BE(60, 0);
  payload.writeUInt32BE(size, 8);
  return frame(2, channel, payload);
}

function body(channel: number, text: string): Buffer {
  return frame(3, channel, Buffer.from(text));
}

/** A client with channel 1, a queue `q` with one message, and an internal exchange. */
async function prepared(host: AmqpHost): Promise<RawClient> {
  const client = await RawClient.open(host.port);
  await client.openChannel(1);
  await client.openChannel(2);
  client.send(2, declare('q'));
  await client.expect(MethodId.queueDeclareOk, 2);
  client.send(2, new ExchangeDeclare('inside', 'direct', false, false, false, true, false, {}));
  await client.expect(MethodId.exchangeDeclareOk, 2);
  client.publish(2, '', 'q', 'first');
  await eventually(() => host.broker.queues.get('q')!.readyCount === 1);
  return client;
}

function send(client: RawClient, { send: what }: Case): void {
  if (typeof what === 'function') what(client);
  else client.send(1, what);
}

describe('errors that end a channel', () => {
  for (const error of softCases) {
    it(`${error.what}: ${error.code}`, async () => {
      await using host = await AmqpHost.start({ messageBytesMax: 100_000 });
      const client = await prepared(host);
      send(client, error);
      const { method } = await client.expect(MethodId.channelClose, 1);
      assert.equal(method.replyCode, error.code);
      assert.match(method.replyText, error.text);
      assert.equal((method.classId << 16) | method.methodId, error.blames);
      // The channel discards until close-ok; the connection and its other channels live on.
      client.publish(1, '', 'q', 'discarded');
      client.send(1, declare('discarded'));
      client.send(1, new ChannelCloseOk());
      await client.openChannel(1);
      client.send(2, declare('q', { passive: true }));
      assert.equal((await client.expect(MethodId.queueDeclareOk, 2)).method.messageCount, 1);
      assert.ok(!host.broker.queues.has('discarded'));
      client.end();
    });
  }

  it('a queue that belongs to another connection: 405', async () => {
    await using host = await AmqpHost.start();
    const owner = await prepared(host);
    owner.send(1, declare('mine', { exclusive: true }));
    await owner.expect(MethodId.queueDeclareOk, 1);
    const other = await RawClient.open(host.port);
    await other.openChannel(1);
    other.send(1, declare('mine', { exclusive: true }));
    const { method } = await other.expect(MethodId.channelClose, 1);
    assert.equal(method.replyCode, 405);
    assert.match(method.replyText, /^RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'mine'/);
    other.end();
    owner.end();
  });

  it('a consumer that wants the queue alone: 403', async () => {
    await using host = await AmqpHost.start();
    const client = await prepared(host);
    client.send(1, new BasicConsume('q', 'a', false, true, true, false, {}));
    await client.expect(MethodId.basicConsumeOk, 1);
    await client.expect(MethodId.basicDeliver, 1);
    client.send(2, consume('q', 'b'));
    const { method } = await client.expect(MethodId.channelClose, 2);
    assert.equal(method.replyCode, 403);
    assert.match(method.replyText, /^ACCESS_REFUSED - queue 'q' in vhost '\/' in exclusive use$/);
    client.end();
  });

  it('answers a channel.close that crosses its own', async () => {
    await using host = await AmqpHost.start();
    const client = await prepared(host);
    client.send(1, declare('no-such', { passive: true }));
    client.send(1, new ChannelClose(200, 'bye', 0, 0));
    await client.expect(MethodId.channelClose, 1);
    await client.expect(MethodId.channelCloseOk, 1);
    client.send(1, new ChannelCloseOk());
    await client.openChannel(1);
    client.end();
  });

  it('cuts a reply text to what a short string holds', async () => {
    await using host = await AmqpHost.start();
    const client = await prepared(host);
    client.send(1, declare('ü'.repeat(127), { passive: true }));
    const { method } = await client.expect(MethodId.channelClose, 1);
    assert.match(method.replyText, /^NOT_FOUND - no queue 'üüü/);
    assert.ok(Buffer.byteLength(method.replyText) <= 255);
    client.end();
  });
});

describe('errors that end the connection', () => {
  for (const error of hardCases) {
    it(`${error.what}: ${error.code}`, async () => {
      await using host = await AmqpHost.start();
      const client = await prepared(host);
      send(client, error);
      let received = await client.next();
      while (received.method?.id === MethodId.basicConsumeOk || received.method?.id === MethodId.basicDeliver) {
        received = await client.next();
      }
      const { method } = received;
      assert.equal(method?.id, MethodId.connectionClose);
      assert.ok(method?.id === MethodId.connectionClose);
      assert.equal(method.replyCode, error.code);
      assert.match(method.replyText, error.text);
      if (error.blames !== 0) assert.equal((method.classId << 16) | method.methodId, error.blames);
      client.end();
      await eventually(() => host.server.connectionCount === 0);
      assert.equal(host.broker.queues.get('q')!.readyCount, 1, 'what was held is back');
    });
  }

  it('bytes that are no frame: 501, and the socket closes', async () => {
    await using host = await AmqpHost.start();
    const client = await prepared(host);
    client.sendBytes(Buffer.from('\x09\x00\x01\x00\x00\x00\x00\xce', 'latin1'));
    const { method } = await client.expect(MethodId.connectionClose);
    assert.equal(method.replyCode, 501);
    await client.closed;
  });

  it('a frame that is larger than agreed: 501', async () => {
    await using host = await AmqpHost.start();
    const client = await RawClient.open(host.port, { frameMax: 4096 });
    await client.openChannel(1);
    client.sendBytes(frame(3, 1, new Uint8Array(5000)));
    assert.equal((await client.expect(MethodId.connectionClose)).method.replyCode, 501);
    client.end();
  });

  it('unfinished bodies beyond the bound of a connection: 506', async () => {
    await using host = await AmqpHost.start({ partialBytesMax: 1_000_000 });
    const client = await prepared(host);
    for (const channel of [1, 2]) {
      client.send(channel, new BasicPublish('', 'q', false, false));
      client.sendBytes(header(channel, 10_000_000));
      for (let i = 0; i < 5; i++) client.sendBytes(body(channel, 'x'.repeat(100_000)));
    }
    const { method } = await client.expect(MethodId.connectionClose);
    assert.equal(method.replyCode, 506);
    client.end();
  });

  it('confirm.select counts for the channel alone', async () => {
    await using host = await AmqpHost.start();
    const client = await prepared(host);
    client.send(1, new ConfirmSelect(false));
    await client.expect(MethodId.confirmSelectOk, 1);
    client.publish(2, '', 'q', 'x');
    client.publish(1, '', 'q', 'x');
    assert.equal((await client.expect(MethodId.basicAck, 1)).method.deliveryTag, 1);
    assert.ok(await client.silent());
    client.end();
  });

  it('answers access.request of old clients with a ticket', async () => {
    await using host = await AmqpHost.start();
    const client = await RawClient.open(host.port);
    await client.openChannel(1);
    client.send(1, new AccessRequest('/data', false, true, true, true, true));
    assert.equal((await client.expect(MethodId.accessRequestOk, 1)).method.ticket, 1);
  });
});
