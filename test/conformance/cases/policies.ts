/** What policies, and those of operators, do to queues and exchanges that are there already. */
import assert from 'node:assert/strict';
import type { Client } from '../client.js';
import { type Case, rule } from '../case.js';

const policies = 'policies';
const operators = 'operator policies';

/** What is left of so many messages: the last ones. */
function last(count: number, of: number): string[] {
  return Array.from({ length: count }, (_, i) => String(of - count + i));
}

async function sendNumbers(client: Client, queue: string, count: number): Promise<void> {
  await client.send(queue, ...Array.from({ length: count }, (_, i) => String(i)));
}

/** A policy of RabbitMQ's comes to its queues soon after it was set. */
async function lengthBecomes(client: Client, queue: string, length: number): Promise<void> {
  await client.until(`no more than ${length} messages are in it`, async () => {
    await sendNumbers(client, queue, length + 3);
    return (await client.drain(queue)).length === length;
  });
}

export const policyCases: readonly Case[] = [
  rule(policies, 'a length limits a queue that is there, and what is in it', async (client, { management }) => {
    const queue = await client.queue();
    await sendNumbers(client, queue, 5);
    await management.policy('policies', [queue], { 'max-length': 2 });
    await client.becomes(queue, 2);
    assert.deepEqual(await client.drain(queue), last(2, 5));
  }),
  rule(policies, 'without its policy a queue is as before', async (client, { management }) => {
    const queue = await client.queue();
    const name = await management.policy('policies', [queue], { 'max-length': 2 });
    await lengthBecomes(client, queue, 2);
    await management.clear('policies', name);
    await client.until('five messages are in it', async () => {
      await sendNumbers(client, queue, 5);
      return (await client.drain(queue)).length === 5;
    });
  }),
  rule(policies, 'the highest priority of those that match applies, alone', async (client, { management }) => {
    const queue = await client.queue();
    await management.policy('policies', [queue], { 'max-length': 1, overflow: 'reject-publish' }, { priority: 1 });
    await management.policy('policies', [queue], { 'max-length': 3 }, { priority: 2 });
    await lengthBecomes(client, queue, 3);
    await sendNumbers(client, queue, 5);
    assert.deepEqual(await client.drain(queue), last(3, 5));
  }),
  rule(policies, 'of argument and policy the lower limit counts', async (client, { management }) => {
    const [less, more] = [await client.queue({ 'x-max-length': 2 }), await client.queue({ 'x-max-length': 4 })];
    await management.policy('policies', [less, more], { 'max-length': 3 });
    await lengthBecomes(client, more, 3);
    await lengthBecomes(client, less, 2);
  }),
  rule(policies, 'a dead letter exchange is one from then on', async (client, { management }) => {
    const [queue, dead] = [await client.queue(), await client.queue()];
    const definition = { 'dead-letter-exchange': '', 'dead-letter-routing-key': dead };
    await management.policy('policies', [queue], definition, { applyTo: 'queues' });
    await client.until('a dead letter comes', async () => {
      await client.send(queue, 'x');
      client.reject(await client.get(queue));
      return (await client.count(dead)) > 0;
    });
    const { headers } = (await client.get(dead)).properties;
    assert.equal((headers!['x-death'] as { queue: string }[])[0]!.queue, queue);
  }),
  rule(policies, 'an alternate exchange is one from then on', async (client, { management }) => {
    const exchange = await client.exchange('direct');
    const other = await client.exchange('fanout');
    const queue = await client.bound(other);
    const definition = { 'alternate-exchange': other };
    await management.policy('policies', [exchange], definition, { applyTo: 'exchanges' });
    await client.until('a message comes', async () => {
      await client.publish(exchange, 'nowhere', 'x');
      return (await client.count(queue)) > 0;
    });
  }),
  rule(policies, 'one for exchanges leaves queues alone', async (client, { management }) => {
    const queue = await client.queue();
    const definition = { 'alternate-exchange': 'amq.fanout' };
    await management.policy('policies', [queue], { 'max-length': 2 }, { applyTo: 'queues', priority: 1 });
    await management.policy('policies', [queue], definition, { applyTo: 'exchanges', priority: 2 });
    await lengthBecomes(client, queue, 2);
  }),
  rule(
    operators,
    'a length limits a queue that is there, whatever its arguments say',
    async (client, { management }) => {
      const queue = await client.queue({ 'x-max-length': 4 });
      await sendNumbers(client, queue, 5);
      await management.policy('operator-policies', [queue], { 'max-length': 2 }, { applyTo: 'queues' });
      await client.becomes(queue, 2);
      assert.deepEqual(await client.drain(queue), last(2, 5));
    },
  ),
  rule(
    operators,
    'of both policies the lower limit counts, and the rest of the other one',
    async (client, { management }) => {
      const queue = await client.queue();
      await management.policy('policies', [queue], { 'max-length': 9, overflow: 'reject-publish' });
      await management.policy('operator-policies', [queue], { 'max-length': 2 }, { applyTo: 'queues' });
      await client.until('the third publish is refused', async () => {
        const confirms: string[] = [];
        for (const body of ['0', '1', '2']) confirms.push(await client.publish('', queue, body));
        const left = await client.drain(queue);
        return confirms.join() === 'ack,ack,nack' && left.join() === '0,1';
      });
    },
  ),
  rule(operators, 'a lower limit of the policy stays', async (client, { management }) => {
    const queue = await client.queue();
    await management.policy('operator-policies', [queue], { 'max-length': 9 }, { applyTo: 'queues' });
    await management.policy('policies', [queue], { 'max-length': 2 });
    await lengthBecomes(client, queue, 2);
  }),
  rule(
    operators,
    'a time to live of an operator expires what is published from then on',
    async (client, { management }) => {
      const queue = await client.queue();
      await management.policy('operator-policies', [queue], { 'message-ttl': 1 }, { applyTo: 'queues' });
      await client.until('what was published is gone', async () => {
        await client.send(queue, 'x');
        return (await client.count(queue)) === 0;
      });
    },
  ),
  rule(operators, 'nothing but limits can be set', async (_client, { management }) => {
    for (const definition of [{ overflow: 'reject-publish' }, { 'dead-letter-exchange': 'x' }, { nonsense: 1 }, {}]) {
      const body = { pattern: '^nothing$', definition, 'apply-to': 'queues' };
      assert.equal((await management.ask('PUT', 'operator-policies/%2F/wrong', body)).status, 400);
    }
  }),
  rule(operators, 'a queue is shown with both policies, and what they come to', async (client, { management }) => {
    const queue = await client.queue();
    const own = await management.policy('policies', [queue], { 'max-length': 9, 'message-ttl': 1000 });
    const operator = await management.policy('operator-policies', [queue], { 'max-length': 2 }, { applyTo: 'queues' });
    const wanted = {
      policy: own,
      operator_policy: operator,
      effective_policy_definition: { 'max-length': 2, 'message-ttl': 1000 },
    };
    let shown: unknown;
    await client.until('it is shown', async () => {
      const { body } = await management.ask('GET', `queues/%2F/${queue}?columns=${Object.keys(wanted).join()}`);
      shown = body;
      return (body as Record<string, unknown>)['operator_policy'] === operator;
    });
    assert.deepEqual(shown, wanted);
  }),
];
