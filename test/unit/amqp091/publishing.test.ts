import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  BasicConsume,
  BasicGet,
  BasicProperties,
  BasicPublish,
  ConfirmSelect,
  ExchangeDeclare,
  FrameWriter,
  MethodId,
  QueueBind,
  QueueDeclare,
  QueueDelete,
} from '../../../src/amqp091/codec/index.js';
import { MessageParts } from '../../../src/log/record.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';

const declare = (name: string): QueueDeclare => new QueueDeclare(name, false, false, false, false, false, {});

async function withQueue(host: AmqpHost, name = 'q'): Promise<RawClient> {
  const client = await RawClient.open(host.port);
  await client.openChannel(1);
  client.send(1, declare(name));
  await client.expect(MethodId.queueDeclareOk, 1);
  return client;
}

async function confirming(host: AmqpHost): Promise<RawClient> {
  const client = await withQueue(host);
  client.send(1, new ConfirmSelect(false));
  await client.expect(MethodId.confirmSelectOk, 1);
  return client;
}

/** A broker that does not know where messages go until `see` is called. */
function blindfold(host: AmqpHost): { see(): void } {
  const { broker } = host;
  const [route, publish] = [broker.route.bind(broker), broker.publish.bind(broker)];
  const late: (() => void)[] = [];
  let asked: Parameters<typeof route> = ['/', '', '', () => ({})];
  broker.route = (...args) => {
    asked = args;
    return { version: -1, keyed: false, queueCount: 1, isKnown: false, queues: [], addresses: [] };
  };
  broker.publish = (_route, parts, owner, tag) => {
    const [args, copy] = [asked, copyOf(parts)];
    late.push(() => {
      try {
        if (publish(route(...args), copy, owner, tag) > 0) return;
        owner.unroutable?.(tag, copy);
        owner.completed(tag);
      } catch (error) {
        owner.failed!(tag, error as Error);
      }
    });
    return 1;
  };
  return {
    see: () => {
      for (const run of late.splice(0)) run();
    },
  };
}

function copyOf(parts: MessageParts): MessageParts {
  const copy = Object.assign(new MessageParts(), parts);
  copy.metaBytes = parts.metaBytes.slice();
  copy.headerBytes = parts.headerBytes.slice();
  copy.bodyBytes = parts.bodyBytes.slice();
  return copy;
}

describe('publishing while it is not known where messages go', () => {
  it('returns what is mandatory and leads nowhere before it is confirmed', async () => {
    await using host = await AmqpHost.start();
    const client = await confirming(host);
    const { see } = blindfold(host);
    client.publish(1, '', 'nowhere', 'kept?', {}, true);
    client.publish(1, '', 'nowhere', 'not mandatory');
    client.publish(1, '', 'q', 'routed', {}, true);
    assert.equal(await client.silent(), true);
    see();
    const { method, body } = await client.expect(MethodId.basicReturn, 1);
    assert.deepEqual([method.replyCode, method.routingKey, body.toString()], [312, 'nowhere', 'kept?']);
    const ack = await client.expect(MethodId.basicAck, 1);
    assert.deepEqual([ack.method.deliveryTag, ack.method.multiple], [3, true]);
    assert.equal(host.broker.queues.get('q')!.readyCount, 1);
    client.end();
  });

  it('ends the channel if the exchange is gone, with and without confirms, and takes nothing that came after it', async () => {
    for (const open of [withQueue, confirming]) {
      await using host = await AmqpHost.start();
      const client = await open(host);
      const { see } = blindfold(host);
      client.publish(1, 'gone', 'q', 'lost');
      client.publish(1, '', 'q', 'after it');
      assert.equal(await client.silent(), true);
      see();
      const { method } = await client.expect(MethodId.channelClose, 1);
      assert.equal(method.replyCode, 404);
      assert.match(method.replyText, /no exchange 'gone'/);
      assert.equal(method.methodId, MethodId.basicPublish & 0xffff);
      client.end();
    }
  });
});

describe('publishing', () => {
  it('hands on every part of a message as it came', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueue(host);
    const properties = { contentType: 'text/plain', headers: { a: 1 }, deliveryMode: 2, priority: 7, appId: 'test' };
    client.publish(1, '', 'q', 'hello', properties);
    client.send(1, new BasicGet('q', true));
    const { method, properties: got, body } = await client.expect(MethodId.basicGetOk, 1);
    assert.deepEqual([method.exchange, method.routingKey, body.toString()], ['', 'q', 'hello']);
    assert.deepEqual({ ...got }, { ...new BasicProperties(), ...properties });
    client.end();
  });

  it('tells the broker persistence, priority and absolute expiry', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueue(host);
    const seen: [boolean, number, number][] = [];
    const publish = host.broker.publish.bind(host.broker);
    host.broker.publish = (route, parts, owner, tag) => {
      seen.push([parts.persistent, parts.priority, parts.expiresAt]);
      return publish(route, parts, owner, tag);
    };
    const before = Date.now();
    client.publish(1, '', 'q', 'x', { deliveryMode: 2, priority: 3, expiration: '60000' });
    client.publish(1, '', 'q', 'x', { deliveryMode: 1 });
    await eventually(() => seen.length === 2);
    const [persistent, priority, expiresAt] = seen[0]!;
    assert.deepEqual([persistent, priority], [true, 3]);
    assert.ok(expiresAt >= before + 60_000 && expiresAt <= Date.now() + 60_000);
    assert.deepEqual(seen[1], [false, 0, 0]);
    client.end();
  });

  it('keeps the last route while exchange, key and wiring stay the same', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueue(host);
    for (let i = 0; i < 10; i++) client.publish(1, '', 'q', 'x');
    client.publish(1, '', 'other', 'x');
    client.publish(1, 'amq.fanout', 'q', 'x');
    client.publish(1, '', 'q', 'x');
    await eventually(() => host.broker.queues.get('q')!.readyCount === 11);
    assert.equal(host.broker.routeCount, 4);
    client.send(1, new QueueDelete('q', false, false, false));
    await client.expect(MethodId.queueDeleteOk, 1);
    client.send(1, declare('q'));
    await client.expect(MethodId.queueDeclareOk, 1);
    client.publish(1, '', 'q', 'to the new queue');
    await eventually(() => host.broker.queues.get('q')!.readyCount === 1);
    client.end();
  });

  it('routes by headers anew for every message', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueue(host);
    client.send(1, new ExchangeDeclare('h', 'headers', false, false, false, false, false, {}));
    client.send(1, new QueueBind('q', 'h', '', false, { kind: 'wanted' }));
    await client.expect(MethodId.exchangeDeclareOk, 1);
    await client.expect(MethodId.queueBindOk, 1);
    for (const kind of ['wanted', 'other', 'wanted']) client.publish(1, 'h', '', kind, { headers: { kind } });
    await eventually(() => host.broker.queues.get('q')!.readyCount === 2);
    client.end();
  });

  it('returns what reaches no queue, before its confirm', async () => {
    await using host = await AmqpHost.start();
    const client = await confirming(host);
    client.publish(1, 'amq.direct', 'nowhere', 'back', { messageId: 'm' }, true);
    const { method, properties, body } = await client.expect(MethodId.basicReturn, 1);
    assert.deepEqual([method.replyCode, method.replyText], [312, 'NO_ROUTE']);
    assert.deepEqual([method.exchange, method.routingKey, body.toString()], ['amq.direct', 'nowhere', 'back']);
    assert.equal(properties.messageId, 'm');
    assert.equal((await client.expect(MethodId.basicAck, 1)).method.deliveryTag, 1);
    client.publish(1, 'amq.direct', 'nowhere', 'gone');
    assert.equal((await client.expect(MethodId.basicAck, 1)).method.deliveryTag, 2);
    client.end();
  });

  it('confirms a batch with one ack, and what is out of order by itself', async () => {
    await using host = await AmqpHost.start();
    const client = await confirming(host);
    host.broker.holdConfirms = true;
    for (let i = 0; i < 10; i++) client.publish(1, '', 'q', 'x');
    await eventually(() => host.broker.unconfirmed.length === 10);
    host.broker.confirm([1, 2, 3, 7]);
    assert.deepEqual({ ...(await client.expect(MethodId.basicAck, 1)).method }, ack(3, true));
    assert.deepEqual({ ...(await client.expect(MethodId.basicAck, 1)).method }, ack(7, false));
    host.broker.confirm();
    assert.deepEqual({ ...(await client.expect(MethodId.basicAck, 1)).method }, ack(10, true));
    client.end();
  });

  it('stops reading a publisher whose confirms do not come', async () => {
    await using host = await AmqpHost.start({ unconfirmedMax: 100 });
    const client = await confirming(host);
    host.broker.holdConfirms = true;
    for (let i = 0; i < 1000; i++) client.publish(1, '', 'q', 'x');
    await eventually(() => host.broker.unconfirmed.length === 100);
    assert.ok(await client.silent());
    assert.equal(host.broker.unconfirmed.length, 100);
    host.broker.holdConfirms = false;
    host.broker.confirm();
    await eventually(() => host.broker.queues.get('q')!.readyCount === 1000);
    client.end();
  });

  it('forgets a publisher whose channel ends', async () => {
    await using host = await AmqpHost.start();
    const client = await confirming(host);
    host.broker.holdConfirms = true;
    client.publish(1, '', 'q', 'x');
    await eventually(() => host.broker.unconfirmed.length === 1);
    client.end();
    await eventually(() => host.server.connectionCount === 0);
    assert.equal(host.broker.unconfirmed.length, 0);
  });

  it('lets publishes take effect behind the declaration they were sent after', async () => {
    await using host = await AmqpHost.start({ backlogBytesMax: 10_000 });
    const client = await RawClient.open(host.port);
    await client.openChannel(1);
    await client.openChannel(2);
    let go = (): void => {};
    host.broker.pause = new Promise<void>((resolve) => {
      go = resolve;
    });
    client.send(1, declare('late'));
    const body = Buffer.alloc(1000, 'x');
    for (let i = 0; i < 200; i++) client.publish(1, '', 'late', body);
    client.send(1, declare('late'));
    assert.ok(await client.silent());
    assert.equal(host.broker.queues.size, 0);
    go();
    assert.equal((await client.expect(MethodId.queueDeclareOk, 1)).method.messageCount, 0);
    assert.equal((await client.expect(MethodId.queueDeclareOk, 1)).method.messageCount, 200);
    client.end();
  });

  it('delivers the same messages however their bytes are split', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueue(host);
    await client.openChannel(2);
    client.send(2, new BasicConsume('q', 'c', false, true, false, false, {}));
    await client.expect(MethodId.basicConsumeOk, 2);
    // These say where a message goes.
    const name = fc.string({ maxLength: 5 }).filter((one) => one !== 'CC' && one !== 'BCC');
    const message = fc.record({
      channel: fc.constantFrom(1, 2),
      size: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 3000, max: 20_000 })),
      headers: fc.dictionary(name, fc.integer({ min: 0, max: 1000 }), { noNullPrototype: true }),
    });
    const cuts = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 12 }), cuts, async (messages, sizes) => {
        const stream = encode(messages);
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = sizes[i % sizes.length]!;
          client.sendBytes(stream.subarray(at, at + size));
          if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
          at += size;
        }
        for (const [i, { size, headers }] of messages.entries()) {
          const { properties, body } = await client.expect(MethodId.basicDeliver, 2);
          assert.deepEqual(properties.headers, headers);
          assert.deepEqual(body, Buffer.alloc(size, i));
        }
      }),
      { numRuns: 40 },
    );
    client.end();
  });
});

function ack(deliveryTag: number, multiple: boolean): object {
  return { id: MethodId.basicAck, deliveryTag, multiple };
}

/** The bytes of these publishes, bodies split at a frame-max of 4096, contents of the two channels interleaved. */
function encode(messages: { channel: number; size: number; headers: Record<string, number> }[]): Buffer {
  const frames = new FrameWriter();
  frames.frameMax = 4096;
  for (const [i, { channel, size, headers }] of messages.entries()) {
    const properties = Object.assign(new BasicProperties(), { headers });
    frames.methodWithContent(channel, new BasicPublish('', 'q', false, false), properties, Buffer.alloc(size, i));
  }
  return Buffer.from(frames.output.take());
}

describe('publishing: contents of several channels at once', () => {
  it('keeps them apart', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueue(host);
    await client.openChannel(2);
    // Frames by hand: method 1, method 2, header 2, header 1, body 2, body 1; all in one write.
    const parts = [1, 2].map((channel) => {
      const frames = new FrameWriter();
      const body = Buffer.from(`body of ${channel}`);
      frames.methodWithContent(channel, new BasicPublish('', 'q', false, false), new BasicProperties(), body);
      const bytes = Buffer.from(frames.output.take());
      const methodEnd = 8 + bytes.readUInt32BE(3);
      const headerEnd = methodEnd + 8 + bytes.readUInt32BE(methodEnd + 3);
      return [bytes.subarray(0, methodEnd), bytes.subarray(methodEnd, headerEnd), bytes.subarray(headerEnd)] as const;
    });
    const [one, two] = parts;
    client.sendBytes(Buffer.concat([one![0], two![0], two![1], one![1], two![2], one![2]]));
    await eventually(() => host.broker.queues.get('q')!.readyCount === 2);
    const bodies: string[] = [];
    for (let i = 0; i < 2; i++) {
      client.send(1, new BasicGet('q', true));
      bodies.push((await client.expect(MethodId.basicGetOk, 1)).body.toString());
    }
    assert.deepEqual(bodies, ['body of 2', 'body of 1']);
    client.end();
  });
});
