/** Topic exchanges: `*` is one word, `#` any number of words, words are between dots. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';

const source = '§3.1.3.3';

/** Pattern, keys that match, keys that do not. */
const patterns: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['a', ['a'], ['', 'b', 'a.a', 'aa', '.a', 'a.', 'A']],
  ['a.b', ['a.b'], ['a', 'b', 'a.b.c', 'ab', 'a..b', '.a.b', 'a.b.']],
  ['*', ['a', 'word', '*', '#'], ['a.b', '.']],
  ['a.*', ['a.b', 'a.*', 'a.'], ['a', 'a.b.c', 'b.a', '.a']],
  ['*.a', ['b.a', '.a'], ['a', 'a.b', 'b.b.a']],
  ['a.*.b', ['a.x.b', 'a..b'], ['a.b', 'a.x.y.b', 'a.x.c']],
  ['*.*', ['a.b', '.', 'a.', '.b'], ['a', '', 'a.b.c']],
  ['*.*.*', ['a.b.c', '..'], ['a.b', 'a.b.c.d', '.']],
  ['*.a.*', ['x.a.y', '.a.'], ['a', 'x.a', 'a.y', 'x.b.y']],
  ['#', ['', 'a', 'a.b', 'a.b.c.d.e', '.', '..', '#', '*'], []],
  ['a.#', ['a', 'a.b', 'a.b.c', 'a.', 'a..'], ['', 'b', 'b.a', 'aa', '.a']],
  ['#.a', ['a', 'b.a', 'c.b.a', '.a', '..a'], ['', 'b', 'a.b', 'aa']],
  ['a.#.b', ['a.b', 'a.x.b', 'a.x.y.b', 'a..b', 'a.b.b'], ['a', 'b', 'a.b.c', 'x.a.b']],
  ['#.a.#', ['a', 'a.b', 'b.a', 'x.a.y', 'x.y.a.z.z', 'a.a'], ['', 'b', 'b.c', 'aa.b']],
  ['#.#', ['', 'a', 'a.b', 'a.b.c'], []],
  ['#.*', ['a', 'a.b', 'a.b.c', '.'], []],
  ['*.#', ['a', 'a.b', 'a.b.c', '.'], []],
  ['#.*.#', ['a', 'a.b'], []],
  ['*.#.*', ['a.b', 'a.b.c', 'a.b.c.d'], ['a', '']],
  ['#.a.*.b', ['a.x.b', 'q.a.x.b', 'a.a.x.b'], ['a.b', 'a.x.y.b', 'a.x.b.c']],
  ['a.#.*.c', ['a.b.c', 'a.b.b.c', 'a.c.c'], ['a.c', 'a', 'a.b.c.d']],
  ['#.a.#.a.#', ['a.a', 'a.b.a', 'x.a.y.a.z', 'a.a.a'], ['a', 'a.b', 'x.a.y']],
  ['a.*.#.b', ['a.x.b', 'a.x.y.b', 'a.b.b'], ['a.b', 'a.x']],
  ['a*', ['a*'], ['a', 'ab', 'a.b']],
  ['a#', ['a#'], ['a', 'ab', 'a.b']],
  ['*a.b', ['*a.b'], ['xa.b', 'a.b']],
  ['##', ['##'], ['', 'a', 'a.b']],
  ['**', ['**'], ['a', 'ab', 'a.b']],
  ['', [''], ['a', '.']],
  ['.', ['.'], ['', 'a', 'a.b', '..']],
  ['a.', ['a.'], ['a', 'a.b', 'a..']],
  ['.a', ['.a'], ['a', 'b.a']],
  ['a..b', ['a..b'], ['a.b', 'a.x.b']],
  ['#.', ['.', 'a.', 'a.b.'], ['a', 'a.b']],
  ['é.*', ['é.ü', 'é.'], ['e.u', 'é']],
];

const byPattern = patterns.map(([pattern, matching, others]) =>
  rule(source, `a topic binding '${pattern}' matches ${list(matching)}, not ${list(others)}`, async (client) => {
    const exchange = await client.exchange('topic');
    const queue = await client.bound(exchange, pattern);
    await Promise.all([...matching, ...others].map((key) => client.publish(exchange, key, key)));
    assert.deepEqual(await client.drain(queue), matching);
  }),
);

function list(keys: readonly string[]): string {
  return keys.length === 0 ? 'nothing' : keys.map((key) => `'${key}'`).join(' ');
}

export const topics: readonly Case[] = [
  ...byPattern,
  rule(source, 'a queue with several matching topic bindings gets a message once', async (client) => {
    const exchange = await client.exchange('topic');
    const queue = await client.bound(exchange, 'a.*');
    for (const pattern of ['a.b', '#', '*.b', 'a.#']) await client.bind(queue, exchange, pattern);
    await client.publish(exchange, 'a.b', 'once');
    assert.deepEqual(await client.drain(queue), ['once']);
  }),
  rule(source, 'a topic binding that is gone matches no more, others of the queue stay', async (client) => {
    const exchange = await client.exchange('topic');
    const queue = await client.bound(exchange, 'a.#');
    await client.bind(queue, exchange, '*.b');
    await client.channel.unbindQueue(queue, exchange, 'a.#');
    for (const key of ['a.b', 'a.c', 'x.b']) await client.publish(exchange, key, key);
    assert.deepEqual(await client.drain(queue), ['a.b', 'x.b']);
  }),
  rule(source, 'a message goes to all queues whose topic bindings match', async (client) => {
    const exchange = await client.exchange('topic');
    const patterns = ['stock.*', '#.nyse', 'stock.nyse', '*.nasdaq', '#'];
    const queues = [];
    for (const pattern of patterns) queues.push(await client.bound(exchange, pattern));
    await client.publish(exchange, 'stock.nyse', 'x');
    const counts = [];
    for (const queue of queues) counts.push(await client.count(queue));
    assert.deepEqual(counts, [1, 1, 1, 0, 1]);
  }),
];
