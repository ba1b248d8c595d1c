import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListQuery } from '../../../src/management/lists/list-query.js';
import { list, type ListSource } from '../../../src/management/lists/list.js';
import { Pace } from '../../../src/management/pace.js';
import { Streamed } from '../../../src/management/resource.js';
import { compareTexts } from '../../../src/management/sorted.js';

interface Thing {
  readonly name: string;
  readonly size: number;
}

function source(things: Iterable<Thing>, more: Partial<ListSource<Thing>> = {}): ListSource<Thing> {
  return {
    items: things,
    compare: (a, b) => compareTexts(a.name, b.name),
    name: ({ name }) => name,
    describe: ({ name, size }) => ({ name, size, inner: { 'dotted.name': size, other: 1 } }),
    ...more,
  };
}

let turns = 0;
async function ask(query: string, from: ListSource<Thing>): Promise<unknown> {
  turns = 0;
  const pace = new Pace((run) => {
    turns++;
    setImmediate(run);
  });
  const found = await list({ query: new URLSearchParams(query), pace }, from);
  if (!(found instanceof Streamed)) return found;
  let text = '';
  for await (const part of found.parts) text += part;
  return JSON.parse(text);
}

const things: Thing[] = [
  { name: 'b', size: 2 },
  { name: 'a', size: 3 },
  { name: 'C', size: 1 },
];

test('a list has an order of its own, and others by column, also of what is within', async () => {
  const names = async (query: string): Promise<string> =>
    ((await ask(`columns=name&${query}`, source(things))) as Thing[]).map(({ name }) => name).join('');
  assert.equal(await names(''), 'Cab');
  assert.equal(await names('sort_reverse=true'), 'baC');
  assert.equal(await names('sort=size'), 'Cba');
  assert.equal(await names('sort=size&sort_reverse=true'), 'abC');
  assert.equal(await names('sort=inner.dotted.name'), 'Cba');
  assert.equal(await names('sort=__proto__'), 'Cab');
});

test('columns choose fields, within others too', () => {
  const object = { a: 1, b: { 'c.d': 2, e: { f: 3 } }, ['__proto__']: 4 };
  const select = (columns: string): string =>
    JSON.stringify(new ListQuery(new URLSearchParams({ columns }), false).select(object));
  assert.equal(select('a'), '{"a":1}');
  assert.equal(select('b.c.d,b.e,a,nothing'), '{"b":{"c.d":2,"e":{"f":3}},"a":1}');
  assert.equal(select('b.nothing'), '{"b":{}}');
  assert.equal(select('toString'), '{}');
});

test('only whom the answer is about is asked, and sorting by what is asked for asks all', async () => {
  const asked: string[] = [];
  const from = (): ListSource<Thing> =>
    source(things, {
      asked: {
        fields: ['count'],
        ask: async ({ name, size }, described) => {
          asked.push(name);
          described['count'] = -size;
        },
      },
    });
  const page = (await ask('page=2&page_size=1', from())) as { items: object[] };
  assert.deepEqual(page.items, [{ name: 'a', size: 3, inner: { 'dotted.name': 3, other: 1 }, count: -3 }]);
  assert.deepEqual(asked.splice(0), ['a']);
  await ask('columns=name,size', from());
  assert.deepEqual(asked, []);
  const sorted = (await ask('sort=count&page=1&page_size=1', from())) as { items: Thing[] };
  assert.equal(sorted.items[0]!.name, 'a');
  assert.deepEqual(asked.toSorted(compareTexts), ['C', 'a', 'a', 'b'].toSorted(compareTexts));
});

test('what cannot be asked for fails the answer, and nothing else', async () => {
  const ask1 = async (): Promise<void> => Promise.reject(new Error('nobody knows'));
  const many = Array.from({ length: 2000 }, (_, i): Thing => ({ name: `${i}`, size: i }));
  const from = source(many, { asked: { fields: ['count'], ask: ask1 } });
  await assert.rejects(ask('page=1', from), /nobody knows/);
  await assert.rejects(ask('sort=count', from), /nobody knows/);
  await assert.rejects(ask('', from), /nobody knows/);
});

test('an empty list has a first page, and no others', async () => {
  const empty = { filtered_count: 0, item_count: 0, items: [], page: 1, page_count: 0, page_size: 100, total_count: 0 };
  assert.deepEqual(await ask('page=1', source([])), empty);
  assert.deepEqual(await ask('', source([])), []);
  await assert.rejects(ask('page=2', source([])), /Page out of range/);
});

test('a long list leaves the event loop to others, by whatever it is asked for', async () => {
  const many = Array.from({ length: 50_000 }, (_, i): Thing => ({ name: `thing ${(i * 7919) % 50_021}`, size: i % 7 }));
  for (const query of ['', 'page=400', 'sort=size&page=1', 'page=1&name=9&use_regex=true']) {
    const found = await ask(query, source(many));
    assert.ok(
      Array.isArray(found) ? found.length === many.length : (found as { item_count: number }).item_count === 100,
    );
    assert.ok(turns >= 2, `${query}: ${turns} turns`);
  }
});

test('what comes and goes meanwhile does no harm', async () => {
  const names = new Map(Array.from({ length: 5000 }, (_, i) => [`${i}`, { name: `${i}`, size: i }]));
  const answer = ask('', source(names.values()));
  for (let i = 0; i < 5000; i += 2) names.delete(`${i}`);
  names.set('new', { name: 'new', size: 0 });
  const found = (await answer) as Thing[];
  assert.ok(found.length >= 2500);
  assert.equal(new Set(found.map(({ name }) => name)).size, found.length);
});
