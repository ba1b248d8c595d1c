/** Methods with no-wait: done, and not answered. */
import assert from 'node:assert/strict';
import {
  BasicCancel,
  ExchangeBind,
  ExchangeDelete,
  ExchangeUnbind,
  type Method,
  MethodId,
  methodName,
  QueueBind,
  QueueDelete,
  QueuePurge,
} from '../../../src/amqp091/codec/index.js';
import { type Case, wireRule } from '../case.js';
import type { Client } from '../client.js';
import { consume, declareExchange } from '../methods.js';
import type { Wire } from '../wire.js';

interface Things {
  wire: Wire;
  client: Client;
  queue: string;
  /** Both fanout. */
  source: string;
  target: string;
}

type Step = (things: Things) => Promise<void>;

const bind: Step = async ({ wire, queue, target }) => {
  await wire.call(new QueueBind(queue, target, '', false, {}), MethodId.queueBindOk);
};

/** What is done before, with no-wait, and how that shows. */
const rows: readonly { before?: Step; method: (things: Things) => Method; after: Step }[] = [
  {
    method: ({ queue, target }) => new QueueBind(queue, target, '', true, {}),
    after: async ({ client, queue, target }) => {
      await client.publish(target, '', 'x');
      assert.equal(await client.count(queue), 1);
    },
  },
  {
    before: ({ client, queue }) => client.send(queue, 'a'),
    method: ({ queue }) => new QueuePurge(queue, true),
    after: ({ client, queue }) => client.becomes(queue, 0),
  },
  {
    method: ({ queue }) => new QueueDelete(queue, false, false, true),
    after: async ({ client, queue }) => assert.equal(await client.hasQueue(queue), false),
  },
  {
    method: ({ target }) => new ExchangeDelete(target, false, true),
    after: async ({ client, target }) => assert.equal(await client.hasExchange(target), false),
  },
  {
    before: bind,
    method: ({ source, target }) => new ExchangeBind(target, source, '', true, {}),
    after: async ({ client, queue, source }) => {
      await client.publish(source, '', 'x');
      assert.equal(await client.count(queue), 1);
    },
  },
  {
    before: async (things) => {
      await bind(things);
      await things.wire.call(new ExchangeBind(things.target, things.source, '', false, {}), MethodId.exchangeBindOk);
    },
    method: ({ source, target }) => new ExchangeUnbind(target, source, '', true, {}),
    after: async ({ client, queue, source }) => {
      await client.publish(source, '', 'x');
      assert.equal(await client.count(queue), 0);
    },
  },
  {
    method: ({ queue }) => consume(queue, { tag: 'mine', noWait: true }),
    after: async ({ client, queue }) => {
      assert.equal((await client.channel.checkQueue(queue)).consumerCount, 1);
    },
  },
  {
    before: async ({ wire, queue }) => {
      await wire.call(consume(queue, { tag: 'mine' }), MethodId.basicConsumeOk);
    },
    method: () => new BasicCancel('mine', true),
    after: async ({ client, queue }) => {
      assert.equal((await client.channel.checkQueue(queue)).consumerCount, 0);
    },
  },
];

export const noWait: readonly Case[] = rows.map(({ before, method, after }) => {
  const names = { queue: '', source: '', target: '' } as Things;
  return wireRule(
    'no-wait',
    `${methodName(method(names).id)} with no-wait is done, and not answered`,
    async (wire, session) => {
      const client = await session.client();
      const things = { wire, client, queue: await wire.queue(), source: session.name(), target: session.name() };
      for (const name of [things.source, things.target])
        await wire.call(declareExchange(name, { type: 'fanout' }), MethodId.exchangeDeclareOk);
      await before?.(things);
      wire.send(method(things));
      await wire.channelWorks();
      await after(things);
    },
  );
});
