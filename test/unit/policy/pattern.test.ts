import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PatternError } from '../../../src/model/policy/pattern-parser.js';
import { Pattern } from '../../../src/model/policy/pattern.js';

/** Pieces of patterns that mean the same to JavaScript. */
const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '[a-c]',
  '\\d',
  '\\w',
  '\\.',
  '^',
  '$',
  '\\b',
  '\\B',
  '-',
  'é',
);
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '{0,}', '*?', '+?');
const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(atom, quantifier).map(([one, times]) => (/[\^$]|\\[bB]/.test(one) && one.length < 3 ? one : one + times)),
    fc.tuple(tie('pattern'), quantifier).map(([inner, times]) => `(${inner})${times}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
  ) as fc.Arbitrary<string>,
  pattern: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
}));

test('patterns match what regular expressions of JavaScript match', () => {
  const names = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '.', '-', 'é', ' '), maxLength: 8 });
  fc.assert(
    fc.property(pattern, names, (text, name) => {
      assert.equal(new Pattern(text).matches(name), new RegExp(text, 'u').test(name), `/${text}/ on '${name}'`);
    }),
    { numRuns: 3000 },
  );
});

test('a pattern is found anywhere unless it is anchored', () => {
  const cases: [pattern: string, name: string, matches: boolean][] = [
    ['', '', true],
    ['', 'anything', true],
    ['.*', 'anything', true],
    ['orders', 'my.orders.eu', true],
    ['^orders', 'my.orders', false],
    ['^orders\\.', 'orders.eu', true],
    ['^orders$', 'orders', true],
    ['\\Aorders\\z', 'orders2', false],
    ['^(eu|us)-\\d{2,3}$', 'eu-123', true],
    ['^(eu|us)-\\d{2,3}$', 'eu-1', false],
    ['^[]a]+$', ']a', true],
    ['^[a-]+$', 'a-', true],
    ['^\\x41$', 'A', true],
    ['^a{,2}$', 'a{,2}', true],
    ['^\u{1f600}.$', '\u{1f600}\u{1f601}', true],
    ['^amq\\.gen-', 'amq.gen-123', true],
  ];
  for (const [text, name, matches] of cases)
    assert.equal(new Pattern(text).matches(name), matches, `${text} on ${name}`);
});

test('what cannot be matched in bounded time, or is no pattern, is refused with the reason', () => {
  const cases: [pattern: string, reason: RegExp][] = [
    ['(', /a '\(' without its '\)'/],
    [')', /a '\)' without its '\('/],
    ['[a', /a '\[' without its '\]'/],
    ['*a', /nothing before '\*', at character 1/],
    ['a**', /a quantifier after a quantifier/],
    ['a++', /possessive/],
    ['(?=a)', /no lookaround/],
    ['(a)\\1', /'\\1' is not supported/],
    ['\\', /nothing after the backslash/],
    ['[b-a]', /a range that is none/],
    ['a{3,2}', /least is more than its most/],
    ['a{5000}', /more than 1000/],
    ['(a{100}){100}', /too large: more than 2000 steps/],
    ['('.repeat(60) + ')'.repeat(60), /more than 50 groups within each other/],
    ['a'.repeat(2000), /longer than 1024 characters/],
  ];
  for (const [text, reason] of cases)
    assert.throws(
      () => new Pattern(text),
      (error) => error instanceof PatternError && reason.test(error.message),
      text,
    );
});

test('patterns that ruin other matchers take a bounded number of steps', () => {
  const name = `${'a'.repeat(254)}!`;
  for (const text of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', `^${'a?'.repeat(200)}${'a'.repeat(200)}$`, '(.*a){20}x']) {
    const before = performance.now();
    assert.equal(new Pattern(text).matches(name), false);
    assert.ok(performance.now() - before < 1000, text);
  }
});
