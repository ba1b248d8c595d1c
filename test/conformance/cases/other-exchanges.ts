/** Exchange types of RabbitMQ's plugins: consistent hash, random. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import type { Arguments, Client, PublishOptions } from '../client.js';

const hash = 'x-consistent-hash';
const random = 'x-random';

/** An exchange with queues bound with these keys; how many of `count` messages each queue gets. */
async function spread(
  client: Client,
  type: string,
  keys: readonly string[],
  count: number,
  options: { args?: Arguments; key?: (i: number) => string; properties?: (i: number) => PublishOptions } = {},
): Promise<number[]> {
  const exchange = await client.exchange(type, options.args);
  const queues: string[] = [];
  for (const key of keys) queues.push(await client.bound(exchange, key));
  const { key = String, properties = () => ({}) } = options;
  await Promise.all(Array.from({ length: count }, (_, i) => client.publish(exchange, key(i), 'x', properties(i))));
  const counts: number[] = [];
  for (const queue of queues) counts.push(await client.count(queue));
  return counts;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, one) => sum + one, 0);
}

function sorted(counts: readonly number[]): number[] {
  return [...counts].sort((one, other) => one - other);
}

/** Within a factor: hashes and dice are not exact. */
function assertShares(counts: readonly number[], shares: readonly number[], factor: number): void {
  const all = total(counts) / total(shares);
  for (const [i, count] of counts.entries()) {
    const wanted = shares[i]! * all;
    assert.ok(count > wanted / factor && count < wanted * factor, `${counts} for shares ${shares}`);
  }
}

export const otherExchanges: readonly Case[] = [
  rule(hash, 'each message goes to one of the queues, all get some', async (client) => {
    const counts = await spread(client, hash, ['10', '10', '10'], 600);
    assert.equal(total(counts), 600);
    assertShares(counts, [1, 1, 1], 3);
  }),
  rule(hash, 'the key of a binding is its weight', async (client) => {
    const counts = await spread(client, hash, ['10', '30'], 800);
    assert.equal(total(counts), 800);
    assertShares(counts, [1, 3], 2);
  }),
  rule(hash, 'messages with one routing key go to one queue', async (client) => {
    const counts = await spread(client, hash, ['5', '5', '5'], 50, { key: () => 'the same' });
    assert.deepEqual(sorted(counts), [0, 0, 50]);
  }),
  rule(hash, 'with hash-header the header counts, not the routing key', async (client) => {
    const args = { 'hash-header': 'by' };
    const same = { args, properties: () => ({ headers: { by: 'one' } }) };
    assert.deepEqual(sorted(await spread(client, hash, ['5', '5'], 30, same)), [0, 30]);
    const others = { args, key: () => 'k', properties: (i: number) => ({ headers: { by: `${i}` } }) };
    assertShares(await spread(client, hash, ['10', '10'], 300, others), [1, 1], 3);
  }),
  ...(['correlation_id', 'message_id', 'timestamp'] as const).map((property) =>
    rule(hash, `with hash-property the property ${property} counts`, async (client) => {
      const of = (i: number): PublishOptions =>
        ({
          correlation_id: { correlationId: `${i}` },
          message_id: { messageId: `${i}` },
          timestamp: { timestamp: 1_000_000 + i },
        })[property];
      const args = { 'hash-property': property };
      const counts = await spread(client, hash, ['10', '10'], 300, { args, key: () => 'k', properties: of });
      assertShares(counts, [1, 1], 3);
    }),
  ),
  rule(hash, 'when a queue goes the others get its messages', async (client) => {
    const exchange = await client.exchange(hash);
    const queues = [await client.bound(exchange, '1'), await client.bound(exchange, '1')];
    await client.channel.deleteQueue(queues[0]!);
    await Promise.all(Array.from({ length: 20 }, (_, i) => client.publish(exchange, `${i}`, 'x')));
    assert.equal(await client.count(queues[1]!), 20);
  }),
  rule(hash, 'without bindings a message is not routed', async (client) => {
    const exchange = await client.exchange(hash);
    await client.publish(exchange, 'k', 'x', { mandatory: true });
    assert.equal(client.returned.length, 1);
  }),
  rule(hash, 'a binding whose key is no number is refused with 406', async (client) => {
    const exchange = await client.exchange(hash);
    const queue = await client.queue();
    const outcome = await client.outcome((channel) => channel.bindQueue(queue, exchange, 'heavy'));
    assert.match(outcome, /^406 PRECONDITION_FAILED - /);
  }),
  rule(hash, 'both hash-header and hash-property are refused with 406', async (client) => {
    const outcome = await client.outcome((channel) =>
      channel.assertExchange(client.session.name(), hash, {
        arguments: { 'hash-header': 'a', 'hash-property': 'message_id' },
      }),
    );
    assert.match(outcome, /^406 PRECONDITION_FAILED - /);
  }),
  rule(random, 'each message goes to one of the queues, whatever the key, all get some', async (client) => {
    const counts = await spread(client, random, ['a', 'b', 'c'], 300, { key: () => 'the same' });
    assert.equal(total(counts), 300);
    assertShares(counts, [1, 1, 1], 2);
  }),
];
