import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { QueueTarget, type Target } from '../../../src/model/exchange/target.js';
import { TopicMatcher, topicWords } from '../../../src/model/exchange/topic.js';
import { bindingObject } from './support.js';

function match(matcher: TopicMatcher, key: string): string[] {
  const names = new Set<string>();
  matcher.match(key, {
    reach: (target: Target) => names.add(target.name),
    headers: () => ({}),
    property: () => '',
    chance: () => 0,
  });
  return [...names].sort();
}

function matcherOf(patterns: readonly string[]): TopicMatcher {
  const matcher = new TopicMatcher();
  for (const pattern of patterns) matcher.add(bindingObject('t', pattern, pattern), new QueueTarget(pattern));
  return matcher;
}

const table: [pattern: string, matches: string[], others: string[]][] = [
  ['', [''], ['a', '.']],
  ['a', ['a'], ['', 'b', 'a.a', 'A']],
  ['a.b', ['a.b'], ['a', 'a.b.c', 'a.', 'b.a']],
  ['*', ['a', '*', '#'], ['', 'a.b', '.']],
  ['*.*', ['a.b', '.', 'a.'], ['a', 'a.b.c']],
  ['a.*.c', ['a.b.c', 'a..c'], ['a.c', 'a.b.b.c']],
  ['#', ['', 'a', 'a.b.c', '.', '..'], []],
  ['a.#', ['a', 'a.b', 'a.b.c'], ['', 'b', 'ab']],
  ['#.c', ['c', 'a.c', 'a.b.c'], ['', 'c.a', 'ac']],
  ['a.#.c', ['a.c', 'a.b.c', 'a.b.b.c'], ['a', 'c', 'a.c.b']],
  ['*.#', ['a', 'a.b', '.'], ['']],
  ['#.*', ['a', 'a.b'], ['']],
  ['#.#', ['', 'a', 'a.b'], []],
  ['#.a.#', ['a', 'b.a', 'a.b', 'b.a.b'], ['', 'b', 'b.b']],
  ['*.#.*', ['a.b', 'a.b.c'], ['', 'a']],
  ['a*', ['a*'], ['a', 'ab']],
];

for (const [pattern, matches, others] of table) {
  test(`topic pattern '${pattern}'`, () => {
    const matcher = matcherOf([pattern]);
    for (const key of matches) assert.deepEqual(match(matcher, key), [pattern], `matches '${key}'`);
    for (const key of others) assert.deepEqual(match(matcher, key), [], `does not match '${key}'`);
  });
}

/** The definition, tried out word by word. */
function matchesByDefinition(pattern: readonly string[], key: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return key.length === 0;
  if (first === '#')
    return key.some((_, i) => matchesByDefinition(rest, key.slice(i))) || matchesByDefinition(rest, []);
  return key.length > 0 && (first === '*' || first === key[0]) && matchesByDefinition(rest, key.slice(1));
}

const words = (alphabet: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...alphabet), { maxLength: 5 }).map((list) => list.join('.'));

test('the trie matches what the definition matches, while bindings come and go', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(words(['a', 'b', '', '*', '#']), fc.nat(40)), { minLength: 5, maxLength: 40 }),
      fc.array(words(['a', 'b', '']), { minLength: 1, maxLength: 10 }),
      (changes, keys) => {
        const matcher = new TopicMatcher();
        const live = new Map<string, QueueTarget>();
        for (const change of changes) {
          if (typeof change === 'number') {
            // A number removes the pattern at that place among the live ones.
            const pattern = [...live.keys()][change % (live.size || 1)];
            if (pattern === undefined) continue;
            matcher.remove(bindingObject('t', pattern, pattern), live.get(pattern)!);
            live.delete(pattern);
          } else if (!live.has(change)) {
            const target = new QueueTarget(change);
            live.set(change, target);
            matcher.add(bindingObject('t', change, change), target);
          }
        }
        for (const key of keys) {
          const expected = [...live.keys()].filter((p) => matchesByDefinition(topicWords(p), topicWords(key)));
          assert.deepEqual(match(matcher, key), expected.sort());
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a removed binding leaves nothing behind', () => {
  const matcher = matcherOf([]);
  const empty = JSON.stringify(matcher);
  const target = new QueueTarget('q');
  for (const pattern of ['a.b.c', 'a.*.#', '#.x', '']) {
    matcher.add(bindingObject('t', 'q', pattern), target);
    matcher.remove(bindingObject('t', 'q', pattern), target);
  }
  assert.equal(JSON.stringify(matcher), empty);
});

test('patterns full of # cost no more than words x nodes', () => {
  const pattern = `${'#.a.'.repeat(40)}#.b`;
  const matcher = matcherOf([pattern]);
  const started = process.hrtime.bigint();
  assert.deepEqual(match(matcher, 'a.'.repeat(120)), []);
  assert.ok(process.hrtime.bigint() - started < 1_000_000_000n);
});
