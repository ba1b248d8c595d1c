/** rhea and amqplib with each other: what one sends the other gets, with everything that both can say. */
import assert from 'node:assert/strict';
import { bytes, type Message, RheaClient, textOf } from '../../support/rhea-client.js';
import type { Case } from '../case.js';
import { text } from '../client.js';
import type { Client } from '../client.js';
import type { Session } from '../session.js';

function rheaRule(title: string, body: (rhea: RheaClient, client: Client, session: Session) => Promise<void>): Case {
  return {
    title: `rhea: ${title}`,
    source: 'AMQP 1.0',
    onlyOurs: true,
    async run(session) {
      const rhea = await RheaClient.open({ port: session.target.port, patienceMs: session.patienceMs });
      try {
        await body(rhea, await session.client(), session);
        assert.deepEqual(rhea.errors, []);
      } finally {
        await rhea.close();
      }
    },
  };
}

const uuid = Buffer.from('00112233445566778899aabbccddeeff', 'hex');

const everything: Message = {
  durable: true,
  priority: 7,
  ttl: 600_000,
  message_id: 'm-1',
  user_id: 'guest',
  to: 'somewhere',
  subject: 'subject',
  reply_to: 'answers',
  correlation_id: 'c-1',
  content_type: 'text/plain',
  content_encoding: 'identity',
  creation_time: new Date(1_700_000_000_000),
  group_id: 'group',
  group_sequence: 3,
  reply_to_group_id: 'other',
  message_annotations: { 'x-opt-mine': 'yes' },
  application_properties: { text: 'ü', whole: 5, fraction: 1.5, yes: true },
  body: bytes('body'),
};

export const clients10: readonly Case[] = [
  rheaRule('a message comes out of a queue as it went in', async (rhea, client) => {
    const queue = `/queues/${await client.queue()}`;
    const receiver = await rhea.receiver(queue);
    const sender = await rhea.sender(queue);
    assert.equal(await sender.send(everything), 'accepted');
    const [got] = await receiver.take(1);
    for (const [name, value] of Object.entries(everything)) {
      if (name === 'body' || name === 'user_id' || name === 'creation_time') continue;
      assert.deepEqual((got as unknown as Record<string, unknown>)[name], value, name);
    }
    assert.equal(String(got!.user_id), 'guest');
    assert.equal(Number(got!.creation_time), 1_700_000_000_000);
    assert.deepEqual([got!.first_acquirer, got!.delivery_count, textOf(got!)], [true, 0, 'body']);
  }),
  {
    title: 'rhea: a delivery may have more frames than the window of a session',
    source: 'AMQP 1.0 §2.5.6',
    onlyOurs: true,
    async run(session) {
      const client = await session.client();
      const queues = [await client.queue(), await client.queue()];
      // It takes 2,048 transfers.
      const size = 3_000_000;
      for (const queue of queues) await client.send(queue, 'x'.repeat(size));
      const { patienceMs, target } = session;
      const rhea = await RheaClient.open({ port: target.port, patienceMs, more: { max_frame_size: 512 } });
      try {
        const receivers = await Promise.all(queues.map((queue) => rhea.receiver(`/queues/${queue}`)));
        for (const receiver of receivers) assert.equal(textOf((await receiver.take(1))[0]!).length, size);
        assert.deepEqual(rhea.errors, []);
      } finally {
        await rhea.close();
      }
    },
  },
  rheaRule('bodies of all kinds come out as they went in', async (rhea, client) => {
    const queue = `/queues/${await client.queue()}`;
    const receiver = await rhea.receiver(queue);
    const sender = await rhea.sender(queue);
    const bodies: unknown[] = ['text', 42, null, true, { a: [1, 2] }, ['x', 'y']];
    for (const body of bodies) assert.equal(await sender.send({ body }), 'accepted');
    const got = await receiver.take(bodies.length);
    assert.deepEqual(
      got.map(({ body }) => body as unknown),
      bodies,
    );
  }),
  rheaRule('what it sends, amqplib gets with its properties', async (rhea, client) => {
    const queue = await client.queue();
    const sender = await rhea.sender(`/queues/${queue}`);
    assert.equal(await sender.send(everything), 'accepted');
    const message = await client.soon(queue);
    const { properties } = message;
    assert.equal(text(message), 'body');
    assert.equal(properties.deliveryMode, 2);
    assert.equal(properties.priority, 7);
    assert.equal(properties.expiration, '600000');
    assert.equal(properties.messageId, 'm-1');
    assert.equal(properties.userId, 'guest');
    assert.equal(properties.replyTo, 'answers');
    assert.equal(properties.correlationId, 'c-1');
    assert.equal(properties.contentType, 'text/plain');
    assert.equal(properties.contentEncoding, 'identity');
    assert.equal(properties.timestamp, 1_700_000_000);
    assert.equal(properties.appId, 'group');
    assert.deepEqual(properties.headers, {
      text: 'ü',
      whole: 5,
      fraction: 1.5,
      yes: true,
      'x-opt-mine': 'yes',
      'x-amqp10-to': 'somewhere',
      'x-amqp10-subject': 'subject',
      'x-amqp10-group-sequence': 3,
      'x-amqp10-reply-to-group-id': 'other',
    });
  }),
  rheaRule('what amqplib sends, it gets with its properties', async (rhea, client) => {
    const queue = await client.queue();
    await client.publish('', queue, 'body', {
      contentType: 'text/plain',
      contentEncoding: 'identity',
      headers: { text: 'ü', whole: 5, fraction: 1.5, yes: true, 'x-mine': 'yes', CC: [], list: [1] },
      persistent: true,
      priority: 7,
      correlationId: 'urn:uuid:00112233-4455-6677-8899-aabbccddeeff',
      replyTo: 'answers',
      expiration: '600000',
      messageId: 'm-1',
      timestamp: 1_700_000_000,
      type: 'kind',
      userId: 'guest',
      appId: 'app',
    });
    const receiver = await rhea.receiver(`/queues/${queue}`);
    const [got] = await receiver.take(1);
    assert.equal(textOf(got!), 'body');
    assert.deepEqual([got!.durable, got!.priority, got!.ttl, got!.first_acquirer], [true, 7, 600_000, true]);
    assert.deepEqual([got!.message_id, got!.reply_to, got!.group_id], ['m-1', 'answers', 'app']);
    assert.deepEqual([got!.content_type, got!.content_encoding], ['text/plain', 'identity']);
    assert.deepEqual(Buffer.from(got!.correlation_id as never), uuid);
    assert.equal(Number(got!.creation_time), 1_700_000_000_000);
    assert.deepEqual(got!.application_properties, { text: 'ü', whole: 5, fraction: 1.5, yes: true });
    assert.deepEqual(got!.message_annotations, {
      'x-mine': 'yes',
      'x-cc': [],
      'x-amqp091-headers': { list: [1] },
      'x-basic-type': 'kind',
      'x-exchange': '',
      'x-routing-key': queue,
    });
  }),
  rheaRule('redelivered is the contrary of first-acquirer, in both directions', async (rhea, client) => {
    const queue = await client.queue();
    const sender = await rhea.sender(`/queues/${queue}`);
    await sender.send({ body: bytes('x') });
    const first = await client.get(queue);
    assert.equal(first.fields.redelivered, false);
    client.requeue(first);
    const receiver = await rhea.receiver(`/queues/${queue}`, 1);
    const got = await receiver.next();
    assert.equal(got.message.first_acquirer, false);
    got.release();
    assert.equal((await client.soon(queue)).fields.redelivered, true);
  }),
  rheaRule('many come once each, in order, unsettled', async (rhea, client) => {
    const queue = `/queues/${await client.queue()}`;
    const receiver = await rhea.receiver(queue, 0, { credit_window: 100 });
    const sender = await rhea.sender(queue);
    const count = 1000;
    const all = Array.from({ length: count }, (_, i) => ({ body: bytes(String(i)) }));
    const [got] = await Promise.all([receiver.take(count), sender.sendAll(all)]);
    assert.deepEqual(
      got.map((message) => Number(textOf(message))),
      all.map((_, i) => i),
    );
  }),
  rheaRule('large messages go through whole, to both protocols', async (rhea, client) => {
    const queue = await client.queue();
    const body = 'z'.repeat(3_000_000);
    const sender = await rhea.sender(`/queues/${queue}`);
    await sender.send({ body: bytes(body) });
    await client.publish('', queue, body);
    const receiver = await rhea.receiver(`/queues/${queue}`, 2);
    for (const message of await receiver.take(2)) assert.equal(textOf(message), body);
    await sender.send({ body: bytes(body) });
    assert.equal(text(await client.soon(queue)), body);
  }),
  rheaRule('exchanges route by what messages say', async (rhea, client) => {
    const topics = await client.exchange('topic');
    const headers = await client.exchange('headers');
    const byTopic = await client.bound(topics, 'a.*');
    const byHeader = await client.queue();
    await client.bind(byHeader, headers, '', { 'x-match': 'all', kind: 'blue', size: 3 });
    const toTopics = await rhea.sender(`/exchanges/${topics}`);
    assert.equal(await toTopics.send({ subject: 'a.b', body: bytes('topic') }), 'accepted');
    assert.equal(await toTopics.send({ subject: 'b.b', body: bytes('none') }), 'released');
    const toHeaders = await rhea.sender(`/exchanges/${headers}`);
    const blue = { kind: 'blue', size: 3 };
    assert.equal(await toHeaders.send({ application_properties: blue, body: bytes('header') }), 'accepted');
    assert.equal(await toHeaders.send({ application_properties: { kind: 'red' }, body: bytes('none') }), 'released');
    assert.equal(text(await client.soon(byTopic)), 'topic');
    assert.equal(text(await client.soon(byHeader)), 'header');
  }),
  rheaRule('a message that expires is a dead letter, which says so in both protocols', async (rhea, client) => {
    const dead = await client.queue();
    const queue = await client.queue({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead });
    const sender = await rhea.sender(`/queues/${queue}`);
    await sender.send({ ttl: 20, body: bytes('x') });
    const receiver = await rhea.receiver(`/queues/${dead}`, 1);
    const [got] = await receiver.take(1);
    const annotations = got!.message_annotations as Record<string, unknown>;
    assert.deepEqual([annotations['x-first-death-queue'], annotations['x-first-death-reason']], [queue, 'expired']);
    const [death] = annotations['x-opt-deaths'] as { queue: string; count: number; ttl: number }[];
    assert.deepEqual([death!.queue, Number(death!.count), death!.ttl], [queue, 1, 20]);
    assert.equal(got!.ttl, undefined);
    await sender.send({ ttl: 20, body: bytes('y') });
    const { properties } = await client.soon(dead);
    const [inHeader] = properties.headers!['x-death'] as unknown as { queue: string; 'original-expiration': string }[];
    assert.deepEqual([inHeader!.queue, inHeader!['original-expiration']], [queue, '20']);
  }),
  rheaRule('priorities count', async (rhea, client) => {
    const queue = await client.queue({ 'x-max-priority': 9 });
    const sender = await rhea.sender(`/queues/${queue}`);
    for (const priority of [1, 9, 5]) await sender.send({ priority, body: bytes(String(priority)) });
    const receiver = await rhea.receiver(`/queues/${queue}`, 3);
    assert.deepEqual((await receiver.take(3)).map(textOf), ['9', '5', '1']);
  }),
  rheaRule('a receiver that drains is told when there is no more', async (rhea, client) => {
    const queue = await client.queue();
    await client.send(queue, 'only');
    const receiver = await rhea.receiver(`/queues/${queue}`, 5);
    const drained = new Promise<void>((resolve) => receiver.link.once('receiver_drained', () => resolve()));
    receiver.link.drain_credit();
    await drained;
    assert.deepEqual((await receiver.take(1)).map(textOf), ['only']);
  }),
];
