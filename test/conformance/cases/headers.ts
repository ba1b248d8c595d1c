/** Headers exchanges: which headers a binding asks for, and what it takes for equal. */
import assert from 'node:assert/strict';
import { type Case, rule } from '../case.js';
import type { Arguments } from '../client.js';

const source = '§3.1.3.4';
const withX = 'x-match: all-with-x, any-with-x';

interface Row {
  source?: string;
  what: string;
  binding: Arguments;
  matching?: readonly Arguments[];
  others?: readonly Arguments[];
}

const timestamp = (value: number): unknown => ({ '!': 'timestamp', value });
const typed = (type: string, value: number): unknown => ({ '!': type, value });

const rows: readonly Row[] = [
  {
    what: 'all: every header must be there and equal, others may be',
    binding: { 'x-match': 'all', a: 1, b: 'x' },
    matching: [
      { a: 1, b: 'x' },
      { a: 1, b: 'x', c: true },
    ],
    others: [{}, { a: 1 }, { b: 'x' }, { a: 2, b: 'x' }, { a: 1, b: 'y' }, { A: 1, b: 'x' }],
  },
  {
    what: 'any: one equal header is enough',
    binding: { 'x-match': 'any', a: 1, b: 'x' },
    matching: [{ a: 1 }, { b: 'x' }, { a: 1, b: 'y' }, { a: 2, b: 'x', c: 3 }],
    others: [{}, { a: 2 }, { b: 'y' }, { c: 1 }],
  },
  { what: 'without x-match, all is meant', binding: { a: 1, b: 2 }, matching: [{ a: 1, b: 2 }], others: [{ a: 1 }] },
  { what: 'all of none matches everything', binding: { 'x-match': 'all' }, matching: [{}, { a: 1 }] },
  { what: 'a binding without arguments matches everything', binding: {}, matching: [{}, { a: 1 }] },
  { what: 'any of none matches nothing', binding: { 'x-match': 'any' }, others: [{}, { a: 1 }] },
  {
    what: 'all: headers that begin with x- are not looked at',
    binding: { 'x-match': 'all', 'x-a': 1, b: 2 },
    matching: [{ b: 2 }, { 'x-a': 5, b: 2 }],
    others: [{ 'x-a': 1 }],
  },
  {
    what: 'any: headers that begin with x- are not looked at',
    binding: { 'x-match': 'any', 'x-a': 1, b: 2 },
    matching: [{ b: 2 }],
    others: [{ 'x-a': 1 }],
  },
  {
    source: withX,
    what: 'all-with-x looks at headers that begin with x- too',
    binding: { 'x-match': 'all-with-x', 'x-a': 1, b: 2 },
    matching: [{ 'x-a': 1, b: 2 }],
    others: [{ b: 2 }, { 'x-a': 1 }, { 'x-a': 5, b: 2 }],
  },
  {
    source: withX,
    what: 'any-with-x looks at headers that begin with x- too',
    binding: { 'x-match': 'any-with-x', 'x-a': 1, b: 2 },
    matching: [{ b: 2 }, { 'x-a': 1 }, { 'x-a': 1, b: 5 }],
    others: [{}, { 'x-a': 5 }],
  },
  {
    what: 'a void in the binding asks only that the header is there',
    binding: { 'x-match': 'all', a: null },
    matching: [{ a: 1 }, { a: 'x' }, { a: null }, { a: { b: 1 } }],
    others: [{}, { b: 1 }],
  },
  {
    what: 'integers are equal whatever their width',
    binding: { a: typed('long', 7) },
    matching: [{ a: typed('byte', 7) }, { a: typed('short', 7) }, { a: typed('int', 7) }],
    others: [{ a: 8 }],
  },
  { what: 'a number is not equal to its text', binding: { a: 1 }, others: [{ a: '1' }, { a: true }] },
  {
    what: 'an integer is equal to the floating point number of the same value',
    binding: { a: typed('int', 1) },
    matching: [{ a: typed('double', 1) }],
    others: [{ a: typed('double', 1.5) }],
  },
  {
    what: 'a float is equal to the double of the same value',
    binding: { a: typed('float', 0.5) },
    matching: [{ a: typed('double', 0.5) }],
    others: [{ a: 0.25 }],
  },
  {
    what: 'booleans are compared',
    binding: { a: true },
    matching: [{ a: true }],
    others: [{ a: false }, { a: 1 }, { a: 'true' }],
  },
  {
    what: 'texts are compared as they are',
    binding: { a: 'x' },
    matching: [{ a: 'x' }],
    others: [{ a: 'X' }, { a: 'x ' }, { a: '' }],
  },
  {
    what: 'timestamps are compared, with integers too',
    binding: { a: timestamp(5) },
    matching: [{ a: timestamp(5) }, { a: 5 }],
    others: [{ a: timestamp(6) }, { a: '5' }],
  },
  {
    what: 'tables are compared',
    binding: { a: { b: 1 } },
    matching: [{ a: { b: 1 } }],
    others: [{ a: { b: 2 } }, { a: {} }, { a: { b: 1, c: 2 } }],
  },
  {
    what: 'arrays are compared',
    binding: { a: ['x', 'y'] },
    matching: [{ a: ['x', 'y'] }],
    others: [{ a: ['y', 'x'] }, { a: ['x'] }],
  },
  { what: 'an empty text is a value', binding: { a: '' }, matching: [{ a: '' }], others: [{}, { a: null }] },
];

const matches = rows.map(({ source: from = source, what, binding, matching = [], others = [] }) =>
  rule(from, `headers exchange: ${what}`, async (client) => {
    const exchange = await client.exchange('headers');
    const queue = await client.bound(exchange, '', binding);
    const all = [...matching, ...others];
    await Promise.all(all.map((headers) => client.publish(exchange, '', JSON.stringify(headers), { headers })));
    assert.deepEqual(
      await client.drain(queue),
      matching.map((headers) => JSON.stringify(headers)),
    );
  }),
);

const refusals = ['some', 'ALL', '', 1, true].map((value) =>
  rule(source, `a headers binding with x-match ${JSON.stringify(value)} is refused with 406`, async (client) => {
    const exchange = await client.exchange('headers');
    const queue = await client.queue();
    const outcome = await client.outcome((channel) => channel.bindQueue(queue, exchange, '', { 'x-match': value }));
    assert.match(outcome, /^406 PRECONDITION_FAILED - /);
  }),
);

export const headers: readonly Case[] = [
  ...matches,
  ...refusals,
  rule(source, 'headers exchange: the routing key means nothing', async (client) => {
    const exchange = await client.exchange('headers');
    const queue = await client.bound(exchange, 'key', { a: 1 });
    await client.publish(exchange, 'other', 'x', { headers: { a: 1 } });
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  rule(source, 'headers exchange: bindings that differ in their arguments are two', async (client) => {
    const exchange = await client.exchange('headers');
    const queue = await client.bound(exchange, '', { a: 1 });
    await client.bind(queue, exchange, '', { a: 2 });
    await client.channel.unbindQueue(queue, exchange, '', { a: 1 });
    for (const a of [1, 2]) await client.publish(exchange, '', `${a}`, { headers: { a } });
    assert.deepEqual(await client.drain(queue), ['2']);
  }),
  rule(source, 'headers exchange: a message without headers matches bindings that ask for none', async (client) => {
    const exchange = await client.exchange('headers');
    const every = await client.bound(exchange, '', {});
    const some = await client.bound(exchange, '', { a: 1 });
    await client.publish(exchange, '', 'x');
    assert.deepEqual([await client.drain(every), await client.drain(some)], [['x'], []]);
  }),
];
